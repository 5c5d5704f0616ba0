//! The settings of this crate's builder that the original lacks.

use rayon_core::{ThreadPool, ThreadPoolBuilder, ThreadPoolBuilderExt, join, scope};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::Duration;

#[test]
fn callers_take_part_or_hand_over() {
    let here = thread::current().id();
    let runs_on = |take_part| {
        let builder = ThreadPoolBuilder::new().num_threads(2);
        let pool = builder.callers_take_part(take_part).build().unwrap();
        pool.install(|| thread::current().id())
    };
    assert_eq!(runs_on(true), here);
    assert_ne!(runs_on(false), here);
}

#[test]
fn scopes_help_outer_ones_or_not() {
    let order = |alone| {
        let builder = ThreadPoolBuilder::new().num_threads(1);
        let pool = builder.scopes_alone(alone).build().unwrap();
        let order = Mutex::new(Vec::new());
        let note = |what| order.lock().unwrap().push(what);
        pool.install(|| {
            scope(|outer| {
                scope(|inner| {
                    inner.spawn(|_| note("inner"));
                    outer.spawn(|_| note("outer"));
                });
                note("end");
            });
        });
        order.into_inner().unwrap()
    };
    assert_eq!(order(false), ["outer", "inner", "end"]);
    assert_eq!(order(true), ["inner", "end", "outer"]);
}

/// Without a reserve, handlers see each thread once, whatever waits.
#[test]
fn handlers_of_a_pool_without_reserve_see_each_thread_once() {
    let (tell, starts) = mpsc::channel();
    let builder = ThreadPoolBuilder::new().num_threads(2);
    let pool = builder
        .start_handler(move |index| tell.send(index).unwrap())
        .reserve(false)
        .build()
        .unwrap();
    let other = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| {
        for _ in 0..20 {
            other.install(|| thread::sleep(Duration::from_millis(1)));
            join(|| (), || thread::sleep(Duration::from_millis(1)));
        }
    });
    drop(pool);
    // The handler is dropped with the last thread.
    let mut indices: Vec<_> = starts.iter().collect();
    indices.sort_unstable();
    assert_eq!(indices, [0, 1]);
}

/// The drop of a pool waits for no thread, and all spawned jobs run.
#[test]
fn dropping_a_pool_waits_for_nothing() {
    let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let (go, wait) = mpsc::channel::<()>();
    let (tell, told) = mpsc::channel();
    pool.spawn(move || {
        wait.recv().unwrap();
        tell.send(5).unwrap();
    });
    drop(pool);
    go.send(()).unwrap();
    assert_eq!(told.recv(), Ok(5));
}

/// The threads of a scoped pool end with the scope, even after a panic.
#[test]
fn a_scoped_pool_whose_user_panics() {
    let ended = AtomicUsize::new(0);
    let run = |panics: bool| {
        ThreadPoolBuilder::new().num_threads(3).build_scoped(
            |thread| {
                thread.run();
                ended.fetch_add(1, Relaxed);
            },
            |pool| {
                pool.spawn(|| thread::sleep(Duration::from_millis(5)));
                if panics {
                    resume_unwind(Box::new(7));
                }
                pool.install(|| join(|| 1, || 2))
            },
        )
    };
    assert_eq!(run(false).unwrap(), (1, 2));
    assert_eq!(ended.load(Relaxed), 3);
    let payload = catch_unwind(AssertUnwindSafe(|| run(true))).unwrap_err();
    assert_eq!(payload.downcast_ref(), Some(&7));
    assert_eq!(ended.load(Relaxed), 6);
}

/// One of the pool's own jobs may drop the pool, and so may a thread that is its worker.
#[test]
fn a_pool_is_dropped_anywhere() {
    let pool = |threads| ThreadPoolBuilder::new().num_threads(threads).build();
    let (tell, told) = mpsc::channel();
    for threads in [1, 3] {
        let (own, other) = (pool(threads).unwrap(), pool(threads).unwrap());
        let tell = tell.clone();
        let (give, given) = mpsc::channel::<ThreadPool>();
        own.spawn(move || {
            let own = given.recv().unwrap();
            own.spawn(move || tell.send(threads).unwrap());
            other.install(|| drop(own));
            drop(other);
        });
        give.send(own).unwrap();
    }
    assert_eq!(told.recv().unwrap() + told.recv().unwrap(), 4);
    let tell = tell.clone();
    thread::spawn(move || {
        let adopting = ThreadPoolBuilder::new().num_threads(2).use_current_thread();
        let pool = adopting.build().unwrap();
        pool.spawn(move || tell.send(5).unwrap());
        drop(pool);
    });
    assert_eq!(told.recv(), Ok(5));
}

/// Several callers mix all operations in one pool, as programs do.
#[test]
fn all_of_it_from_several_callers() {
    let pool = ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let sum = AtomicUsize::new(0);
    let add = |n| _ = sum.fetch_add(n, Relaxed);
    thread::scope(|callers| {
        for caller in 0..4 {
            let (pool, add) = (&pool, &add);
            callers.spawn(move || {
                for round in 0..50 {
                    pool.scope(|s| {
                        s.spawn(|s| {
                            join(|| add(1), || pool.install(|| add(1)));
                            s.spawn_broadcast(|_, context| {
                                assert_eq!(context.num_threads(), 3);
                                add(1);
                            });
                        });
                        s.spawn(|_| drop(rayon_core::broadcast(|_| add(1))));
                    });
                    pool.in_place_scope_fifo(|s| s.spawn_fifo(|_| add(1)));
                    if round % 10 == caller {
                        let caught = catch_unwind(AssertUnwindSafe(|| {
                            pool.join(|| resume_unwind(Box::new(round)), || add(1))
                        }));
                        let panic = caught.unwrap_err();
                        assert_eq!(panic.downcast_ref(), Some(&round));
                    } else {
                        add(1);
                    }
                }
            });
        }
    });
    assert_eq!(sum.into_inner(), 4 * 50 * (2 + 3 + 3 + 1 + 1));
}

/// A start handler also sees threads that replace waiting threads, under the indices of these. The awaited
/// job runs.
#[test]
fn pools_with_handlers_end_and_number_their_threads_below_n() {
    let seen = std::sync::Arc::new(Mutex::new(Vec::new()));
    let started = std::sync::Arc::clone(&seen);
    let builder = ThreadPoolBuilder::new().num_threads(2);
    let pool = builder
        .start_handler(move |index| started.lock().unwrap().push(index))
        .exit_handler(|_| ())
        .build()
        .unwrap();
    for _ in 0..10 {
        let (send, receive) = mpsc::channel();
        let spawns = || pool.spawn(move || send.send(7).unwrap());
        let (_, received) = pool.install(|| join(spawns, move || receive.recv()));
        assert_eq!(received, Ok(7));
    }
    drop(pool);
    let mut seen = seen.lock().unwrap().clone();
    seen.sort_unstable();
    assert!(seen.iter().all(|&index| index < 2), "{seen:?}");
    assert!(seen.contains(&0) && seen.contains(&1), "{seen:?}");
}
