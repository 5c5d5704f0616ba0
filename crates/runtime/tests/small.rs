//! One of everything, small enough for Miri (`ci/miri.sh`), which finds what
//! no other test can: races on plain memory, and references to what is gone.

use manycore::{Block, Partitioner, Pool};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const PARTITIONERS: [Partitioner; 9] = [
    Partitioner::Static,
    Partitioner::FixedBlock(Block::Size(std::num::NonZeroUsize::MIN)),
    Partitioner::FixedBlock(Block::Auto),
    Partitioner::Guided,
    Partitioner::Factoring,
    Partitioner::Sharded(Block::Size(std::num::NonZeroUsize::MIN)),
    Partitioner::Sharded(Block::Auto),
    Partitioner::Adaptive,
    // Again: it has seen the loop before.
    Partitioner::Adaptive,
];

fn pool(threads: usize) -> Pool {
    Pool::builder()
        .threads(threads)
        .build()
        .expect("threads can be made")
}

/// Every index is written once, unsynchronised, by whoever runs it.
fn fill(pool: &Pool, partitioner: Partitioner, n: usize) {
    let mut items = vec![0; n];
    pool.with(partitioner)
        .for_each_mut(&mut items, |item| *item += 1);
    assert_eq!(items, vec![1; n]);
}

#[test]
fn every_partitioner() {
    let pool = pool(3);
    for partitioner in PARTITIONERS {
        fill(&pool, partitioner, 7);
    }
}

#[test]
fn loops_in_loops() {
    let pool = pool(3);
    for partitioner in [Partitioner::Static, Partitioner::Adaptive] {
        let mut rows = vec![vec![0; 3]; 4];
        pool.with(partitioner).for_each_mut(&mut rows, |row| {
            pool.with(partitioner).for_each_mut(row, |item| *item += 1);
        });
        assert_eq!(rows, vec![vec![1; 3]; 4]);
    }
}

#[test]
fn loops_from_two_threads() {
    let pool = pool(3);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..3 {
                    fill(&pool, Partitioner::Static, 3);
                    fill(&pool, Partitioner::Sharded(Block::size(1)), 5);
                }
            });
        }
    });
}

#[test]
fn a_panic_in_a_body() {
    let pool = pool(2);
    for partitioner in PARTITIONERS {
        let caught = catch_unwind(AssertUnwindSafe(|| {
            pool.with(partitioner).parallel_for(0..4, |i| {
                if i == 2 {
                    resume_unwind(Box::new("of the body"));
                }
            });
        }));
        let payload = caught.expect_err("the caller gets the panic");
        assert_eq!(payload.downcast_ref(), Some(&"of the body"));
        fill(&pool, partitioner, 4);
    }
}

#[test]
fn reductions_scans_and_chunks() {
    let pool = pool(2);
    let text = pool.map_reduce(0..9, String::new, |i| i.to_string(), |a, b| a + &b);
    assert_eq!(text, "012345678");
    let mut items = [1; 9];
    pool.inclusive_scan(&mut items, |a, b| a + b);
    assert_eq!(items, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    pool.chunks_mut(&mut items, 4, |chunk, items| items.fill(chunk));
    assert_eq!(items, [0, 0, 0, 0, 1, 1, 1, 1, 2]);
}

#[test]
fn pools_that_end_at_once_or_asleep() {
    drop(pool(3));
    let idle = pool(3);
    thread::sleep(std::time::Duration::from_millis(1));
    let calls = AtomicUsize::new(0);
    idle.with(Partitioner::Static).parallel_for(0..3, |_| {
        calls.fetch_add(1, Ordering::Relaxed);
    });
    assert_eq!(calls.into_inner(), 3);
}
