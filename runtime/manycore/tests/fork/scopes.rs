//! Scopes: every job runs before the scope ends, in the promised order.

use super::pools::pool;
use super::stolen::Door;
use manycore::{Pool, Scope};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread::{self, ThreadId};

fn tree<'scope>(scope: &Scope<'scope>, depth: u32, leaves: &'scope AtomicUsize) {
    if depth == 0 {
        leaves.fetch_add(1, Relaxed);
        return;
    }
    for _ in 0..3 {
        scope.spawn(move |scope| tree(scope, depth - 1, leaves));
    }
}

#[test]
fn jobs_that_spawn_jobs() {
    for threads in [1, 2, 4] {
        let pool = pool(threads);
        let leaves = AtomicUsize::new(0);
        pool.scope(|scope| tree(scope, 6, &leaves));
        assert_eq!(leaves.into_inner(), 729, "{threads} threads");
    }
}

#[test]
fn jobs_write_what_they_borrow() {
    for threads in [1, 2, 4] {
        let pool = pool(threads);
        let mut items = vec![0; 1_000];
        let returned = pool.scope(|scope| {
            for (i, item) in items.iter_mut().enumerate() {
                scope.spawn(move |_| *item = i);
            }
            "the body's own"
        });
        assert_eq!(returned, "the body's own");
        assert!(items.iter().enumerate().all(|(i, &item)| i == item));
    }
}

/// Returns the order in which a pool of one thread runs jobs that are spawned as 0, 1, 2.
fn order(run: impl FnOnce(&Pool, &(dyn Fn(u32) + Sync))) -> Vec<u32> {
    let pool = pool(1);
    let order = Mutex::new(vec![]);
    run(&pool, &|i| order.lock().unwrap().push(i));
    order.into_inner().unwrap()
}

#[test]
fn a_scope_begins_the_newest_first() {
    let kept = order(|pool, say| {
        pool.scope(|scope| (0..3).for_each(|i| scope.spawn(move |_| say(i))));
    });
    assert_eq!(kept, [2, 1, 0]);
    let kept = order(|pool, say| {
        pool.install(|| {
            pool.in_place_scope(|scope| (0..3).for_each(|i| scope.spawn(move |_| say(i))))
        });
    });
    assert_eq!(kept, [2, 1, 0]);
}

/// The body may wait for the jobs, so the pool's own thread takes them from the queue.
#[test]
fn a_scope_in_place_in_a_pool_of_one_begins_in_order_of_arrival() {
    let kept = order(|pool, say| {
        pool.in_place_scope(|scope| (0..3).for_each(|i| scope.spawn(move |_| say(i))));
    });
    assert_eq!(kept, [0, 1, 2]);
}

#[test]
fn a_fifo_scope_begins_the_oldest_first() {
    let kept = order(|pool, say| {
        pool.scope_fifo(|scope| (0..3).for_each(|i| scope.spawn_fifo(move |_| say(i))));
    });
    assert_eq!(kept, [0, 1, 2]);
    let kept = order(|pool, say| {
        pool.in_place_scope_fifo(|scope| (0..3).for_each(|i| scope.spawn_fifo(move |_| say(i))));
    });
    assert_eq!(kept, [0, 1, 2]);
    // Jobs that a job spawns come after the jobs that already wait.
    let kept = order(|pool, say| {
        pool.scope_fifo(|scope| {
            for i in 0..3 {
                scope.spawn_fifo(move |scope| {
                    say(i);
                    scope.spawn_fifo(move |_| say(10 + i));
                });
            }
        });
    });
    assert_eq!(kept, [0, 1, 2, 10, 11, 12]);
}

/// An inner scope is done first: its jobs are the newest.
#[test]
fn fifo_scopes_in_fifo_scopes() {
    let kept = order(|pool, say| {
        pool.scope_fifo(|outer| {
            for i in 0..2 {
                outer.spawn_fifo(move |_| say(i));
            }
            pool.scope_fifo(|inner| {
                for i in 10..12 {
                    inner.spawn_fifo(move |_| say(i));
                }
            });
            say(20);
        });
    });
    assert_eq!(kept, [10, 11, 20, 0, 1]);
}

/// Each thread runs the jobs that another thread has spawned in the order of the spawns.
#[test]
fn fifo_jobs_of_one_thread_begin_in_order() {
    for threads in [2, 4] {
        let pool = pool(threads);
        for _ in 0..20 {
            let begun = Mutex::new(HashMap::<ThreadId, Vec<u32>>::new());
            pool.scope_fifo(|scope| {
                for i in 0..200 {
                    let begun = &begun;
                    scope.spawn_fifo(move |_| {
                        let mut begun = begun.lock().unwrap();
                        begun.entry(thread::current().id()).or_default().push(i);
                    });
                }
            });
            let begun = begun.into_inner().unwrap();
            assert!(begun.values().all(|jobs| jobs.is_sorted()), "{begun:?}");
            assert_eq!(begun.values().map(Vec::len).sum::<usize>(), 200);
        }
    }
}

