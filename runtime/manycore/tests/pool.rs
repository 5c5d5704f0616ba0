//! A pool's life: what the builder refuses, the properties of its threads, and how they end.

#[path = "support/eventually.rs"]
mod eventually;
#[path = "support/partitioners.rs"]
mod partitioners;
#[path = "support/pools.rs"]
mod pools;
#[cfg(target_os = "linux")]
#[path = "support/tasks.rs"]
mod tasks;
#[path = "support/visits.rs"]
mod visits;

use eventually::eventually;
use manycore::{Affinity, BuildError, Partitioner, Pool};
use partitioners::all;
use pools::pool;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};
use visits::Visits;

fn assert_works(pool: &Pool) {
    for partitioner in all() {
        let visits = Visits::new(&(0..300));
        pool.with(partitioner)
            .parallel_for(0..300, |i| visits.visit(i));
        visits.assert_each(1, partitioner);
    }
}

/// Returns the result of `look` on every worker of the pool, in any order.
fn on_workers<R: Send>(pool: &Pool, look: impl Fn() -> R + Sync) -> Vec<R> {
    let caller = thread::current().id();
    let seen = Mutex::new((Vec::new(), Vec::new()));
    eventually("every worker takes part", || {
        pool.with(Partitioner::fixed_block(1))
            .parallel_for(0..8 * pool.threads(), |_| {
                let id = thread::current().id();
                let mut seen = seen.lock().unwrap();
                if id != caller && !seen.0.contains(&id) {
                    seen.0.push(id);
                    seen.1.push(look());
                }
                drop(seen);
                let started = Instant::now();
                while started.elapsed() < Duration::from_micros(20) {
                    std::hint::spin_loop();
                }
            });
        (seen.lock().unwrap().0.len() == pool.threads() - 1).then_some(())
    });
    seen.into_inner().unwrap().1
}

#[test]
fn zero_threads_are_refused() {
    let error = Pool::builder().threads(0).build().unwrap_err();
    assert!(matches!(error, BuildError::ZeroThreads), "{error:?}");
    assert!(error.to_string().contains("at least 1"), "{error}");
}

#[test]
fn absurdly_many_threads_are_refused() {
    for asked in [16_384, usize::MAX] {
        let error = Pool::builder().threads(asked).build().unwrap_err();
        assert!(
            matches!(error, BuildError::TooManyThreads { asked: a } if a == asked),
            "{error:?}"
        );
        let message = error.to_string();
        assert!(message.contains(&asked.to_string()), "{message}");
        assert!(message.contains("at most 16383"), "{message}");
    }
}

#[test]
fn an_impossible_affinity_names_the_cpu() {
    for list in [vec![77_777], vec![0, 77_777], vec![77_777, 0]] {
        let builder = Pool::builder().threads(1).affinity(Affinity::List(list));
        let error = builder.build().unwrap_err();
        assert!(matches!(error, BuildError::Affinity(_)), "{error:?}");
        let message = error.to_string();
        assert!(message.contains("CPU 77777"), "{message}");
        assert!(message.contains("usable"), "{message}");
    }
    let error = Pool::builder()
        .threads(2)
        .affinity(Affinity::List(Vec::new()))
        .build()
        .unwrap_err();
    assert!(matches!(error, BuildError::Affinity(_)), "{error:?}");
    assert!(error.to_string().contains("empty"), "{error}");
}

/// An error prints as one line, and keeps its details for the program.
#[test]
fn errors_are_errors() {
    let error = Pool::builder().threads(0).build().unwrap_err();
    let error: Box<dyn std::error::Error + Send + Sync> = Box::new(error);
    assert!(!error.to_string().contains('\n'));
}

#[test]
fn a_builder_makes_any_number_of_pools() {
    let builder = Pool::builder().threads(2).name("twin");
    let (one, other) = (builder.build().unwrap(), builder.clone().build().unwrap());
    assert_works(&one);
    drop(one);
    assert_works(&other);
}

#[test]
fn the_default_is_a_thread_for_each_usable_core() {
    let pool = Pool::builder().build().unwrap();
    let usable = manycore::topology::Topology::detect().default_threads();
    assert_eq!(pool.threads(), usable);
    assert_works(&pool);
}

#[test]
fn workers_carry_the_name() {
    let pool = Pool::builder().threads(4).name("loom").build().unwrap();
    let mut names = on_workers(&pool, || thread::current().name().unwrap().to_owned());
    names.sort_unstable();
    assert_eq!(names, ["loom-1", "loom-2", "loom-3"]);
}

/// A name that no thread can have is an error like any other bad input.
#[test]
fn a_name_with_a_nul_is_an_error() {
    let built = Pool::builder().threads(2).name("a\0b").build();
    let error = built.expect_err("no thread can have this name");
    assert!(!error.to_string().is_empty());
}

/// Recurses through more stack than the standard library's default.
#[test]
fn workers_have_the_stack_asked_for() {
    fn deep(frames: usize) -> usize {
        let frame = std::hint::black_box([frames; 512]); // 4 KiB
        match frames {
            0 => 0,
            _ => deep(frames - 1) + frame[0].min(1),
        }
    }
    let pool = Pool::builder()
        .threads(2)
        .stack_size(64 << 20)
        .build()
        .unwrap();
    assert_eq!(pool.broadcast(|_| deep(2_000)), [2_000, 2_000]);
}

