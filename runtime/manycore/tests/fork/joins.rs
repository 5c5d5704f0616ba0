//! `join`: results, order, borrows, and the places where it may be called.

use super::partitioners::all;
use super::pools::pool;
use super::stolen::{Door, join_stolen};
use manycore::seam::BuilderExt;
use manycore::{BroadcastContext, FnContext, Pool, join, join_context};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

#[test]
fn results_come_in_their_places() {
    for threads in [1, 2, 4] {
        let pool = pool(threads);
        for i in 0..1_000 {
            let (a, b) = pool.join(|| i, || i.to_string());
            assert_eq!((a, b.as_str()), (i, i.to_string().as_str()));
        }
    }
}

fn fib(n: u32) -> u32 {
    if n < 2 {
        return n;
    }
    let (a, b) = join(|| fib(n - 1), || fib(n - 2));
    a + b
}

/// A recursion in which thieves may steal the larger half.
fn fib_from_below(n: u32) -> u32 {
    if n < 2 {
        return n;
    }
    let (a, b) = join(|| fib_from_below(n - 2), || fib_from_below(n - 1));
    a + b
}

#[test]
fn trees_of_either_lean() {
    for threads in [1, 2, 3, 4, 9] {
        let pool = pool(threads);
        assert_eq!(pool.install(|| fib(20)), 6765, "{threads} threads");
        assert_eq!(
            pool.install(|| fib_from_below(20)),
            6765,
            "{threads} threads"
        );
    }
    // This call runs in the global pool.
    assert_eq!(fib(16), 987);
    assert_eq!(fib_from_below(16), 987);
}

fn sort(items: &mut [u32], pool: &Pool) {
    if items.len() < 2 {
        return;
    }
    let pivot = items[items.len() / 2];
    let mut below = 0;
    for i in 0..items.len() {
        if items[i] < pivot {
            items.swap(i, below);
            below += 1;
        }
    }
    let mut equal = below;
    for i in below..items.len() {
        if items[i] == pivot {
            items.swap(i, equal);
            equal += 1;
        }
    }
    let (left, right) = items.split_at_mut(equal);
    let left = &mut left[..below];
    pool.join(|| sort(left, pool), || sort(right, pool));
}

/// Both closures borrow and write parts of the caller's data.
#[test]
fn borrowed_slices() {
    let mut random = fastrand::Rng::with_seed(1);
    for threads in [1, 2, 4] {
        let pool = pool(threads);
        for n in [0, 1, 2, 3, 100, 20_000] {
            let mut items: Vec<u32> = (0..n).map(|_| random.u32(..1_000)).collect();
            let mut expected = items.clone();
            expected.sort_unstable();
            sort(&mut items, &pool);
            assert_eq!(items, expected, "{n} items, {threads} threads");
        }
    }
}

#[test]
fn no_job_moves_on_a_pool_of_one() {
    let pool = pool(1);
    let here = thread::current().id();
    let (a, b) = pool.join_context(
        |a| (a.migrated(), thread::current().id()),
        |b| (b.migrated(), thread::current().id()),
    );
    assert_eq!((a, b), ((false, here), (false, here)));
}

/// While another thread is worker 0, a call runs entirely on another thread.
#[test]
fn a_call_that_was_handed_in_has_migrated() {
    // No outside thread takes part.
    let pool = Pool::builder().threads(2).dedicated(true).build().unwrap();
    let here = thread::current().id();
    let (moved, there) = (pool.join_context(|a| (a.migrated(), thread::current().id()), |_| ())).0;
    assert!(moved && there != here);
}

/// The second caller borrows a sleeping worker's permit. If no worker sleeps, it hands in the call.
#[test]
fn a_call_beside_another_knows_whether_it_has_migrated() {
    let pool = pool(2);
    let (seated, done) = (Door::default(), Door::default());
    thread::scope(|scope| {
        scope.spawn(|| {
            pool.install(|| {
                seated.open();
                done.pass();
            });
        });
        seated.pass();
        let here = thread::current().id();
        let (moved, there) =
            (pool.join_context(|a| (a.migrated(), thread::current().id()), |_| ())).0;
        done.open();
        assert_eq!(moved, there != here);
    });
}

