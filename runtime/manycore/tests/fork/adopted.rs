//! Pools that adopt a thread: it is worker 0 for good, and runs jobs while it waits.

use super::eventually::{LIMIT, eventually};
use super::stolen::{Door, join_stolen};
use manycore::{BuildError, Pool, Yield};
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, mpsc};
use std::thread::{self, ThreadId};
use std::time::Duration;

/// Runs `body` on a thread that a pool of `threads` has adopted.
fn adopted(threads: usize, body: impl FnOnce(Pool) + Send) {
    thread::scope(|scope| {
        scope.spawn(move || {
            let builder = Pool::builder().threads(threads);
            body(builder.adopt_current_thread(true).build().unwrap());
        });
    });
}

#[test]
fn it_is_worker_0() {
    for threads in [1, 2, 3] {
        adopted(threads, |pool| {
            assert_eq!(pool.current_thread_index(), Some(0));
            assert_eq!(manycore::current_thread_index(), Some(0));
            assert_eq!(pool.install(manycore::current_thread_index), Some(0));
            let here = thread::current().id();
            let all = pool.broadcast(|_| thread::current().id());
            assert_eq!((all.len(), all[0]), (threads, here));
            let sum = AtomicUsize::new(0);
            manycore::scope(|scope| {
                (0..10).for_each(|_| scope.spawn(|_| _ = sum.fetch_add(1, Relaxed)));
            });
            pool.parallel_for(0..100, |_| _ = sum.fetch_add(1, Relaxed));
            assert_eq!(sum.into_inner(), 110);
            assert_eq!(manycore::join(|| 1, || 2), (1, 2));
        });
    }
}

#[test]
fn a_thread_has_one_pool() {
    let again = || {
        Pool::builder()
            .threads(2)
            .adopt_current_thread(true)
            .build()
    };
    adopted(2, move |pool| {
        assert!(matches!(again(), Err(BuildError::AlreadyInPool)));
        let (a, b) = join_stolen(&pool, |_| again(), |_| again());
        assert!(matches!((a, b), (Err(BuildError::AlreadyInPool), Err(_))));
        // The thread still belongs to that pool after the pool's end.
        drop(pool);
        let error = again().unwrap_err();
        assert!(
            error.to_string().contains("already part of a pool"),
            "{error}"
        );
        // A pool that adopts no thread is always allowed.
        assert_eq!(super::pools::pool(2).join(|| 1, || 2), (1, 2));
    });
    let pool = super::pools::pool(2);
    let in_call = pool.install(again);
    assert!(matches!(in_call, Err(BuildError::AlreadyInPool)));
}

/// The adopted thread pushes jobs and then blocks, without ever looking for a job. The other workers take all
/// these jobs, whatever they were doing.
#[test]
fn workers_take_what_a_blocked_thread_pushed() {
    for threads in [2, 4] {
        adopted(threads, |pool| {
            let (sender, receiver) = mpsc::channel();
            for i in 0..200 {
                for _ in 0..i % 4 + 1 {
                    let sender = sender.clone();
                    match i % 2 {
                        0 => pool.spawn(move || sender.send(i).unwrap()),
                        _ => pool.spawn_fifo(move || sender.send(i).unwrap()),
                    }
                }
                assert!(receiver.iter().take(i % 4 + 1).all(|job| job == i));
                thread::sleep(Duration::from_micros(10 * (i % 20) as u64));
            }
            // Also for a join: `join_stolen` blocks until the other half has begun.
            for _ in 0..100 {
                assert_eq!(join_stolen(&pool, |_| 1, |_| 2), (1, 2));
            }
        });
    }
}

/// While the adopted thread blocks, the other workers run calls from outside.
#[test]
fn calls_from_outside_reach_the_others() {
    adopted(2, |pool| {
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        assert_eq!(pool.install(manycore::current_thread_index), Some(1));
                        assert_eq!(pool.join(|| 1, || 2), (1, 2));
                        pool.scope(|scope| scope.spawn(|_| ()));
                    }
                });
            }
        });
    });
}

/// Without other workers, calls run when the adopted thread waits.
#[test]
fn alone_it_runs_jobs_when_it_yields() {
    adopted(1, |pool| {
        let (sender, receiver) = mpsc::channel();
        pool.spawn(move || sender.send(3).unwrap());
        assert!(receiver.try_recv().is_err());
        assert_eq!(manycore::yield_now(), Some(Yield::Executed));
        assert_eq!(receiver.try_recv(), Ok(3));
        assert_eq!(manycore::yield_now(), Some(Yield::Idle));
    });
}

#[test]
fn its_end_waits_for_all_jobs() {
    for threads in [1, 2, 3] {
        adopted(threads, |pool| {
            let ran = Arc::new(AtomicUsize::new(0));
            for _ in 0..20 {
                let ran = Arc::clone(&ran);
                pool.spawn(move || {
                    manycore::spawn(move || _ = ran.fetch_add(1, Relaxed));
                });
            }
            drop(pool);
            assert_eq!(ran.load(Relaxed), 20, "{threads} threads");
        });
    }
}

