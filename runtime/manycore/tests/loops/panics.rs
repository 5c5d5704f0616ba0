//! A panic of a body: the thread that receives it, when, and the pool's state afterwards.

use crate::eventually::eventually;
use crate::partitioners::all;
use crate::pools::pool;
use crate::visits::Visits;
use manycore::{Loop, Partitioner, Pool};
use std::any::Any;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// The payload of a body's panic: the index.
#[derive(Debug, PartialEq)]
struct At(usize);

/// Panics without the hook's message, which would fill the log.
fn panic_at(i: usize) -> ! {
    resume_unwind(Box::new(At(i)))
}

/// Returns the index at which a loop panicked, if any.
fn caught(run: impl FnOnce()) -> Option<usize> {
    let payload: Box<dyn Any + Send> = catch_unwind(AssertUnwindSafe(run)).err()?;
    Some(payload.downcast::<At>().expect("the body's own payload").0)
}

/// Counts the calls of a body that have not ended.
#[derive(Default)]
struct Inside(AtomicUsize);

impl Inside {
    fn enter(&self) -> impl Drop + '_ {
        struct Leave<'a>(&'a AtomicUsize);
        impl Drop for Leave<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Relaxed);
            }
        }
        self.0.fetch_add(1, Relaxed);
        Leave(&self.0)
    }

    fn is_empty(&self) -> bool {
        self.0.load(Relaxed) == 0
    }
}

fn work(time: Duration) {
    let started = Instant::now();
    while started.elapsed() < time {
        std::hint::spin_loop();
    }
}

fn assert_works(loops: Loop<'_>, what: &str) {
    let visits = Visits::new(&(0..500));
    loops.parallel_for(0..500, |i| visits.visit(i));
    visits.assert_each(1, what);
}

#[test]
fn the_caller_gets_the_payload() {
    for threads in [1, 2, 4] {
        let pool = pool(threads);
        for partitioner in all() {
            let loops = pool.with(partitioner);
            for n in [1, 2, 65, 1_000] {
                for bad in [0, n / 2, n - 1] {
                    let what = format!("{partitioner}, {threads} threads, {bad} of {n}");
                    let inside = Inside::default();
                    let at = caught(|| {
                        loops.parallel_for(0..n, |i| {
                            let _inside = inside.enter();
                            if i == bad {
                                panic_at(i);
                            }
                        });
                    });
                    assert_eq!(at, Some(bad), "{what}");
                    assert!(inside.is_empty(), "{what}");
                }
            }
            assert_works(loops, &partitioner.to_string());
        }
    }
}

#[test]
fn messages_arrive_whole() {
    let pool = pool(2);
    for partitioner in all() {
        let run = || {
            pool.with(partitioner).parallel_for(0..100, |i| {
                assert!(i != 42, "no {i}");
            });
        };
        let payload = catch_unwind(AssertUnwindSafe(run)).expect_err("42 panics");
        assert_eq!(payload.downcast_ref::<String>().unwrap(), "no 42");
    }
}

/// Only workers panic; the caller does not.
#[test]
fn panics_of_workers_reach_the_caller() {
    for threads in [2, 4] {
        let pool = pool(threads);
        let caller = std::thread::current().id();
        for partitioner in all() {
            let what = format!("{partitioner}: a worker takes part");
            let inside = Inside::default();
            // A single block leaves nothing for a second thread, and mostly the caller runs it.
            let one_block = partitioner == Partitioner::fixed_block(usize::MAX);
            eventually(&what, || {
                let at = caught(|| {
                    pool.with(partitioner).parallel_for(0..100, |i| {
                        let _inside = inside.enter();
                        if std::thread::current().id() != caller {
                            panic_at(i);
                        }
                        work(Duration::from_micros(1));
                    });
                });
                assert!(inside.is_empty(), "{partitioner}");
                at.or(one_block.then_some(0))
            });
            assert_works(pool.with(partitioner), &what);
        }
    }
}

