//! One test of each kind, small enough for Miri (`ci/miri.sh`). Miri finds faults that no other test can
//! find: races on plain memory, and references to freed memory.

use manycore::prelude::*;
use manycore::{Partitioner, Pool, seam};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering, Ordering::Relaxed};
use std::thread;

fn partitioners() -> [Partitioner; 4] {
    [
        Partitioner::fixed_block(1),
        seam::sharded(1),
        Partitioner::default(),
        // Again: the default partitioner has now seen the loop.
        Partitioner::default(),
    ]
}

fn pool(threads: usize) -> Pool {
    Pool::builder()
        .threads(threads)
        .build()
        .expect("threads can be made")
}

/// Every index is written once, without synchronisation.
fn fill(pool: &Pool, partitioner: Partitioner, n: usize) {
    let mut items = vec![0; n];
    pool.with(partitioner)
        .for_each_mut(&mut items, |item| *item += 1);
    assert_eq!(items, vec![1; n]);
}

#[test]
fn every_partitioner() {
    let pool = pool(3);
    for partitioner in partitioners() {
        fill(&pool, partitioner, 7);
    }
}

#[test]
fn loops_in_loops() {
    let pool = pool(3);
    for partitioner in [Partitioner::fixed_block(1), Partitioner::default()] {
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
                    fill(&pool, Partitioner::fixed_block(1), 3);
                    fill(&pool, seam::sharded(1), 5);
                }
            });
        }
    });
}

#[test]
fn a_panic_in_a_body() {
    let pool = pool(2);
    for partitioner in partitioners() {
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
    idle.with(Partitioner::fixed_block(1))
        .parallel_for(0..3, |_| {
            calls.fetch_add(1, Ordering::Relaxed);
        });
    assert_eq!(calls.into_inner(), 3);
}

/// Adds 1 to each item, without synchronisation. Halves the items until one is left.
fn tree(pool: &Pool, items: &mut [u32]) {
    if let [item] = items {
        *item += 1;
        return;
    }
    let (left, right) = items.split_at_mut(items.len() / 2);
    pool.join(|| tree(pool, left), || tree(pool, right));
}

#[test]
fn joins() {
    let pool = pool(2);
    let mut items = vec![0; 5];
    tree(&pool, &mut items);
    pool.install(|| tree(&pool, &mut items));
    assert_eq!(items, vec![2; 5]);
    // The first closure panics. Meanwhile a thief may or may not run the second closure.
    let mut written = vec![0; 2];
    let caught = catch_unwind(AssertUnwindSafe(|| {
        pool.join(
            || {
                thread::yield_now();
                resume_unwind(Box::new("of the first"))
            },
            || tree(&pool, &mut written),
        )
    }));
    assert_eq!(caught.unwrap_err().downcast_ref(), Some(&"of the first"));
    assert_eq!(
        written, [1; 2],
        "the second closure runs whatever the first does"
    );
}

/// The second closure is stolen, and the first waits for it.
#[test]
fn a_stolen_closure() {
    let pool = pool(2);
    for _ in 0..3 {
        let (sender, receiver) = std::sync::mpsc::channel();
        let mut written = 0;
        pool.join(
            move || receiver.recv().unwrap(),
            || {
                sender.send(()).unwrap();
                written = 7;
            },
        );
        assert_eq!(written, 7);
    }
}

#[test]
fn scopes() {
    let pool = pool(3);
    let mut items = vec![0; 9];
    pool.scope(|scope| {
        for item in &mut items {
            scope.spawn(move |scope| {
                *item += 1;
                scope.spawn(move |_| *item += 1);
            });
        }
    });
    pool.in_place_scope_fifo(|scope| {
        for item in &mut items {
            scope.spawn_fifo(move |_| *item += 1);
        }
    });
    assert_eq!(items, vec![3; 9]);
}

#[test]
fn detached_jobs_and_broadcasts() {
    let pool = pool(2);
    let (sender, receiver) = std::sync::mpsc::channel();
    for fifo in [false, true] {
        let sender = sender.clone();
        match fifo {
            false => pool.spawn(move || sender.send(0).unwrap()),
            true => pool.spawn_fifo(move || sender.send(0).unwrap()),
        }
    }
    pool.spawn_broadcast(move |context| sender.send(context.index()).unwrap());
    assert_eq!(pool.broadcast(|context| context.index()), [0, 1]);
    drop(pool);
    assert_eq!(receiver.iter().count(), 4);
}

#[test]
fn calls_from_two_threads_and_between_pools() {
    let (a, b) = (pool(2), pool(1));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut items = vec![0; 2];
                a.install(|| b.install(|| tree(&a, &mut items)));
                assert_eq!(items, [1; 2]);
            });
        }
    });
}

