//! Loops by every partitioner: each index runs once, with any number of threads, in nested loops, and with
//! panics.

use manycore::Pool;
use manycore::elastic::Allotment;
use manycore_programs::partition::{Block, Loops, Partitioner};
use proptest::prelude::*;
use std::collections::HashSet;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{LazyLock, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// By name, so that a new partitioner is tested too.
fn all() -> Vec<Partitioner> {
    let sizes = ["", "=1", "=2", "=7", "=64", "=18446744073709551615"];
    let sized = |name: &'static str| {
        // Partitioners that pick their own blocks refuse a size.
        let named = sizes.map(|size| format!("{name}{size}").parse().ok());
        named.into_iter().flatten()
    };
    Partitioner::NAMES.into_iter().flat_map(sized).collect()
}

fn pool(threads: usize) -> Pool {
    Pool::builder().threads(threads).build().unwrap()
}

/// The given size of `fixed-block`.
fn limit(partitioner: Partitioner) -> usize {
    match partitioner {
        Partitioner::FixedBlock(Block::Size(size)) => size.get(),
        _ => usize::MAX,
    }
}

/// Runs both forms of the loop over `range`. Each index must run once in each.
fn check(pool: &Pool, partitioner: Partitioner, range: Range<usize>) {
    let what = format!("{partitioner}, {} threads, {range:?}", pool.threads());
    let loops = Loops::new(pool, partitioner);
    let visits: Vec<_> = range.clone().map(|_| AtomicUsize::new(0)).collect();
    let visit = |i: usize| _ = visits[i - range.start].fetch_add(1, Relaxed);
    loops.parallel_for(range.clone(), visit);
    loops.parallel_for_blocks(range.clone(), |block| {
        assert!(!block.is_empty(), "{what}: empty block {block:?}");
        assert!(block.len() <= limit(partitioner), "{what}: block {block:?}");
        block.for_each(visit);
    });
    assert!(visits.iter().all(|runs| runs.load(Relaxed) == 2), "{what}");
}

#[test]
fn each_index_runs_once() {
    for threads in [1, 2, 3, 4, 9] {
        let pool = pool(threads);
        for partitioner in all() {
            for n in [0, 1, 2, 3, 7, 63, 64, 65, 1_000, 4_097] {
                check(&pool, partitioner, 0..n);
                check(&pool, partitioner, usize::MAX - n..usize::MAX);
            }
        }
    }
}

/// As above with more work, so that other threads help. Proves that they do.
#[test]
fn each_index_runs_once_on_several_threads() {
    for threads in [2, 3, 4] {
        let pool = pool(threads);
        for partitioner in all() {
            let one_block = limit(partitioner) == usize::MAX
                && matches!(partitioner, Partitioner::FixedBlock(Block::Size(_)));
            let took_part = || {
                let ran = Mutex::new(HashSet::new());
                let visits: Vec<_> = (0..200).map(|_| AtomicUsize::new(0)).collect();
                Loops::new(&pool, partitioner).parallel_for(0..200, |i| {
                    ran.lock().unwrap().insert(thread::current().id());
                    visits[i].fetch_add(1, Relaxed);
                    let started = Instant::now();
                    while started.elapsed() < Duration::from_micros(2) {
                        std::hint::spin_loop();
                    }
                });
                assert!(visits.iter().all(|runs| runs.load(Relaxed) == 1));
                ran.into_inner().unwrap().len()
            };
            let several = (0..100_000).any(|_| one_block || took_part() > 1);
            assert!(several, "{partitioner}: no worker took part");
        }
    }
}

/// Runs a loop too long to count its indices. Its blocks must tile it.
#[cfg(target_pointer_width = "64")]
fn check_tiling(pool: &Pool, partitioner: Partitioner, range: Range<usize>) {
    let what = format!("{partitioner}, {} threads, {range:?}", pool.threads());
    let blocks = Mutex::new(Vec::new());
    let push = |block| blocks.lock().unwrap().push(block);
    Loops::new(pool, partitioner).parallel_for_blocks(range.clone(), push);
    let mut blocks: Vec<Range<usize>> = blocks.into_inner().unwrap();
    blocks.sort_unstable_by_key(|block| block.start);
    let mut next = range.start;
    for block in &blocks {
        assert!(block.start < block.end, "{what}: {block:?}");
        assert_eq!(block.start, next, "{what}: gap or overlap at {block:?}");
        next = block.end;
    }
    assert_eq!(next, range.end, "{what}: the end is missing");
}

/// Lengths around powers of two where a counter or a packed word could break. Only partitioners that make
/// few blocks of them. Also runs in the body of another loop, where every worker is busy.
#[test]
#[cfg(target_pointer_width = "64")]
fn loops_longer_than_32_bits() {
    let coarse = ["static", "guided", "factoring", "fixed-block", "sharded"];
    for threads in [1, 2, 3] {
        let pool = pool(threads);
        for n in [(1 << 31) - 1, (1 << 32) + 12_345, 1 << 63, usize::MAX] {
            for partitioner in coarse.map(|name| name.parse().unwrap()) {
                check_tiling(&pool, partitioner, 0..n);
                check_tiling(&pool, partitioner, usize::MAX - n..usize::MAX);
                Loops::new(&pool, Partitioner::Static).parallel_for(0..6, |_| {
                    check_tiling(&pool, partitioner, 0..n);
                });
            }
        }
    }
}

