//! Panics: the thread that receives them, and the jobs that have ended by then.

use super::eventually::eventually;
use super::pools::pool;
use super::stolen::{Door, join_stolen};
use manycore::Pool;
use manycore::seam::BuilderExt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc;
use std::time::Duration;

/// The payload of the closures' panics.
#[derive(Debug, PartialEq)]
struct Thrown(&'static str);

/// Panics without the hook's message, which would fill the log.
fn throw(what: &'static str) -> ! {
    resume_unwind(Box::new(Thrown(what)))
}

/// A payload that panics again when it is dropped.
struct Nasty;

impl Drop for Nasty {
    fn drop(&mut self) {
        throw("from a payload's destructor");
    }
}

fn throw_nasty() -> ! {
    resume_unwind(Box::new(Nasty))
}

fn caught<R>(run: impl FnOnce() -> R) -> Option<&'static str> {
    let payload = catch_unwind(AssertUnwindSafe(run)).err()?;
    match payload.downcast::<Thrown>() {
        Ok(thrown) => Some(thrown.0),
        Err(payload) => {
            assert!(payload.is::<Nasty>(), "thrown here");
            std::mem::forget(payload);
            Some("nasty")
        }
    }
}

fn assert_works(pool: &Pool) {
    fn count(pool: &Pool, depth: u32) -> u32 {
        match depth {
            0 => 1,
            _ => {
                let (a, b) = pool.join(|| count(pool, depth - 1), || count(pool, depth - 1));
                a + b
            }
        }
    }
    assert_eq!(count(pool, 8), 256);
    let sum = AtomicUsize::new(0);
    pool.scope(|scope| (0..10).for_each(|_| scope.spawn(|_| _ = sum.fetch_add(1, Relaxed))));
    pool.parallel_for(0..100, |_| _ = sum.fetch_add(1, Relaxed));
    assert_eq!(sum.into_inner(), 110);
    assert_eq!(pool.broadcast(|_| ()).len(), pool.threads());
}

/// Delays a thread, so that it is not early.
fn dawdle() {
    std::thread::sleep(Duration::from_millis(2));
}

#[test]
fn a_stolen_second_closure_is_awaited() {
    for threads in [2, 4] {
        let pool = pool(threads);
        for _ in 0..20 {
            let (thrown, done) = (Door::default(), AtomicBool::new(false));
            let what = caught(|| {
                join_stolen(
                    &pool,
                    |_| {
                        thrown.open();
                        throw("a")
                    },
                    |_| {
                        thrown.pass();
                        dawdle();
                        done.store(true, Relaxed);
                    },
                )
            });
            assert_eq!(what, Some("a"));
            assert!(done.into_inner(), "join has unwound while its closure runs");
        }
        assert_works(&pool);
    }
}

#[test]
fn a_second_closure_runs_though_the_first_has_panicked() {
    // With room on the stack of joins, on the slow path, and without room.
    for open_joins in [8, 1, 0] {
        let builder = Pool::builder().threads(1).open_joins(open_joins);
        let pool = builder.build().unwrap();
        let owned = Arc::new(());
        let (moved, ran) = (Arc::clone(&owned), AtomicUsize::new(0));
        let what = caught(|| {
            pool.join(
                || throw("a"),
                || {
                    let _moved = moved;
                    ran.fetch_add(1, Relaxed);
                    throw("b");
                },
            )
        });
        assert_eq!(what, Some("a"));
        assert_eq!(ran.into_inner(), 1);
        assert_eq!(
            Arc::strong_count(&owned),
            1,
            "the closure's value was dropped once"
        );
        assert_works(&pool);
    }
}

#[test]
fn the_panic_of_the_second_closure_arrives() {
    let a_result = Arc::new(());
    let one = pool(1);
    let what = caught(|| one.join(|| Arc::clone(&a_result), || throw("b")));
    assert_eq!(what, Some("b"));
    assert_works(&one);
    for threads in [2, 4] {
        let pool = pool(threads);
        for _ in 0..20 {
            let what = caught(|| join_stolen(&pool, |_| Arc::clone(&a_result), |_| throw("b")));
            assert_eq!(what, Some("b"));
        }
        assert_works(&pool);
    }
    assert_eq!(Arc::strong_count(&a_result), 1, "results are dropped");
}

