//! Loops over index ranges: every partitioner, pool size, length and start.

use crate::eventually::eventually;
use crate::partitioners::all;
use crate::pools::pool;
use crate::visits::Visits;
use manycore::{Partitioner, Pool, seam};
use proptest::prelude::*;
use std::collections::HashSet;
use std::hint::black_box;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{LazyLock, Mutex};
use std::thread;
use std::time::{Duration, Instant};

const THREADS: [usize; 5] = [1, 2, 3, 4, 9];
const LENGTHS: [usize; 10] = [0, 1, 2, 3, 7, 63, 64, 65, 1_000, 4_097];

/// Returns the block size that a `fixed-block` partitioner must not exceed.
fn limit(partitioner: Partitioner) -> usize {
    let size = |name: String| name.strip_prefix("fixed-block=")?.parse().ok();
    size(partitioner.to_string()).unwrap_or(usize::MAX)
}

/// Runs both forms of the loop over `range`. Each form runs each index once.
fn check(pool: &Pool, partitioner: Partitioner, range: Range<usize>) {
    let what = format!("{partitioner}, {} threads, {range:?}", pool.threads());
    let loops = pool.with(partitioner);
    let visits = Visits::new(&range);
    loops.parallel_for(range.clone(), |i| visits.visit(i));
    visits.assert_each(1, &what);
    loops.parallel_for_blocks(range, |block| {
        assert!(!block.is_empty(), "{what}: empty block {block:?}");
        assert!(block.len() <= limit(partitioner), "{what}: block {block:?}");
        block.for_each(|i| visits.visit(i));
    });
    visits.assert_each(2, &what);
}

fn check_all(ranges: impl Fn(usize) -> Range<usize>) {
    for threads in THREADS {
        let pool = pool(threads);
        for partitioner in all() {
            for n in LENGTHS {
                check(&pool, partitioner, ranges(n));
            }
        }
    }
}

#[test]
fn each_index_runs_once() {
    check_all(|n| 0..n);
}

/// The same, with enough work for other threads to help, and a check that they did.
#[test]
fn each_index_runs_once_on_several_threads() {
    for threads in [2, 3, 4] {
        let pool = pool(threads);
        for partitioner in all() {
            let one_block = partitioner == Partitioner::fixed_block(usize::MAX);
            let what = format!("{partitioner}: a worker takes part");
            eventually(&what, || {
                let visits = Visits::new(&(0..200));
                let ran = Mutex::new(HashSet::new());
                pool.with(partitioner).parallel_for(0..200, |i| {
                    ran.lock().unwrap().insert(thread::current().id());
                    visits.visit(i);
                    let started = Instant::now();
                    while started.elapsed() < Duration::from_micros(2) {
                        black_box(i);
                    }
                });
                visits.assert_each(1, partitioner);
                let ran = ran.into_inner().unwrap().len();
                assert!(ran <= threads, "{ran} threads ran {partitioner}");
                (ran > 1 || one_block).then_some(())
            });
        }
    }
}

#[test]
fn ranges_start_anywhere() {
    check_all(|n| 12_345..12_345 + n);
}

#[test]
fn ranges_end_at_the_largest_index() {
    check_all(|n| usize::MAX - n..usize::MAX);
}

#[test]
#[expect(clippy::reversed_empty_ranges, reason = "the subject")]
fn a_range_that_runs_backwards_is_empty() {
    let pool = pool(2);
    for partitioner in all() {
        pool.with(partitioner)
            .parallel_for(10..3, |i| panic!("{partitioner} ran {i}"));
        pool.with(partitioner)
            .parallel_for_blocks(usize::MAX..0, |block| panic!("{partitioner} ran {block:?}"));
    }
}

/// Runs a loop whose indices are too many to count. Its blocks must tile the range.
fn check_tiling(pool: &Pool, partitioner: Partitioner, range: Range<usize>) {
    let what = format!("{partitioner}, {} threads, {range:?}", pool.threads());
    let blocks = Mutex::new(Vec::new());
    pool.with(partitioner)
        .parallel_for_blocks(range.clone(), |block| blocks.lock().unwrap().push(block));
    let mut blocks = blocks.into_inner().unwrap();
    blocks.sort_unstable_by_key(|block| block.start);
    let mut next = range.start;
    for block in &blocks {
        assert!(block.start < block.end, "{what}: {block:?}");
        assert!(block.len() <= limit(partitioner), "{what}: block {block:?}");
        assert_eq!(block.start, next, "{what}: gap or overlap at {block:?}");
        next = block.end;
    }
    assert_eq!(next, range.end, "{what}: the end is missing");
}