#[test]
fn a_free_join_is_in_the_pool_that_calls_it() {
    let pools = [pool(1), pool(2), pool(3)];
    for pool in &pools {
        let inside = || pool.current_thread_index().is_some();
        let (a, b) = pool.install(|| join(inside, inside));
        assert!(a && b);
        let nested = || join_context(|_| inside(), |_| inside());
        assert_eq!(pool.join(nested, nested), ((true, true), (true, true)));
    }
}

#[test]
fn joins_in_loops_and_loops_in_joins() {
    for threads in [1, 2, 3] {
        let pool = pool(threads);
        for partitioner in all() {
            let loops = pool.with(partitioner);
            let sum = AtomicUsize::new(0);
            let add = |i| _ = sum.fetch_add(i, Relaxed);
            loops.parallel_for(0..40, |i| {
                // The free `join` uses the pool of the loop around it; another pool would serve as well.
                pool.join(|| add(i), || pool.join(|| add(i), || add(i)));
                join(|| add(i), || add(i));
            });
            assert_eq!(sum.swap(0, Relaxed), 5 * 780, "{partitioner}, {threads}");
            pool.join(
                || loops.parallel_for(0..40, add),
                || {
                    loops.parallel_for(0..40, |i| {
                        pool.join(|| add(i), || add(i));
                    })
                },
            );
            assert_eq!(sum.into_inner(), 3 * 780, "{partitioner}, {threads}");
        }
    }
}

/// A loop in a stolen closure is shared like any other.
#[test]
fn loops_in_stolen_closures() {
    let pool = pool(3);
    for partitioner in all() {
        let sum = AtomicUsize::new(0);
        let run = || {
            let loops = pool.with(partitioner);
            loops.parallel_for(0..100, |i| _ = sum.fetch_add(i, Relaxed));
        };
        join_stolen(&pool, |_| run(), |_| run());
        assert_eq!(sum.into_inner(), 2 * 4950, "{partitioner}");
    }
}

/// If there are more open joins than entries, the excess joins run in order.
#[test]
fn open_joins_run_out() {
    fn tree(pool: &Pool, depth: u32) -> u64 {
        if depth == 0 {
            return 1;
        }
        let (a, b) = pool.join(|| tree(pool, depth - 1), || tree(pool, depth - 1));
        a + b
    }
    for most in [0, 1, 2, 7, 64, 65] {
        for threads in [1, 2, 4] {
            let builder = Pool::builder().threads(threads).open_joins(most);
            let pool = builder.build().unwrap();
            for _ in 0..20 {
                assert_eq!(pool.install(|| tree(&pool, 10)), 1024);
            }
            // The chain is much longer than the number of entries.
            fn chain(pool: &Pool, left: u32) -> u32 {
                match left {
                    0 => 0,
                    _ => 1 + pool.join(|| chain(pool, left - 1), || ()).0,
                }
            }
            assert_eq!(pool.install(|| chain(&pool, 1_000)), 1_000);
            let order = std::sync::Mutex::new(vec![]);
            let say = |what| order.lock().unwrap().push(what);
            pool.join(|| say("a"), || say("b"));
            let mut order = order.into_inner().unwrap();
            if threads > 1 && most > 0 {
                order.sort_unstable();
            }
            assert_eq!(order, ["a", "b"]);
        }
    }
}

/// A context is data about its thread, and stays on it.
#[test]
fn contexts_are_not_send() {
    trait AmbiguousIf<Kind: ?Sized> {
        fn exists() {}
    }
    impl<T> AmbiguousIf<()> for T {}
    impl<T: Send> AmbiguousIf<dyn Send> for T {}
    impl<T: Sync> AmbiguousIf<dyn Sync> for T {}
    // These lines compile only if exactly one of the implementations applies.
    <FnContext as AmbiguousIf<_>>::exists();
    <BroadcastContext<'_> as AmbiguousIf<_>>::exists();
}