#[test]
fn scopes_in_jobs_of_scopes() {
    for threads in [1, 2, 4] {
        let pool = pool(threads);
        let sum = AtomicUsize::new(0);
        pool.scope(|outer| {
            for _ in 0..10 {
                outer.spawn(|_| {
                    let mut parts = [0; 10];
                    manycore::scope(|inner| {
                        for part in &mut parts {
                            inner.spawn(|_| *part = manycore::join(|| 1, || 2).1);
                        }
                    });
                    sum.fetch_add(parts.iter().sum(), Relaxed);
                });
            }
        });
        assert_eq!(sum.into_inner(), 200);
    }
}

/// Scopes nest deeper than a waiting thread runs unrelated jobs.
#[test]
fn scopes_thirty_deep() {
    fn nest(pool: &Pool, depth: u32, leaves: &AtomicUsize) {
        if depth == 0 {
            leaves.fetch_add(1, Relaxed);
            return;
        }
        pool.scope(|scope| {
            scope.spawn(|_| nest(pool, depth - 1, leaves));
            if depth % 8 == 0 {
                scope.spawn(|_| nest(pool, depth - 1, leaves));
            }
        });
    }
    for threads in [1, 2, 4] {
        let pool = pool(threads);
        for _ in 0..20 {
            let leaves = AtomicUsize::new(0);
            nest(&pool, 30, &leaves);
            assert_eq!(leaves.into_inner(), 8);
        }
    }
}

/// The body runs on the calling thread, whichever thread is worker 0, and may use data bound to the calling
/// thread.
#[test]
fn in_place_means_here() {
    for threads in [1, 2, 3] {
        let pool = pool(threads);
        let check = || {
            let here = thread::current().id();
            let bound = Rc::new(7);
            let ran = AtomicUsize::new(0);
            let kept = pool.in_place_scope(|scope| {
                assert_eq!(thread::current().id(), here);
                for _ in 0..5 {
                    scope.spawn(|scope| {
                        ran.fetch_add(1, Relaxed);
                        scope.spawn(|_| _ = ran.fetch_add(1, Relaxed));
                    });
                }
                Rc::clone(&bound)
            });
            assert_eq!((*kept, ran.into_inner()), (7, 10));
        };
        check();
        pool.install(check);
        if threads > 1 {
            // Worker 0 is another thread, which does not help.
            let (seated, done) = (Door::default(), Door::default());
            thread::scope(|scope| {
                scope.spawn(|| {
                    pool.install(|| {
                        seated.open();
                        done.pass();
                    });
                });
                seated.pass();
                check();
                done.open();
            });
        }
    }
}

/// A scope may be passed to threads that are in no pool.
#[test]
fn strangers_spawn_into_a_scope() {
    for threads in [1, 2, 3] {
        let pool = pool(threads);
        let sum = AtomicUsize::new(0);
        pool.scope(|scope| {
            let sum = &sum;
            thread::scope(|threads| {
                for _ in 0..3 {
                    threads.spawn(|| {
                        for _ in 0..20 {
                            scope.spawn(move |_| _ = sum.fetch_add(1, Relaxed));
                        }
                    });
                }
            });
        });
        assert_eq!(sum.into_inner(), 60, "{threads} threads");
    }
}

#[test]
fn a_broadcast_into_a_scope_reaches_each_thread() {
    for threads in [1, 2, 4] {
        let pool = pool(threads);
        let by_index: Vec<_> = (0..threads).map(|_| AtomicUsize::new(0)).collect();
        let ids = Mutex::new(HashMap::<usize, ThreadId>::new());
        pool.scope(|scope| {
            for _ in 0..5 {
                scope.spawn_broadcast(|scope, context| {
                    assert_eq!(context.num_threads(), threads);
                    assert_eq!(manycore::current_thread_index(), Some(context.index()));
                    let me = thread::current().id();
                    let known = *ids.lock().unwrap().entry(context.index()).or_insert(me);
                    assert_eq!(known, me);
                    let count = &by_index[context.index()];
                    scope.spawn(|_| _ = count.fetch_add(1, Relaxed));
                });
            }
        });
        for count in by_index {
            assert_eq!(count.into_inner(), 5);
        }
    }
}

/// A million jobs at once in one scope take memory, not stack.
#[test]
fn many_jobs_in_one_scope() {
    let pool = pool(2);
    let sum = AtomicUsize::new(0);
    pool.scope(|scope| {
        (0..1_000_000).for_each(|_| scope.spawn(|_| _ = sum.fetch_add(1, Relaxed)));
    });
    assert_eq!(sum.into_inner(), 1_000_000);
}
