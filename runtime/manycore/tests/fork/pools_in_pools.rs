//! Calls from one pool into another and back: a thread that waits in one pool still serves the other.

use super::pools::pool;
use super::stolen::{Door, join_stolen};
use manycore::Pool;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc;
use std::thread;

#[test]
fn a_call_is_in_the_pool_that_it_names() {
    for (a, b) in [(1, 1), (1, 2), (2, 1), (3, 2)] {
        let (a, b) = (pool(a), pool(b));
        a.install(|| {
            assert!(a.current_thread_index().is_some() && b.current_thread_index().is_none());
            b.install(|| {
                assert!(a.current_thread_index().is_none() && b.current_thread_index().is_some());
                let back = a.install(|| a.current_thread_index());
                assert!(back.is_some());
                assert!(b.current_thread_index().is_some());
            });
            assert!(a.current_thread_index().is_some() && b.current_thread_index().is_none());
        });
    }
}

/// A tree of joins; each level runs in the next pool.
fn tree(pools: &[&Pool], depth: usize) -> u32 {
    if depth == 0 {
        return 1;
    }
    let pool = pools[depth % pools.len()];
    let (a, b) = pool.join(|| tree(pools, depth - 1), || tree(pools, depth - 1));
    a + b
}

fn scopes(pools: &[&Pool], depth: usize, leaves: &AtomicUsize) {
    if depth == 0 {
        leaves.fetch_add(1, Relaxed);
        return;
    }
    let pool = pools[depth % pools.len()];
    pool.scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|_| scopes(pools, depth - 1, leaves));
        }
    });
}

/// Calls of every kind; each level runs in the next pool.
fn mixed(pools: &[&Pool], depth: usize, leaves: &AtomicUsize) {
    if depth == 0 {
        leaves.fetch_add(1, Relaxed);
        return;
    }
    let pool = pools[depth % pools.len()];
    let next = || mixed(pools, depth - 1, leaves);
    match depth % 5 {
        0 => drop(pool.join(next, next)),
        1 => pool.scope(|scope| (0..2).for_each(|_| scope.spawn(|_| next()))),
        2 => pool.install(|| {
            next();
            next();
        }),
        3 => pool.in_place_scope(|scope| (0..2).for_each(|_| scope.spawn(|_| next()))),
        _ => pool.parallel_for(0..2, |_| next()),
    }
}

fn every_way(pools: &[&Pool]) {
    assert_eq!(tree(pools, 8), 256);
    let leaves = AtomicUsize::new(0);
    scopes(pools, 7, &leaves);
    mixed(pools, 7, &leaves);
    assert_eq!(leaves.into_inner(), 2 * 128);
}

#[test]
fn to_and_fro_and_around() {
    for sizes in [
        vec![1, 1],
        vec![2, 1],
        vec![2, 2],
        vec![3, 4],
        vec![1, 1, 1],
        vec![2, 2, 2],
        vec![1, 2, 3],
    ] {
        let pools: Vec<Pool> = sizes.iter().map(|&threads| pool(threads)).collect();
        let pools: Vec<&Pool> = pools.iter().collect();
        for _ in 0..10 {
            every_way(&pools);
        }
    }
}

/// Each thread starts from another pool of the ring, at the same time. Each waits for work in the next pool.
#[test]
fn many_threads_around_a_ring() {
    for sizes in [[1, 1, 1], [2, 2, 2], [2, 1, 3]] {
        let pools = sizes.map(pool);
        thread::scope(|scope| {
            for caller in 0..6 {
                let mut ring: Vec<&Pool> = pools.iter().collect();
                ring.rotate_left(caller % 3);
                if caller >= 3 {
                    ring.reverse();
                }
                scope.spawn(move || (0..5).for_each(|_| every_way(&ring)));
            }
        });
    }
}

/// Two pools of one thread each call the other. Each call can run only on a thread that waits for the other
/// pool.
#[test]
fn two_that_need_each_other() {
    let (a, b) = (pool(1), pool(1));
    for _ in 0..100 {
        let (in_a, in_b) = (Door::default(), Door::default());
        thread::scope(|scope| {
            scope.spawn(|| {
                a.install(|| {
                    in_a.open();
                    in_b.pass();
                    assert_eq!(b.join(|| 1, || 2), (1, 2));
                });
            });
            b.install(|| {
                in_b.open();
                in_a.pass();
                assert_eq!(a.join(|| 1, || 2), (1, 2));
            });
        });
    }
}

/// After a call to another pool, a worker is the same worker of its own pool.
#[test]
fn a_worker_comes_back_as_itself() {
    let (a, b) = (pool(2), pool(2));
    let (sender, receiver) = mpsc::channel();
    thread::scope(|_| {
        a.install(|| {
            join_stolen(
                &a,
                |_| (),
                |_| {
                    // This runs on worker 1 of `a`.
                    b.install(|| {
                        sender.send(a.install(|| a.current_thread_index())).unwrap();
                        let permit = a.in_place_scope(|_| a.current_thread_index());
                        sender.send(permit).unwrap();
                    });
                },
            );
        });
    });
    assert_eq!(receiver.try_recv(), Ok(Some(1)));
    assert_eq!(receiver.try_recv(), Ok(Some(1)));
}

/// A broadcast reaches a worker during its call to another pool, even if that worker broadcasts.
#[test]
fn broadcasts_from_within_another_pool() {
    let (a, b) = (pool(2), pool(2));
    for _ in 0..20 {
        let cast = || drop(b.install(|| a.broadcast(|context| context.index())));
        join_stolen(&a, |_| cast(), |_| ());
        join_stolen(&a, |_| (), |_| cast());
        join_stolen(&a, |_| cast(), |_| cast());
    }
}

/// The target of a broadcast waits in another pool for the thread that broadcasts.
#[test]
fn a_broadcast_to_a_worker_that_waits_for_it() {
    let (a, b) = (pool(2), pool(2));
    for _ in 0..20 {
        let calls = AtomicUsize::new(0);
        let cast = || drop(a.broadcast(|_| _ = calls.fetch_add(1, Relaxed)));
        let wait = || _ = join_stolen(&b, |_| (), |_| cast());
        join_stolen(&a, |_| (), |_| wait());
        join_stolen(&a, |_| wait(), |_| ());
        assert_eq!(calls.into_inner(), 4);
    }
}
