//! Pools call each other in a circle, from several threads at once.

use super::live::ends;
use manycore::Pool;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;

const CALLERS: usize = 6;
const ROUNDS: usize = 10;

/// If `dedicated`, other threads run every call; otherwise callers take part.
fn pool(threads: usize, dedicated: bool) -> Pool {
    let builder = Pool::builder().threads(threads).dedicated(dedicated);
    builder.build().unwrap()
}

/// Makes `depth` nested calls, each into the next pool, and counts the leaves.
fn walk(pools: &[Pool], at: usize, depth: usize, leaves: &AtomicUsize) {
    if depth == 0 {
        leaves.fetch_add(1, SeqCst);
        return;
    }
    let pool = &pools[at % pools.len()];
    let next = || {
        assert!(pool.current_thread_index().is_some());
        walk(pools, at + 1, depth - 1, leaves);
        // Back in this pool, whatever happened to its permits during the call.
        assert!(pool.current_thread_index().is_some());
    };
    match (at + depth) % 5 {
        0 => drop(pool.join(next, || ())),
        1 => drop(pool.join(|| (), next)),
        2 => pool.scope(|scope| scope.spawn(|_| next())),
        3 => pool.parallel_for(0..1, |_| next()),
        _ => pool.install(next),
    }
}

#[test]
fn from_all_sides() {
    for sizes in [vec![1, 1], vec![1, 1, 1], vec![2, 1], vec![2, 2, 3]] {
        for dedicated in [false, true] {
            let sizes = sizes.clone();
            ends("a circle of pools", move || {
                let pools: Vec<_> = sizes.iter().map(|&size| pool(size, dedicated)).collect();
                let leaves = AtomicUsize::new(0);
                thread::scope(|scope| {
                    for caller in 0..CALLERS {
                        let (pools, leaves) = (&pools, &leaves);
                        scope.spawn(move || {
                            (0..ROUNDS).for_each(|_| walk(pools, caller, 8, leaves));
                        });
                    }
                });
                assert_eq!(leaves.into_inner(), CALLERS * ROUNDS);
            });
        }
    }
}

/// Each caller holds its own lock around the whole walk. If at most as many callers want it as the pool has
/// spare permits, they also hold a common lock.
#[test]
fn with_locks() {
    for dedicated in [false, true] {
        ends("a circle with locks", move || {
            let (a, b) = (pool(3, dedicated), pool(1, dedicated));
            let common = Mutex::new(0);
            thread::scope(|scope| {
                for _ in 0..3 {
                    scope.spawn(|| {
                        for _ in 0..50 {
                            a.install(|| {
                                let mut count = common.lock().unwrap();
                                // The other callers may block two permits of `a` meanwhile.
                                *count += b.install(|| a.install(|| b.join(|| 1, || 2).1)) / 2;
                            });
                        }
                    });
                }
            });
            assert_eq!(common.into_inner().unwrap(), 150);
        });
    }
}

/// Detached jobs start the walks, so that no outside caller can help.
#[test]
fn by_detached_jobs() {
    for threads in 1..=2 {
        ends("a circle of jobs", move || {
            let pools: Arc<[Pool]> = (0..3).map(|_| pool(threads, true)).collect();
            let leaves = Arc::new(AtomicUsize::new(0));
            let (sender, receiver) = std::sync::mpsc::channel();
            for job in 0..CALLERS * ROUNDS {
                let (inside, leaves) = (Arc::clone(&pools), Arc::clone(&leaves));
                let sender = sender.clone();
                pools[job % 3].spawn(move || {
                    walk(&inside, job % 3 + job / 3, 6, &leaves);
                    drop(inside);
                    sender.send(()).unwrap();
                });
            }
            drop(sender);
            assert_eq!(receiver.iter().count(), CALLERS * ROUNDS);
            assert_eq!(leaves.load(SeqCst), CALLERS * ROUNDS);
        });
    }
}

/// One thread's calls go back and forth between pools of dedicated threads. A call back runs on the waiting
/// thread, also out of loops, joins and scopes. Panics of the innermost call arrive too.
#[test]
fn calls_come_back_to_the_thread_that_waits() {
    fn down(pools: &[Pool], depth: usize, threads: &Mutex<Vec<thread::ThreadId>>) -> usize {
        if depth == 0 {
            std::panic::resume_unwind(Box::new(7_usize));
        }
        let pool = &pools[depth % pools.len()];
        let next = || {
            threads.lock().unwrap().push(thread::current().id());
            assert_eq!(pool.current_thread_index(), Some(0));
            down(pools, depth - 1, threads)
        };
        match depth % 4 {
            0 => pool.join(next, || ()).0,
            1 => pool.scope(|_| next()),
            2 => pool.map_reduce(0..1, || 0, |_| next(), |a, b| a + b),
            _ => pool.install(next),
        }
    }
    ends("calls to and fro", || {
        let pools: Vec<_> = (0..3).map(|_| pool(1, true)).collect();
        let depth = if cfg!(miri) { 6 } else { 60 };
        for _ in 0..if cfg!(miri) { 1 } else { 50 } {
            let threads = Mutex::new(Vec::new());
            let call = std::panic::AssertUnwindSafe(|| down(&pools, depth, &threads));
            let payload = std::panic::catch_unwind(call).unwrap_err();
            assert_eq!(*payload.downcast::<usize>().unwrap(), 7);
            assert_eq!(threads.into_inner().unwrap().len(), depth);
        }
    });
}