/// A caller that finds another caller in the pool borrows a sleeping worker's permit. A call back runs on the
/// waiting thread.
#[test]
fn visits_and_calls_back() {
    let pool = pool(3);
    thread::sleep(std::time::Duration::from_millis(5));
    let called = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for n in 1..4 {
                    let (left, right) = pool.join(|| n, || n);
                    called.fetch_add(left + right, Ordering::Relaxed);
                    fill(&pool, Partitioner::default(), 3);
                }
            });
        }
    });
    assert_eq!(called.into_inner(), 36);
    let dedicated = || Pool::builder().threads(1).dedicated(true).build().unwrap();
    let (a, b) = (dedicated(), dedicated());
    let inner = || a.install(|| b.install(|| a.install(|| resume_unwind(Box::new(5_u8)))));
    let payload = catch_unwind(AssertUnwindSafe(|| a.install(|| b.install(inner)))).unwrap_err();
    assert_eq!(*payload.downcast::<u8>().unwrap(), 5);
}

/// Items are moved out of a vector, written to slots, and left after a panic.
#[test]
fn parallel_iterators() {
    let pool = pool(2);
    pool.install(|| {
        let words: Vec<String> = (0..40).map(|i| i.to_string()).collect();
        let longer: Vec<String> = words.into_par_iter().map(|word| word + "!").collect();
        assert_eq!(longer[39], "39!");
        let kept: Vec<&String> = longer.par_iter().filter(|word| word.len() == 2).collect();
        assert_eq!(kept.len(), 10);
        let mut lengths = vec![0; 40];
        lengths
            .par_iter_mut()
            .zip(&longer)
            .for_each(|(length, word)| *length = word.len());
        lengths.par_chunks_mut(7).for_each(|chunk| chunk.reverse());
        lengths.par_sort();
        assert_eq!(lengths.par_iter().sum::<usize>(), 110);
        let found = longer
            .clone()
            .into_par_iter()
            .zip(0..30)
            .find_any(|(word, _)| word == "7!");
        assert_eq!(found, Some(("7!".to_owned(), 7)));
        let states = longer.par_iter().map_init(String::new, |state, word| {
            state.push_str(word);
            state.len()
        });
        assert!(states.max() >= Some(3));
    });
    // The panic leaks the written items and the items that no thread has reached. Here they are numbers.
    let caught = catch_unwind(AssertUnwindSafe(|| {
        let numbers = pool.install(|| (0..30).collect::<Vec<_>>().into_par_iter());
        let mapped = numbers.map(|i| match i {
            20 => resume_unwind(Box::new(i)),
            i => i + 1,
        });
        pool.install(|| mapped.collect::<Vec<i32>>())
    }));
    assert_eq!(caught.unwrap_err().downcast_ref(), Some(&20));
}

/// rayon also returns one accumulator if there are no items.
#[test]
fn a_fold_of_nothing_is_one_identity() {
    let sum = |left: u32, right: u32| left + right;
    let nothing = || Vec::<u32>::new().into_par_iter().fold(|| 7, sum);
    assert_eq!(nothing().collect::<Vec<_>>(), [7]);
    assert_eq!(nothing().reduce_with(sum), Some(7));
    assert_eq!((0..0).into_par_iter().fold(|| 7, sum).sum::<u32>(), 7);
    let filtered = (0..0_u32).into_par_iter().filter(|_| true);
    assert_eq!(filtered.chain(1..2).fold(|| 0, sum).sum::<u32>(), 1);
    assert_eq!(nothing().chain(Vec::new()).count(), 1);
    assert_eq!((0..100).into_par_iter().fold(|| 0, sum).sum::<u32>(), 4950);
}

#[test]
fn a_state_that_a_panic_left_is_given_to_no_block() {
    let pool = Pool::builder().threads(3).build().unwrap();
    for bad in 0..60 {
        let broken = AtomicUsize::new(0);
        let caught = catch_unwind(AssertUnwindSafe(|| {
            pool.install(|| {
                let with_state = |state: &mut Vec<usize>, i| {
                    broken.fetch_add(state.len(), Relaxed);
                    state.push(i);
                    assert_ne!(i, bad);
                    state.pop();
                };
                let numbers = (0..60_usize).into_par_iter();
                numbers.map_init(Vec::new, with_state).for_each(|()| ());
            });
        }));
        assert!(caught.is_err());
        assert_eq!(broken.into_inner(), 0);
    }
}

/// A sort that visited the items would take hours.
#[test]
fn items_without_a_size_are_sorted_at_once() {
    let mut items = [(); usize::MAX];
    items.par_sort();
    items.par_sort_unstable_by(|_, _| std::cmp::Ordering::Less);
}