#[test]
fn of_two_panics_the_first_closure_s_wins() {
    let pool = pool(2);
    for _ in 0..20 {
        let thrown = Door::default();
        let what = caught(|| {
            join_stolen(
                &pool,
                |_| {
                    thrown.pass();
                    throw("a")
                },
                |_| {
                    thrown.open();
                    throw("b");
                },
            )
        });
        assert_eq!(what, Some("a"));
    }
    assert_works(&pool);
}

#[test]
fn payloads_that_panic_in_their_turn_are_let_go() {
    let pool = pool(2);
    for _ in 0..20 {
        let what = caught(|| join_stolen(&pool, |_| throw("a"), |_| throw_nasty()));
        assert_eq!(what, Some("a"));
        // Chance decides which of the five panics arrives.
        let what = caught(|| {
            pool.scope(|scope| {
                (0..4).for_each(|_| scope.spawn(|_| throw_nasty()));
                throw("body")
            })
        });
        assert!(what == Some("body") || what == Some("nasty"));
    }
    assert_works(&pool);
}

#[test]
fn a_panic_deep_down_passes_through_every_join() {
    fn tree(pool: &Pool, depth: u32, path: u32, alive: &AtomicUsize) {
        struct Leave<'a>(&'a AtomicUsize);
        impl Drop for Leave<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Relaxed);
            }
        }
        alive.fetch_add(1, Relaxed);
        let _leave = Leave(alive);
        if depth == 0 {
            if path == 0b1011010 {
                throw("leaf");
            }
            return;
        }
        pool.join(
            || tree(pool, depth - 1, path * 2, alive),
            || tree(pool, depth - 1, path * 2 + 1, alive),
        );
    }
    for threads in [1, 2, 4] {
        let pool = pool(threads);
        for _ in 0..50 {
            let alive = AtomicUsize::new(0);
            assert_eq!(caught(|| tree(&pool, 7, 0, &alive)), Some("leaf"));
            assert_eq!(alive.into_inner(), 0, "every closure has ended");
        }
        assert_works(&pool);
    }
}

#[test]
fn a_scope_s_panic_comes_after_all_its_jobs() {
    for threads in [1, 2, 4] {
        let pool = pool(threads);
        for of_body in [false, true] {
            let ended = AtomicUsize::new(0);
            let what = caught(|| {
                pool.scope(|scope| {
                    for i in 0..20 {
                        let ended = &ended;
                        scope.spawn(move |scope| {
                            if i == 7 && !of_body {
                                throw("job");
                            }
                            scope.spawn(move |_| {
                                dawdle();
                                ended.fetch_add(1, Relaxed);
                            });
                        });
                    }
                    if of_body {
                        throw("body");
                    }
                })
            });
            assert_eq!(what, Some(if of_body { "body" } else { "job" }));
            assert_eq!(ended.into_inner(), if of_body { 20 } else { 19 });
        }
        assert_works(&pool);
    }
}

#[test]
fn every_kind_of_scope_raises_panics() {
    let pool = pool(2);
    for job in [false, true] {
        let what = |in_job: bool| {
            if in_job == job {
                throw("x");
            }
        };
        let kinds = [
            caught(|| {
                pool.scope(|s| {
                    s.spawn(move |_| what(true));
                    what(false);
                })
            }),
            caught(|| {
                pool.scope_fifo(|s| {
                    s.spawn_fifo(move |_| what(true));
                    what(false);
                })
            }),
            caught(|| {
                pool.in_place_scope(|s| {
                    s.spawn(move |_| what(true));
                    what(false);
                })
            }),
            caught(|| {
                pool.in_place_scope_fifo(|s| {
                    s.spawn_broadcast(move |_, _| what(true));
                    what(false);
                })
            }),
        ];
        assert_eq!(kinds, [Some("x"); 4]);
    }
    assert_works(&pool);
}

#[test]
fn install_raises_the_panic_where_it_was_called() {
    let pool = pool(2);
    assert_eq!(caught(|| pool.install(|| throw("x"))), Some("x"));
    // The same where another thread runs the call.
    pool.install(|| {
        std::thread::scope(|scope| {
            let other = scope.spawn(|| caught(|| pool.install(|| throw("y"))));
            assert_eq!(other.join().unwrap(), Some("y"));
        });
    });
    assert_works(&pool);
}