/// Lengths around powers of two, at which a counter or a packed word of 31 to 64 bits could fail.
#[cfg(target_pointer_width = "64")]
const LONG: [usize; 12] = [
    (1 << 31) - 1,
    1 << 31,
    (1 << 31) + 1,
    (1 << 32) - 2,
    (1 << 32) - 1,
    1 << 32,
    (1 << 32) + 12_345,
    (1 << 40) + 3,
    (1 << 62) + 1,
    1 << 63,
    usize::MAX - 1,
    usize::MAX,
];

/// All partitioners that make few blocks of `n` iterations.
#[cfg(target_pointer_width = "64")]
fn coarse(n: usize) -> [Partitioner; 5] {
    [
        Partitioner::default(),
        Partitioner::fixed_block(n / 10),
        Partitioner::fixed_block(usize::MAX),
        seam::sharded(n / 10),
        seam::sharded(usize::MAX),
    ]
}

#[test]
#[cfg(target_pointer_width = "64")]
fn loops_longer_than_32_bits() {
    for threads in THREADS {
        let pool = pool(threads);
        for n in LONG {
            for start in [0, usize::MAX - n] {
                for partitioner in coarse(n) {
                    check_tiling(&pool, partitioner, start..start + n);
                }
            }
        }
    }
}

/// The same in the body of another loop, while every worker is busy.
#[test]
#[cfg(target_pointer_width = "64")]
fn nested_loops_longer_than_32_bits() {
    for threads in [2, 3] {
        let pool = pool(threads);
        for n in LONG {
            for partitioner in coarse(n) {
                pool.with(Partitioner::fixed_block(1))
                    .parallel_for(0..6, |_| {
                        check_tiling(&pool, partitioner, 0..n);
                    });
            }
        }
    }
}

/// Blocks keep their size limit even if no slot is left to share a loop: the loops nest deeper than the pool
/// has slots.
#[test]
fn fixed_blocks_keep_their_size_at_any_depth() {
    fn nest(pool: &Pool, depth: usize) {
        let calls = AtomicUsize::new(0);
        let eights = pool.with(Partitioner::fixed_block(8));
        eights.parallel_for_blocks(0..20, |block| {
            assert!(block.len() <= 8, "{block:?} at {depth} from the bottom");
            calls.fetch_add(1, Relaxed);
            if depth > 0 && block.contains(&0) {
                nest(pool, depth - 1);
            }
        });
        assert_eq!(calls.into_inner(), 3);
    }
    for threads in [1, 2, 3] {
        nest(&pool(threads), 100);
    }
}

/// `adaptive` predicts a loop's cost from its last run; here the prediction is always wrong.
#[test]
fn a_loop_that_changes_its_cost_runs_each_index_once() {
    let slow = AtomicBool::new(false);
    for threads in [2, 3] {
        let pool = pool(threads);
        for n in [3, 40, 100, 1_000, 1_023] {
            for round in 0..12 {
                slow.store(round % 3 == 2, Relaxed);
                let visits = Visits::new(&(0..n));
                pool.parallel_for(0..n, |i| {
                    let turns = if slow.load(Relaxed) { 2_000 } else { 1 };
                    for turn in 0..turns {
                        black_box(turn);
                    }
                    visits.visit(i);
                });
                visits.assert_each(1, format!("{threads} threads, {n}, round {round}"));
            }
        }
    }
}

#[test]
fn the_free_function_runs_on_the_global_pool() {
    let visits = Visits::new(&(5..5_000));
    manycore::parallel_for(5..5_000, |i| visits.visit(i));
    visits.assert_each(1, "global");
}

/// The caller may read the body's writes without further synchronisation.
#[test]
fn writes_of_the_body_are_visible_after_the_loop() {
    let pool = pool(3);
    for partitioner in all() {
        let mut items = vec![0_usize; 2_000];
        for round in 1..=20 {
            let cells: Vec<Mutex<&mut usize>> = items.iter_mut().map(Mutex::new).collect();
            pool.with(partitioner).parallel_for(0..2_000, |i| {
                **cells[i]
                    .try_lock()
                    .expect("no other iteration has this index") += i * round;
            });
        }
        let expected = |i| i * (20 * 21 / 2);
        assert!((0..2_000).all(|i| items[i] == expected(i)), "{partitioner}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..<_>::default() })]

    #[test]
    fn any_loop_runs_each_index_once(
        n in prop_oneof![0..70_usize, 0..3_000_usize],
        offset in prop_oneof![Just(0), 0..1_000_usize, any::<usize>()],
        threads in 1..6_usize,
        kind in 0..3,
        block in prop_oneof![1..20_usize, 1..4_000_usize, 1..usize::MAX],
    ) {
        static POOLS: LazyLock<Vec<Pool>> = LazyLock::new(|| (1..6).map(pool).collect());
        let partitioner = match kind {
            0 => Partitioner::default(),
            1 => Partitioner::fixed_block(block),
            _ => seam::sharded(block),
        };
        let start = offset.min(usize::MAX - n);
        check(&POOLS[threads - 1], partitioner, start..start + n);
    }
}