/// Each iteration panics. The caller receives one panic, after all threads have left the body.
#[test]
fn one_of_many_panics_arrives() {
    for threads in [2, 3, 9] {
        let pool = pool(threads);
        for partitioner in all() {
            for _ in 0..20 {
                let inside = Inside::default();
                let at = caught(|| {
                    pool.with(partitioner).parallel_for(0..100, |i| {
                        let _inside = inside.enter();
                        work(Duration::from_micros(2));
                        panic_at(i);
                    });
                });
                assert!(at.is_some_and(|i| i < 100), "{partitioner}");
                assert!(inside.is_empty(), "{partitioner}");
            }
            assert_works(pool.with(partitioner), "after many panics");
        }
    }
}

/// A loop that panics may skip iterations, but runs none twice.
#[test]
fn no_index_runs_twice_on_the_way_out() {
    let pool = pool(3);
    for partitioner in all() {
        for bad in [0, 300, 999] {
            let counts: Vec<AtomicUsize> = (0..1_000).map(|_| AtomicUsize::new(0)).collect();
            let at = caught(|| {
                pool.with(partitioner).parallel_for(0..1_000, |i| {
                    counts[i].fetch_add(1, Relaxed);
                    if i == bad {
                        panic_at(i);
                    }
                });
            });
            assert_eq!(at, Some(bad), "{partitioner}");
            assert!(counts.iter().all(|count| count.load(Relaxed) <= 1));
        }
    }
}

#[test]
fn a_nested_panic_can_be_caught_in_the_body() {
    for threads in [1, 2, 4] {
        let pool = pool(threads);
        for partitioner in all() {
            let loops = pool.with(partitioner);
            let outer = Visits::new(&(0..20));
            loops.parallel_for(0..20, |i| {
                let at = caught(|| {
                    loops.parallel_for(0..30, |j| {
                        if j == i {
                            panic_at(j);
                        }
                    });
                });
                assert_eq!(at, Some(i), "{partitioner}");
                assert_works(loops, "nested, after a nested panic");
                outer.visit(i);
            });
            outer.assert_each(1, partitioner);
        }
    }
}

#[test]
fn a_nested_panic_passes_through_every_loop() {
    fn nest(pool: &Pool, partitioner: Partitioner, depth: usize, inside: &Inside) {
        pool.with(partitioner).parallel_for(0..8, |i| {
            let _inside = inside.enter();
            match depth {
                0 if i == 5 => panic_at(5),
                0 => {}
                _ => nest(pool, partitioner, depth - 1, inside),
            }
        });
    }
    for threads in [1, 2, 3] {
        let pool = pool(threads);
        for partitioner in all() {
            let inside = Inside::default();
            let at = caught(|| nest(&pool, partitioner, 2, &inside));
            assert_eq!(at, Some(5), "{partitioner}, {threads} threads");
            assert!(inside.is_empty(), "{partitioner}, {threads} threads");
            assert_works(pool.with(partitioner), "after a deep panic");
        }
    }
}

/// More panics than the pool has slots for posted loops. Each loop must give its permit back, or the blocks
/// of `fixed-block` would grow.
#[test]
fn panics_use_nothing_up() {
    for threads in [1, 2, 3] {
        let pool = pool(threads);
        for partitioner in all() {
            for _ in 0..50 {
                let at = caught(|| pool.with(partitioner).parallel_for(0..10, |_| panic_at(3)));
                assert_eq!(at, Some(3), "{partitioner}");
            }
        }
        let blocks = AtomicUsize::new(0);
        let fours = pool.with(Partitioner::fixed_block(4));
        fours.parallel_for_blocks(0..100, |block: Range<usize>| {
            assert!(block.len() <= 4, "{threads} threads: {block:?}");
            blocks.fetch_add(1, Relaxed);
        });
        assert_eq!(blocks.into_inner(), 25, "{threads} threads");
    }
}

/// A loop too short to share, and a loop that `adaptive` knows to be short, both run on the caller.
#[test]
fn panics_of_inlined_loops() {
    let pool = pool(2);
    for n in [1, 2, 10, 63, 64, 200] {
        let run = |bad: Option<usize>| {
            caught(|| {
                pool.parallel_for(0..n, |i| {
                    if Some(i) == bad {
                        panic_at(i);
                    }
                });
            })
        };
        for round in 0..20 {
            assert_eq!(run(None), None);
            assert_eq!(run(Some(round % n)), Some(round % n), "{n}");
        }
    }
}