/// The last owner is a job that the adopted thread runs.
#[test]
fn dropped_by_a_job_on_the_adopted_thread() {
    for threads in [1, 2] {
        adopted(threads, |pool| {
            // The other workers are busy, so that none of them takes the job.
            let busy = Arc::new(Door::default());
            let begun = Arc::new(AtomicUsize::new(0));
            for _ in 1..threads {
                let (busy, begun) = (Arc::clone(&busy), Arc::clone(&begun));
                pool.spawn(move || {
                    begun.fetch_add(1, Relaxed);
                    busy.pass();
                });
            }
            eventually("the others are busy", || {
                (begun.load(Relaxed) == threads - 1).then_some(())
            });
            let (sender, receiver) = mpsc::channel();
            let pool = Arc::new(pool);
            let last = Arc::clone(&pool);
            let door = Arc::clone(&busy);
            pool.spawn(move || {
                door.open();
                drop(last);
                sender.send(()).unwrap();
            });
            drop(pool);
            assert_eq!(manycore::yield_now(), Some(Yield::Executed));
            assert_eq!(receiver.try_recv(), Ok(()));
        });
    }
}

/// Runs `adopted`. A body that hangs fails the test, and its thread is left behind.
fn adopted_and_ends(threads: usize, body: impl FnOnce(Pool) + Send + 'static) {
    let (sender, receiver) = mpsc::channel();
    let runner = thread::spawn(move || {
        adopted(threads, body);
        sender.send(()).unwrap();
    });
    match receiver.recv_timeout(LIMIT) {
        Err(RecvTimeoutError::Timeout) => panic!("with {threads} threads it hangs"),
        Ok(()) | Err(RecvTimeoutError::Disconnected) => {
            runner.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
    }
}

/// Runs `body` on a thread outside the pool, while this one blocks.
fn elsewhere<R: Send>(body: impl FnOnce() -> R + Send) -> R {
    thread::scope(|scope| scope.spawn(body).join().unwrap())
}

/// The pool has only the adopted thread. Jobs from external threads wait for that thread, even if it ends the
/// pool first.
#[test]
fn alone_it_runs_what_others_spawn() {
    let give = |pool: &Pool| {
        let (sender, receiver) = mpsc::channel();
        let here = move || _ = sender.send(thread::current().id());
        elsewhere(|| {
            pool.spawn(here.clone());
            pool.spawn_fifo(here.clone());
            pool.spawn_broadcast(move |_| here());
        });
        assert!(receiver.try_recv().is_err(), "the pool has no other thread");
        receiver
    };
    let run_here = |receiver: mpsc::Receiver<ThreadId>| {
        assert_eq!(
            receiver.try_iter().collect::<Vec<_>>(),
            [thread::current().id(); 3]
        );
    };
    let yields = || (0..3).for_each(|_| assert_eq!(manycore::yield_now(), Some(Yield::Executed)));
    adopted_and_ends(1, move |pool| {
        let receiver = give(&pool);
        yields();
        run_here(receiver);
        let receiver = give(&pool);
        drop(pool);
        run_here(receiver);
    });
    adopted_and_ends(1, move |pool| {
        let receiver = give(&pool);
        elsewhere(|| drop(pool));
        assert!(receiver.try_recv().is_err(), "no thread can have run it");
        yields();
        run_here(receiver);
        assert_eq!(manycore::yield_now(), Some(Yield::Idle));
    });
}

/// When the adopted thread yields, it runs the calls of blocked external threads.
#[test]
fn alone_it_runs_others_calls() {
    adopted_and_ends(1, |pool| {
        let here = thread::current().id();
        let pool = Arc::new(pool);
        let others: Vec<_> = (0..3)
            .map(|_| {
                let pool = Arc::clone(&pool);
                thread::spawn(move || {
                    assert_eq!(pool.install(|| thread::current().id()), here);
                    assert_eq!(pool.join(|| 1, || 2), (1, 2));
                    let ran = AtomicUsize::new(0);
                    let count = || _ = ran.fetch_add(1, Relaxed);
                    pool.scope(|scope| scope.spawn(|_| count()));
                    pool.in_place_scope(|scope| {
                        scope.spawn(|_| count());
                        scope.spawn_broadcast(|_, _| count());
                    });
                    assert_eq!(pool.broadcast(|_| thread::current().id()), [here]);
                    assert_eq!(ran.load(Relaxed), 3);
                    // The drop of the last of these handles ends the pool.
                    drop(pool);
                })
            })
            .collect();
        drop(pool);
        eventually("the others are served", || {
            manycore::yield_now();
            others
                .iter()
                .all(thread::JoinHandle::is_finished)
                .then_some(())
        });
        others.into_iter().for_each(|other| other.join().unwrap());
    });
}

/// A pool ends on another thread while the adopted thread blocks: the other workers run the adopted thread's
/// mail.
#[test]
fn mail_of_a_blocked_thread_is_run_by_the_others() {
    for threads in [2, 3] {
        for round in 0..50 {
            adopted_and_ends(threads, move |pool| {
                let ran = Arc::new(AtomicUsize::new(0));
                let count = Arc::clone(&ran);
                let cast =
                    |pool: &Pool| pool.spawn_broadcast(move |_| _ = count.fetch_add(1, Relaxed));
                match round % 2 {
                    0 => cast(&pool),
                    _ => elsewhere(|| cast(&pool)),
                }
                elsewhere(|| drop(pool));
                assert_eq!(ran.load(Relaxed), threads);
                assert_eq!(manycore::yield_now(), Some(Yield::Idle));
            });
        }
    }
}

/// The same, where another worker waits for that mail, probably asleep, and where a worker drops the pool.
#[test]
fn a_worker_that_waits_for_a_blocked_thread_is_not_left() {
    for threads in [2, 3] {
        for by_a_job in [false, true] {
            adopted_and_ends(threads, move |pool| {
                let pool = Arc::new(pool);
                let begun = Arc::new(AtomicUsize::new(0));
                let count = Arc::clone(&begun);
                let (sender, receiver) = mpsc::channel();
                pool.spawn(move || {
                    let indices = manycore::broadcast(|context| {
                        count.fetch_add(1, Relaxed);
                        context.index()
                    });
                    sender.send(indices).unwrap();
                });
                eventually("only this thread's call is left", || {
                    (begun.load(Relaxed) == threads - 1).then_some(())
                });
                thread::sleep(Duration::from_millis(5));
                if by_a_job {
                    let last = Arc::clone(&pool);
                    let go = Arc::new(Door::default());
                    let door = Arc::clone(&go);
                    pool.spawn(move || {
                        door.pass();
                        drop(last);
                    });
                    drop(pool);
                    go.open();
                } else {
                    elsewhere(|| drop(pool));
                }
                assert_eq!(receiver.recv(), Ok((0..threads).collect()));
            });
        }
    }
}

/// A pool ends on the adopted thread: that thread gets its own mail, and no other thread does.
#[test]
fn at_an_end_of_its_own_each_thread_has_its_mail() {
    for threads in [1, 2, 3] {
        for _ in 0..50 {
            adopted_and_ends(threads, move |pool| {
                let here = thread::current().id();
                let (sender, receiver) = mpsc::channel();
                pool.spawn_broadcast(move |context| {
                    assert_eq!(manycore::current_thread_index(), Some(context.index()));
                    sender
                        .send((context.index(), thread::current().id()))
                        .unwrap();
                });
                drop(pool);
                let ran: Vec<_> = receiver.iter().collect();
                assert_eq!(ran.len(), threads);
                assert!(
                    ran.iter()
                        .all(|&(index, thread)| (index == 0) == (thread == here))
                );
            });
        }
    }
}

/// The end does not wait for the jobs of a scope, but these jobs wait for their own calls.
#[test]
fn an_end_within_a_scope() {
    for threads in [1, 2, 3] {
        for round in 0..100 {
            adopted_and_ends(threads, move |pool| {
                let all: Vec<_> = (0..threads).collect();
                let calls = AtomicUsize::new(0);
                manycore::scope(|scope| {
                    scope.spawn(|_| {
                        assert_eq!(manycore::broadcast(|context| context.index()), all);
                    });
                    scope.spawn_broadcast(|_, _| _ = calls.fetch_add(1, Relaxed));
                    (0..round % 10 * 100).for_each(|_| std::hint::spin_loop());
                    drop(pool);
                });
                assert_eq!(calls.into_inner(), threads);
            });
        }
    }
}

/// The adopted thread belongs to its pool for ever. After the pool's other threads have ended, it runs its
/// calls to the pool alone.
#[test]
fn after_the_end_it_does_everything_itself() {
    for threads in [1, 2, 3] {
        for ends_here in [false, true] {
            adopted_and_ends(threads, move |pool| {
                match ends_here {
                    true => drop(pool),
                    false => elsewhere(|| drop(pool)),
                }
                let all: Vec<_> = (0..threads).collect();
                assert_eq!(manycore::broadcast(|context| context.index()), all);
                assert_eq!(manycore::join(|| 1, || 2), (1, 2));
                let ran = Arc::new(AtomicUsize::new(0));
                let count = Arc::clone(&ran);
                manycore::scope(|scope| scope.spawn(|_| _ = ran.fetch_add(1, Relaxed)));
                manycore::spawn_broadcast(move |_| _ = count.fetch_add(1, Relaxed));
                while manycore::yield_now() == Some(Yield::Executed) {}
                assert_eq!(ran.load(Relaxed), 1 + threads);
            });
        }
    }
}

/// While the pool ends elsewhere, the adopted thread's calls reach workers that are about to end.
#[test]
fn calls_during_the_end() {
    for threads in [2, 3] {
        for _ in 0..300 {
            adopted_and_ends(threads, move |pool| {
                let all: Vec<_> = (0..threads).collect();
                thread::scope(|scope| {
                    let begin = Arc::new(Door::default());
                    let door = Arc::clone(&begin);
                    scope.spawn(move || {
                        door.open();
                        drop(pool);
                    });
                    begin.pass();
                    for _ in 0..3 {
                        assert_eq!(manycore::broadcast(|context| context.index()), all);
                    }
                });
            });
        }
    }
}
