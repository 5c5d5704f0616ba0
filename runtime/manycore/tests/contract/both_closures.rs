//! `join` runs both closures and a scope runs all its jobs, even if some of them panic.

use super::thrown::{Nasty, caught, throw};
use manycore::Pool;
use manycore::seam::BuilderExt;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread;

const ROUNDS: usize = 20;

fn throw_nasty() -> ! {
    resume_unwind(Box::new(Nasty))
}

/// Pools of one thread and of two, whose stacks for stealable joins hold all joins, two, or none.
fn pools() -> Vec<Pool> {
    let build = |threads, open_joins: Option<u32>| {
        let builder = Pool::builder().threads(threads);
        let builder = match open_joins {
            Some(most) => builder.open_joins(most),
            None => builder,
        };
        builder.build().unwrap()
    };
    let both = |open_joins| [build(1, open_joins), build(2, open_joins)];
    [None, Some(0), Some(2)]
        .into_iter()
        .flat_map(both)
        .collect()
}

/// Runs `test` outside and inside each pool, at a depth where two open joins are used up and at a depth where
/// they are not.
fn everywhere(test: impl Fn(&Pool) + Sync) {
    fn nested(pool: &Pool, depth: u32, test: &(dyn Fn() + Sync)) {
        match depth {
            0 => test(),
            _ => drop(pool.join(|| nested(pool, depth - 1, test), || ())),
        }
    }
    for pool in pools() {
        for depth in [0, 1, 4] {
            for _ in 0..ROUNDS {
                nested(&pool, depth, &|| test(&pool));
            }
        }
    }
}

#[test]
fn the_second_runs_after_the_first_has_thrown() {
    everywhere(|pool| {
        let ran = AtomicUsize::new(0);
        let what = caught(|| pool.join(|| throw("a"), || ran.fetch_add(1, SeqCst)));
        assert_eq!(what, Some("a"));
        assert_eq!(ran.into_inner(), 1);
    });
}

/// The second closure of each level runs while the panic unwinds.
#[test]
fn at_every_level() {
    fn nested(pool: &Pool, depth: usize, ran: &AtomicUsize) {
        if depth == 0 {
            throw("leaf");
        }
        pool.join(
            || nested(pool, depth - 1, ran),
            || {
                // The second closures may join as well.
                pool.join(|| ran.fetch_add(1, SeqCst), || ran.fetch_add(1, SeqCst));
            },
        );
    }
    for pool in pools() {
        for depth in 1..8 {
            let ran = AtomicUsize::new(0);
            assert_eq!(caught(|| nested(&pool, depth, &ran)), Some("leaf"));
            assert_eq!(ran.into_inner(), 2 * depth);
        }
    }
}

#[test]
fn of_two_panics_the_first_arrives() {
    everywhere(|pool| {
        assert_eq!(
            caught(|| pool.join(|| throw("a"), || throw("b"))),
            Some("a")
        );
        let nasty = caught(|| pool.join(|| throw("a"), || throw_nasty()));
        assert_eq!(
            nasty,
            Some("a"),
            "the second closure's payload does not arrive"
        );
    });
}

#[test]
fn results_whose_destructors_panic() {
    everywhere(|pool| {
        assert_eq!(
            caught(|| drop(pool.join(|| throw("a"), || Nasty))),
            Some("a")
        );
        assert_eq!(
            caught(|| drop(pool.join(|| Nasty, || throw("b")))),
            Some("b")
        );
    });
}

/// The first closure panics while another thread runs the second.
#[test]
fn when_the_second_is_stolen() {
    fn await_flag(set: &AtomicBool) {
        while !set.load(SeqCst) {
            thread::yield_now();
        }
    }
    /// Runs a join of which another thread steals `second`, which ends after the first closure has panicked.
    fn stolen<R: Send>(pool: &Pool, second: impl FnOnce() -> R + Send) -> Option<&'static str> {
        let (begun, throws, ended) = (
            AtomicBool::new(false),
            AtomicBool::new(false),
            AtomicBool::new(false),
        );
        let what = caught(|| {
            pool.join(
                || {
                    await_flag(&begun);
                    throws.store(true, SeqCst);
                    throw("a")
                },
                || {
                    begun.store(true, SeqCst);
                    await_flag(&throws);
                    (0..1_000).for_each(|_| thread::yield_now());
                    ended.store(true, SeqCst);
                    second()
                },
            )
        });
        assert!(ended.into_inner(), "unwound under a running closure");
        what
    }
    let pool = super::pools::pool(2);
    for _ in 0..ROUNDS {
        assert_eq!(stolen(&pool, || ()), Some("a"));
        assert_eq!(stolen(&pool, || throw("b")), Some("a"));
        assert_eq!(stolen(&pool, || throw_nasty()), Some("a"));
        assert_eq!(stolen(&pool, || Nasty), Some("a"));
    }
}

/// The first closure panics on the thread that runs a handed-over call.
#[test]
fn in_a_call_that_is_handed_over() {
    for threads in [1, 2] {
        let builder = Pool::builder().threads(threads).dedicated(true);
        let pool = builder.build().unwrap();
        for _ in 0..ROUNDS {
            let ran = AtomicBool::new(false);
            let what = caught(|| pool.join(|| throw("a"), || ran.store(true, SeqCst)));
            assert_eq!((what, ran.into_inner()), (Some("a"), true));
        }
    }
}

#[test]
fn a_scope_s_jobs_run_though_its_body_panics() {
    everywhere(|pool| {
        let ran = AtomicUsize::new(0);
        let run = || _ = ran.fetch_add(1, SeqCst);
        let kinds = [
            caught(|| {
                pool.scope(|scope| {
                    (0..5).for_each(|_| scope.spawn(|scope| scope.spawn(|_| run())));
                    throw("body")
                })
            }),
            caught(|| {
                pool.scope_fifo(|scope| {
                    (0..5).for_each(|_| scope.spawn_fifo(|_| run()));
                    throw("body")
                })
            }),
            caught(|| {
                pool.in_place_scope(|scope| {
                    (0..5).for_each(|_| scope.spawn(|_| run()));
                    throw("body")
                })
            }),
        ];
        assert_eq!(kinds, [Some("body"); 3]);
        assert_eq!(ran.into_inner(), 15);
    });
}

/// One job's panic arrives, and all other jobs run.
#[test]
fn a_scope_s_jobs_run_though_others_panic() {
    everywhere(|pool| {
        let ran = AtomicUsize::new(0);
        let what = caught(|| {
            pool.scope(|scope| {
                for i in 0..9 {
                    let ran = &ran;
                    scope.spawn(move |_| {
                        ran.fetch_add(1, SeqCst);
                        if i % 3 == 1 {
                            throw("job");
                        }
                    });
                }
            })
        });
        assert_eq!(what, Some("job"));
        assert_eq!(ran.into_inner(), 9);
    });
}
