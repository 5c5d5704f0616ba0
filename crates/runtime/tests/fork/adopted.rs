//! Pools that adopt a thread: it is worker 0 for good, and works when it waits.

use super::eventually::eventually;
use super::stolen::{Door, join_stolen};
use manycore::{BuildError, Pool, Yield};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, mpsc};
use std::thread;
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
        // The thread is that pool's even when the pool has ended.
        drop(pool);
        let error = again().unwrap_err();
        assert!(
            error.to_string().contains("already part of a pool"),
            "{error}"
        );
        // One that adopts nobody is always welcome.
        assert_eq!(super::pools::pool(2).join(|| 1, || 2), (1, 2));
    });
    let pool = super::pools::pool(2);
    let in_call = pool.install(again);
    assert!(matches!(in_call, Err(BuildError::AlreadyInPool)));
}

/// The adopted thread pushes and then blocks, without ever looking for a job:
/// the others take all it has pushed, whatever they were doing.
#[test]
fn workers_take_what_a_blocked_thread_pushed() {
    for threads in [2, 4] {
        adopted(threads, |pool| {
            let (tell, told) = mpsc::channel();
            for i in 0..200 {
                for _ in 0..i % 4 + 1 {
                    let tell = tell.clone();
                    match i % 2 {
                        0 => pool.spawn(move || tell.send(i).unwrap()),
                        _ => pool.spawn_fifo(move || tell.send(i).unwrap()),
                    }
                }
                assert!(told.iter().take(i % 4 + 1).all(|job| job == i));
                thread::sleep(Duration::from_micros(10 * (i % 20) as u64));
            }
            // Of a join, too: `join_stolen` blocks until the other half has begun.
            for _ in 0..100 {
                assert_eq!(join_stolen(&pool, |_| 1, |_| 2), (1, 2));
            }
        });
    }
}

/// Others' calls are run by the other workers while the adopted thread blocks.
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

/// ... and by nobody else, if there is none: until the adopted thread waits.
#[test]
fn alone_it_runs_jobs_when_it_yields() {
    adopted(1, |pool| {
        let (tell, told) = mpsc::channel();
        pool.spawn(move || tell.send(3).unwrap());
        assert!(told.try_recv().is_err());
        assert_eq!(manycore::yield_now(), Some(Yield::Executed));
        assert_eq!(told.try_recv(), Ok(3));
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

/// The last owner is a job that the adopted thread itself runs.
#[test]
fn dropped_by_a_job_on_the_adopted_thread() {
    for threads in [1, 2] {
        adopted(threads, |pool| {
            // Others are busy, so that the job is not theirs.
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
            let (tell, told) = mpsc::channel();
            let pool = Arc::new(pool);
            let last = Arc::clone(&pool);
            let door = Arc::clone(&busy);
            pool.spawn(move || {
                door.open();
                drop(last);
                tell.send(()).unwrap();
            });
            drop(pool);
            assert_eq!(manycore::yield_now(), Some(Yield::Executed));
            assert_eq!(told.try_recv(), Ok(()));
        });
    }
}