#[test]
fn every_partitioner_in_every_other() {
    let pool = pool(3);
    for outer in all() {
        for inner in all() {
            let runs = AtomicUsize::new(0);
            Loops::new(&pool, outer).parallel_for(0..9, |_| {
                let add = |_| _ = runs.fetch_add(1, Relaxed);
                Loops::new(&pool, inner).parallel_for(0..40, add);
            });
            assert_eq!(runs.into_inner(), 360, "{inner} in {outer}");
        }
    }
}

/// More nested loops than the pool can post.
#[test]
fn a_hundred_deep() {
    fn nest(pool: &Pool, partitioner: Partitioner, depth: usize, runs: &AtomicUsize) {
        let n = if depth.is_multiple_of(30) { 3 } else { 1 };
        Loops::new(pool, partitioner).parallel_for(0..n, |_| match depth {
            0 => _ = runs.fetch_add(1, Relaxed),
            _ => nest(pool, partitioner, depth - 1, runs),
        });
    }
    let pool = pool(3);
    for partitioner in all() {
        let runs = AtomicUsize::new(0);
        nest(&pool, partitioner, 99, &runs);
        assert_eq!(runs.into_inner(), 81, "{partitioner}");
    }
}

/// The caller gets the panic when all threads have left. No index runs twice, and the pool stays usable.
#[test]
fn the_caller_gets_the_payload() {
    for threads in [1, 2, 4] {
        let pool = pool(threads);
        for partitioner in all() {
            for (n, bad) in [(1, 0), (65, 64), (1_000, 0), (1_000, 500)] {
                let runs: Vec<_> = (0..n).map(|_| AtomicUsize::new(0)).collect();
                let caught = catch_unwind(AssertUnwindSafe(|| {
                    Loops::new(&pool, partitioner).parallel_for(0..n, |i| {
                        runs[i].fetch_add(1, Relaxed);
                        if i == bad {
                            resume_unwind(Box::new(i));
                        }
                    });
                }));
                let what = format!("{partitioner}, {threads} threads, {bad} of {n}");
                assert_eq!(caught.unwrap_err().downcast_ref(), Some(&bad), "{what}");
                assert!(runs.iter().all(|runs| runs.load(Relaxed) <= 1), "{what}");
            }
            check(&pool, partitioner, 0..500);
        }
    }
}

/// A pool whose number of cores changes.
#[test]
fn each_index_runs_once_while_the_allotment_changes() {
    let allotment = Allotment::new(1);
    let pool = Pool::builder().threads(3).follow(&allotment).build();
    let pool = pool.unwrap();
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for cores in (1..=3).cycle().take_while(|_| !over.load(Relaxed)) {
                allotment.set(cores);
                thread::sleep(Duration::from_micros(100));
            }
        });
        for partitioner in all() {
            (0..20).for_each(|_| check(&pool, partitioner, 0..500));
        }
        over.store(true, Relaxed);
    });
}

/// A loop that was empty 300 times gets a block by its old time. Its full run must still be shared.
#[test]
fn a_loop_that_was_empty_is_shared_when_it_is_full() {
    let auto = [
        Partitioner::FixedBlock(Block::Auto),
        Partitioner::Sharded(Block::Auto),
    ];
    for (partitioner, n) in auto
        .into_iter()
        .flat_map(|it| [8, 63, 100].map(|n| (it, n)))
    {
        let pool = pool(2);
        let (ran, hopeless) = (AtomicUsize::new(0), AtomicBool::new(false));
        let threads = Mutex::new(HashSet::new());
        let come = || {
            let mut threads = threads.lock().unwrap();
            threads.insert(thread::current().id());
            threads.len()
        };
        let long = || {
            thread::sleep(Duration::from_millis(5));
            // The first iteration runs alone, as a sample.
            if ran.fetch_add(1, Relaxed) == 0 {
                come();
                return;
            }
            let start = Instant::now();
            while come() < 2 && !hopeless.load(Relaxed) {
                hopeless.fetch_or(start.elapsed() > Duration::from_secs(5), Relaxed);
                thread::sleep(Duration::from_millis(1));
            }
        };
        let full = AtomicBool::new(false);
        for call in 0..=300 {
            full.store(call == 300, Relaxed);
            Loops::new(&pool, partitioner).parallel_for(0..n, |_| {
                if full.load(Relaxed) {
                    long();
                }
            });
        }
        assert_eq!(ran.into_inner(), n);
        let threads = threads.into_inner().unwrap().len();
        assert_eq!(threads, 2, "{partitioner}, n = {n}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..<_>::default() })]

    #[test]
    fn any_loop_runs_each_index_once(
        n in prop_oneof![0..70_usize, 0..3_000_usize],
        offset in prop_oneof![Just(0), 0..1_000_usize, any::<usize>()],
        threads in 1..6_usize,
        kind in 0..Partitioner::NAMES.len() + 2,
        block in prop_oneof![1..20_usize, 1..4_000_usize, 1..usize::MAX],
    ) {
        static POOLS: LazyLock<Vec<Pool>> = LazyLock::new(|| (1..6).map(pool).collect());
        let partitioner = match Partitioner::NAMES.get(kind) {
            Some(name) => name.parse().unwrap(),
            None if kind % 2 == 0 => Partitioner::FixedBlock(Block::size(block)),
            None => Partitioner::Sharded(Block::size(block)),
        };
        let start = offset.min(usize::MAX - n);
        check(&POOLS[threads - 1], partitioner, start..start + n);
    }
}