#[test]
fn the_global_pool_is_one() {
    let global = Pool::global();
    assert!(std::ptr::eq(global, Pool::global()));
    let elsewhere = thread::spawn(|| std::ptr::from_ref(Pool::global()) as usize);
    assert_eq!(
        elsewhere.join().unwrap(),
        std::ptr::from_ref(global) as usize
    );
    assert_works(global);
}

#[test]
fn two_hundred_pools() {
    for i in 0..200 {
        let pool = pool(1 + i % 4);
        let visits = Visits::new(&(0..100));
        pool.parallel_for(0..100, |i| visits.visit(i));
        visits.assert_each(1, i);
    }
}

/// A pool that was never used, one just used, and one whose workers sleep.
#[test]
fn a_pool_can_be_dropped_at_any_time() {
    for threads in [1, 2, 5] {
        for _ in 0..20 {
            drop(pool(threads));
        }
        for pause in [0, 0, 0, 0, 50, 200, 2_000, 20_000] {
            let pool = pool(threads);
            for partitioner in all() {
                pool.with(partitioner).parallel_for(0..50, |_| ());
            }
            thread::sleep(Duration::from_micros(pause));
        }
    }
}

#[test]
fn a_pool_moves_between_threads() {
    fn needs<T: Send + Sync + 'static>(value: T) -> T {
        value
    }
    let pool = needs(pool(3));
    let pool = thread::spawn(move || {
        assert_works(&pool);
        pool
    });
    assert_works(&pool.join().unwrap());
}

/// Budgets from zero to unlimited. Even a worker that spins without limit ends.
#[test]
fn any_spin_budget() {
    let budgets = [
        Duration::ZERO,
        Duration::from_nanos(1),
        Duration::from_millis(5),
        Duration::from_secs(u32::MAX.into()),
        Duration::MAX,
    ];
    // With at most as many threads as cores, and with more.
    for (budget, threads) in budgets.into_iter().flat_map(|b| [(b, 2), (b, 3)]) {
        let builder = Pool::builder().threads(threads).spin_budget(budget);
        let pool = builder.build().unwrap();
        // Long enough for the workers to pass through all phases of waiting.
        thread::sleep(Duration::from_millis(5));
        assert_works(&pool);
        thread::sleep(Duration::from_millis(5));
        assert_eq!(on_workers(&pool, || ()).len(), threads - 1, "{budget:?}");
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use super::*;
    use rustix::thread::{CpuSet, sched_getaffinity};

    fn expect_tasks(name: &str, count: usize) {
        // A thread sets its name when it first runs. For a moment the system may still list a joined thread.
        let what = format!("{count} threads named {name}");
        eventually(&what, || (tasks::named(name).len() == count).then_some(()));
    }

    #[test]
    fn dropping_a_pool_ends_its_threads() {
        let pool = Pool::builder().threads(5).name("dropped").build().unwrap();
        expect_tasks("dropped-", 4);
        assert_works(&pool);
        expect_tasks("dropped-", 4);
        drop(pool);
        expect_tasks("dropped-", 0);
    }

    #[test]
    fn a_pool_of_one_starts_no_thread() {
        let pool = Pool::builder().threads(1).name("alone").build().unwrap();
        assert_works(&pool);
        expect_tasks("alone-", 0);
    }

    /// The stacks exceed the address space: the limits on threads do not bind root, but this limit does.
    #[test]
    fn a_thread_that_cannot_start_is_an_error() {
        for bytes in [1 << 46, 1 << 60, usize::MAX] {
            let builder = Pool::builder().threads(3).name("vast").stack_size(bytes);
            let error = builder.build().expect_err("a stack larger than memory");
            assert!(
                matches!(
                    error,
                    BuildError::Spawn {
                        rank: 0,
                        threads: 3,
                        ..
                    }
                ),
                "{error:?}"
            );
            let message = error.to_string();
            assert!(message.contains("thread 0 of 3"), "{message}");
            expect_tasks("vast-", 0);
        }
    }

    fn mask() -> Vec<usize> {
        let set = sched_getaffinity(None).unwrap();
        (0..CpuSet::MAX_CPU)
            .filter(|&cpu| set.is_set(cpu))
            .collect()
    }

    #[test]
    fn bound_workers_are_bound() {
        let before = mask();
        let machine = manycore::topology::Topology::detect();
        let last = machine.compact_order().last().copied().unwrap();
        for affinity in [
            Affinity::Compact,
            Affinity::Spread,
            Affinity::List(vec![last]),
        ] {
            let threads = 4;
            let permits = affinity.assign(&machine, threads).unwrap();
            let pool = Pool::builder()
                .threads(threads)
                .affinity(affinity.clone())
                .build()
                .unwrap();
            let mut masks = on_workers(&pool, mask);
            masks.sort_unstable();
            let mut expected = permits[1..].to_vec();
            expected.sort_unstable();
            assert_eq!(masks, expected, "{affinity}");
            assert_works(&pool);
        }
        assert_eq!(mask(), before, "the caller's thread is its own");
    }

    #[test]
    fn free_workers_are_free() {
        let pool = pool(3);
        for seen in on_workers(&pool, mask) {
            assert_eq!(seen, mask());
        }
    }
}
