//! Uses rayon and manycore in one program, and calls each within the other. With the original
//! rayon-core they are two runtimes with threads of their own. With `runtime/rayon-core` in its place
//! they have one global pool. `ci/rayon.sh` runs these tests with both crates.

use manycore::prelude::IntoParallelIterator as _;
use manycore::prelude::ParallelIterator as _;
use rayon::prelude as theirs;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

/// Whether rayon runs on `runtime/rayon-core`. If so, `ci/rayon.sh` sets the variable.
fn core_is_ours() -> bool {
    std::env::var_os("MANYCORE_TEST_CORE_IS_OURS").is_some()
}

fn ours_sum(n: usize) -> usize {
    (0..n).into_par_iter().map(|i| i % 7).sum()
}

fn theirs_sum(n: usize) -> usize {
    use theirs::*;
    IntoParallelIterator::into_par_iter(0..n)
        .map(|i| i % 7)
        .sum()
}

fn serial_sum(n: usize) -> usize {
    (0..n).map(|i| i % 7).sum()
}

/// A tree of joins by rayon and manycore in turn, with loops of both at the leaves. With the original
/// rayon-core, two runtimes that call each other in a circle deadlock, so only rayon calls manycore.
fn tree(depth: usize) -> usize {
    match depth {
        0 if core_is_ours() => ours_sum(1_000) + theirs_sum(1_000),
        0 => 2 * ours_sum(1_000),
        _ if depth % 2 == 0 && core_is_ours() => {
            let (a, b) = manycore::join(|| tree(depth - 1), || tree(depth - 1));
            a + b
        }
        _ => {
            let (a, b) = rayon::join(|| tree(depth - 1), || tree(depth - 1));
            a + b
        }
    }
}

#[test]
fn calls_nest_in_each_other() {
    let expected = (1 << 7) * 2 * serial_sum(1_000);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| assert_eq!(tree(7), expected));
        }
    });
}

#[test]
fn pools_of_both_call_each_other() {
    let theirs = rayon::ThreadPoolBuilder::new()
        .num_threads(3)
        .build()
        .unwrap();
    let ours = manycore::Pool::builder().threads(2).build().unwrap();
    let ran = AtomicUsize::new(0);
    for _ in 0..50 {
        theirs.scope(|outer| {
            for _ in 0..4 {
                outer.spawn(|_| {
                    ours.scope(|inner| {
                        for _ in 0..4 {
                            inner.spawn(|_| {
                                let sum = match core_is_ours() {
                                    true => theirs.install(|| theirs_sum(100)),
                                    false => ours_sum(100),
                                };
                                assert_eq!(sum, serial_sum(100));
                                ran.fetch_add(1, Relaxed);
                            });
                        }
                    });
                });
            }
        });
        assert_eq!(ours.broadcast(|_| theirs.broadcast(|_| ()).len()), [3, 3]);
    }
    assert_eq!(ran.into_inner(), 50 * 4 * 4);
}

#[test]
fn panics_pass_through_both() {
    for depth in 0..3 {
        let thrown = |x: usize| {
            if x == 77 {
                resume_unwind(Box::new(depth))
            } else {
                x
            }
        };
        let both = || {
            rayon::join(
                || {
                    manycore::scope(|s| {
                        s.spawn(|_| _ = (0..100).into_par_iter().map(thrown).sum::<usize>())
                    })
                },
                || theirs_sum(10),
            )
        };
        let payload = catch_unwind(AssertUnwindSafe(both)).unwrap_err();
        assert_eq!(payload.downcast_ref(), Some(&depth));
    }
    assert_eq!(tree(3), (1 << 3) * 2 * serial_sum(1_000));
}

/// Runs the sorts of both in a loop of rayon's.
#[test]
fn sorts_in_loops() {
    use theirs::*;
    let mut lists: Vec<Vec<u32>> = (0..20)
        .map(|list| (0..5_000).map(|i| (i * 7_919 + list) % 10_007).collect())
        .collect();
    IndexedParallelIterator::enumerate(lists.par_iter_mut()).for_each(|(i, list)| match i % 2 {
        0 => manycore::prelude::ParallelSliceMut::par_sort(&mut list[..]),
        _ => rayon::slice::ParallelSliceMut::par_sort(&mut list[..]),
    });
    assert!(lists.iter().all(|list| list.is_sorted()));
}

/// With our core rayon and manycore use the threads of one global pool.
#[test]
fn the_global_pool_is_one() {
    let threads = Mutex::new(HashSet::new());
    let note = || _ = threads.lock().unwrap().insert(thread::current().id());
    rayon::broadcast(|_| note());
    let theirs = threads.lock().unwrap().len();
    assert_eq!(theirs, rayon::current_num_threads());
    let inside = rayon::scope(|_| manycore::current_thread_index().is_some());
    assert_eq!(inside, core_is_ours());
    if core_is_ours() {
        assert_eq!(
            manycore::current_num_threads(),
            rayon::current_num_threads()
        );
        manycore::broadcast(|_| note());
    }
    assert_eq!(threads.into_inner().unwrap().len(), theirs);
}
