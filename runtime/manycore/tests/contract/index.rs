//! On every thread that runs a pool's work, the free functions are that pool's.

use super::live::ends;
use super::pools::pool;
use manycore::Pool;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, mpsc};

/// On most machines the global pool has another number of threads.
const THREADS: usize = 3;

/// Checks that this thread is a member of the pool, and that the pool knows it.
fn assert_in(pool: &Pool) {
    let index = pool.current_thread_index();
    assert!(
        index.is_some_and(|index| index < pool.threads()),
        "{index:?}"
    );
    assert_eq!(manycore::current_thread_index(), index);
}

/// Checks every free function on this thread.
fn assert_all_in(pool: &Arc<Pool>) {
    let here = || assert_in(pool);
    here();
    manycore::join(here, here);
    manycore::join_context(|_| here(), |_| here());
    manycore::scope(|scope| {
        scope.spawn(|_| here());
        here();
    });
    manycore::in_place_scope(|scope| {
        scope.spawn(|_| here());
        here();
    });
    let indices = manycore::broadcast(|context| {
        here();
        assert_eq!(context.num_threads(), pool.threads());
        context.index()
    });
    assert!(indices.into_iter().eq(0..pool.threads()));
    assert!(manycore::current_thread_has_pending_tasks().is_some());
}

/// Runs this check by `spawn` and `spawn_broadcast`.
fn spawn_in(pool: &Arc<Pool>, sender: &mpsc::Sender<()>) {
    let (inside, to_caller) = (Arc::clone(pool), sender.clone());
    manycore::spawn(move || {
        assert_in(&inside);
        to_caller.send(()).unwrap();
    });
    let (inside, to_caller) = (Arc::clone(pool), sender.clone());
    manycore::spawn_broadcast(move |_| {
        assert_in(&inside);
        to_caller.send(()).unwrap();
    });
}

#[test]
fn in_an_installed_call() {
    for threads in 1..=THREADS {
        ends("free functions in install", move || {
            let pool = Arc::new(pool(threads));
            let (sender, receiver) = mpsc::channel();
            assert_eq!(pool.current_thread_index(), None);
            pool.install(|| {
                assert_all_in(&pool);
                spawn_in(&pool, &sender);
            });
            assert_eq!(pool.current_thread_index(), None);
            drop(sender);
            assert_eq!(receiver.iter().count(), 1 + threads);
        });
    }
}

#[test]
fn in_a_loop_s_body() {
    for threads in 1..=THREADS {
        ends("free functions in a loop", move || {
            let pool = Arc::new(pool(threads));
            let (sender, receiver) = mpsc::channel();
            // Short loops, which the caller may run alone, and long ones.
            for iterations in [1, 2, 40] {
                let ran = AtomicUsize::new(0);
                pool.parallel_for(0..iterations, |_| {
                    assert_all_in(&pool);
                    spawn_in(&pool, &sender);
                    ran.fetch_add(1, SeqCst);
                });
                assert_eq!(ran.into_inner(), iterations);
                let spawned = iterations * (1 + threads);
                assert_eq!(receiver.iter().take(spawned).count(), spawned);
            }
        });
    }
}

/// In a loop within a job, and in a loop within a call to another pool.
#[test]
fn in_nested_bodies() {
    for threads in 1..=THREADS {
        ends("free functions in nested bodies", move || {
            let (outer, inner) = (Arc::new(pool(2)), Arc::new(pool(threads)));
            outer.scope(|scope| {
                scope.spawn(|_| {
                    assert_all_in(&outer);
                    inner.parallel_for(0..8, |_| assert_all_in(&inner));
                    assert_all_in(&outer);
                });
            });
            outer.parallel_for(0..4, |_| {
                inner.install(|| assert_all_in(&inner));
                assert_all_in(&outer);
            });
        });
    }
}
