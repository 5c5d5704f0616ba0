//! `broadcast` runs a call once on each thread, whatever the thread is doing.

use super::pools::pool;
use super::stolen::{Door, join_stolen};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Barrier, mpsc};
use std::thread;

#[test]
fn results_are_in_the_order_of_the_permits() {
    for threads in [1, 2, 4, 9] {
        let pool = pool(threads);
        let check = || {
            let calls = pool.broadcast(|context| context.index());
            assert!(calls.into_iter().eq(0..threads));
        };
        for _ in 0..20 {
            check();
            pool.install(check);
            pool.join(check, check);
        }
    }
}

/// Every call waits for all others. If one thread ran two of them in turn, the broadcast would never end.
#[test]
fn all_at_once() {
    for threads in [2, 4] {
        let pool = pool(threads);
        for _ in 0..50 {
            let all = Barrier::new(threads);
            pool.broadcast(|_| _ = all.wait());
            pool.install(|| pool.broadcast(|_| _ = all.wait()));
        }
    }
}

#[test]
fn broadcasts_in_broadcasts() {
    for threads in [1, 2, 3] {
        let pool = pool(threads);
        let calls = AtomicUsize::new(0);
        pool.broadcast(|_| {
            pool.broadcast(|_| {
                calls.fetch_add(1, Relaxed);
                manycore::join(
                    || calls.fetch_add(1, Relaxed),
                    || calls.fetch_add(1, Relaxed),
                );
            });
        });
        assert_eq!(calls.into_inner(), 3 * threads * threads);
    }
}

/// Broadcasts start at once from both halves of a join and from outside threads.
#[test]
fn broadcasts_at_the_same_time() {
    for threads in [2, 3] {
        let pool = pool(threads);
        for _ in 0..20 {
            let calls = AtomicUsize::new(0);
            let cast = || drop(pool.broadcast(|_| calls.fetch_add(1, Relaxed)));
            thread::scope(|scope| {
                for _ in 0..3 {
                    scope.spawn(cast);
                }
                pool.join(cast, cast);
            });
            assert_eq!(calls.into_inner(), 5 * threads);
        }
    }
}

/// A busy thread runs its call after its job. A thread that waits for a stolen job runs it while it waits.
#[test]
fn busy_and_waiting_threads_come_too() {
    let pool = pool(3);
    for _ in 0..20 {
        let calls = AtomicUsize::new(0);
        // Through the broadcast, the thief waits for the owner of the join.
        join_stolen(
            &pool,
            |_| (),
            |_| drop(pool.broadcast(|_| calls.fetch_add(1, Relaxed))),
        );
        let busy = Arc::new(Door::default());
        for _ in 0..2 {
            let busy = Arc::clone(&busy);
            pool.spawn(move || busy.pass());
        }
        let held = Arc::clone(&busy);
        let opens = thread::spawn(move || {
            thread::sleep(std::time::Duration::from_millis(1));
            held.open();
        });
        pool.broadcast(|_| calls.fetch_add(1, Relaxed));
        opens.join().unwrap();
        assert_eq!(calls.into_inner(), 6);
    }
}

/// Without a caller, worker 0 is one of the pool's threads.
#[test]
fn a_detached_broadcast_reaches_every_thread() {
    for threads in [1, 2, 4] {
        for _ in 0..20 {
            let pool = pool(threads);
            let (sender, receiver) = mpsc::channel();
            let spoken = sender.clone();
            pool.spawn_broadcast(move |context| sender.send(context.index()).unwrap());
            // From inside: the thread with the seat reads its mail when it leaves, or earlier.
            pool.install(|| {
                manycore::spawn_broadcast(move |context| spoken.send(context.index()).unwrap());
            });
            let mut indices: Vec<_> = receiver.iter().take(2 * threads).collect();
            indices.sort_unstable();
            let expected: Vec<_> = (0..2 * threads).map(|i| i / 2).collect();
            assert_eq!(indices, expected);
        }
    }
}

#[test]
fn scopes_and_loops_in_broadcasts() {
    for threads in [1, 2, 3] {
        let pool = pool(threads);
        let sum = AtomicUsize::new(0);
        let add = |i| _ = sum.fetch_add(i, Relaxed);
        pool.broadcast(|_| {
            pool.scope(|scope| (0..10).for_each(|i| scope.spawn(move |_| add(i))));
            pool.parallel_for(0..10, add);
        });
        assert_eq!(sum.into_inner(), 90 * threads);
    }
}

/// A loop waits for its helper, which waits for the loop's caller.
#[test]
fn broadcasts_in_loops() {
    for threads in [1, 2, 3] {
        let pool = pool(threads);
        for partitioner in super::partitioners::all() {
            let calls = AtomicUsize::new(0);
            let run = || {
                pool.with(partitioner).parallel_for(0..6, |_| {
                    pool.broadcast(|_| _ = calls.fetch_add(1, Relaxed));
                });
            };
            run();
            pool.install(run);
            assert_eq!(calls.into_inner(), 12 * threads, "{partitioner}");
        }
    }
}