#[test]
fn a_broadcast_raises_the_panic_of_the_lowest_index() {
    let pool = pool(4);
    let calls = AtomicUsize::new(0);
    let what = caught(|| {
        pool.broadcast(|context| {
            calls.fetch_add(1, Relaxed);
            match context.index() {
                1 => throw("1"),
                3 => throw("3"),
                _ => dawdle(),
            }
        })
    });
    assert_eq!(what, Some("1"));
    assert_eq!(calls.into_inner(), 4);
    assert_works(&pool);
}

/// All calls panic, with payloads that panic when they are dropped.
#[test]
fn a_broadcast_lets_the_other_payloads_go() {
    let pool = pool(4);
    let what = caught(|| {
        pool.broadcast(|context| match context.index() {
            0 => throw("0"),
            _ => throw_nasty(),
        })
    });
    assert_eq!(what, Some("0"));
    assert_works(&pool);
}

#[test]
fn panics_of_detached_jobs_go_to_the_handler() {
    let (sender, receiver) = mpsc::channel();
    let builder = Pool::builder().threads(2).panic_handler(move |payload| {
        let thrown = payload.downcast::<Thrown>().expect("thrown here");
        sender.send(thrown.0).unwrap();
    });
    let pool = builder.build().unwrap();
    pool.spawn(|| throw("spawn"));
    assert_eq!(receiver.recv(), Ok("spawn"));
    pool.spawn_fifo(|| throw("spawn_fifo"));
    assert_eq!(receiver.recv(), Ok("spawn_fifo"));
    pool.spawn_broadcast(|_| throw("spawn_broadcast"));
    assert_eq!(receiver.recv(), Ok("spawn_broadcast"));
    assert_eq!(receiver.recv(), Ok("spawn_broadcast"));
    pool.install(|| manycore::spawn(|| throw("within")));
    assert_eq!(receiver.recv(), Ok("within"));
    assert_works(&pool);
    drop((pool, builder));
    assert!(receiver.recv().is_err(), "five panics, no more");
}

/// The environment variable that makes this test binary a child that aborts.
#[cfg(unix)]
const CHILD: &str = "MANYCORE_TEST_ABORTS";

/// Aborts if this process is a child of the test below; otherwise does nothing.
#[cfg(unix)]
#[test]
fn child_that_aborts() {
    let Ok(how) = std::env::var(CHILD) else {
        return;
    };
    let builder = Pool::builder().threads(2);
    let builder = match how.as_str() {
        "no handler" => builder,
        _ => builder.panic_handler(|_| throw("from the handler")),
    };
    let pool = builder.build().unwrap();
    pool.spawn(|| throw("from a job"));
    drop(pool);
}

#[cfg(unix)]
#[test]
fn a_panic_without_a_handler_aborts() {
    use std::os::unix::process::ExitStatusExt;
    const SIGABRT: i32 = 6;
    for how in ["no handler", "a handler that panics"] {
        let child = crate::this_program::this_program()
            .args(["--exact", "panics::child_that_aborts", "--nocapture"])
            .env(CHILD, how)
            .output()
            .unwrap();
        assert_eq!(child.status.signal(), Some(SIGABRT), "{how}: {child:?}");
        let said = String::from_utf8_lossy(&child.stderr).into_owned();
        assert!(
            said.contains("no handler took it; aborting"),
            "{how}: {said}"
        );
    }
}

/// Many panics use up nothing of a pool.
#[test]
fn many_panics_use_nothing_up() {
    let pool = Pool::builder().threads(3).open_joins(8).build().unwrap();
    for i in 0..2_000 {
        let what = caught(|| match i % 3 {
            0 => drop(pool.join(|| throw("x"), || ())),
            1 => drop(pool.join(|| (), || throw("x"))),
            _ => pool.scope(|scope| scope.spawn(|_| throw("x"))),
        });
        assert_eq!(what, Some("x"));
    }
    eventually("stealing goes on", || {
        pool.join_context(|_| dawdle(), |b| b.migrated())
            .1
            .then_some(())
    });
    assert_works(&pool);
}
