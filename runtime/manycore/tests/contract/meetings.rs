//! Items of one loop that wait for each other, and scopes whose bodies wait for their jobs.

use super::live::ends;
use manycore::Pool;
use manycore::elastic::Allotment;
use manycore::prelude::*;
use manycore::seam::BuilderExt;
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Barrier, mpsc};

/// All items of a loop meet, in every run, if there are at most as many items as threads.
#[test]
fn items_of_a_loop_meet() {
    for threads in 2..=4 {
        let pool = Pool::builder().threads(threads).build().unwrap();
        for items in 2..=threads {
            let barrier = Barrier::new(items);
            for _ in 0..if cfg!(miri) { 2 } else { 300 } {
                pool.parallel_for(0..items, |_| _ = barrier.wait());
            }
            for _ in 0..if cfg!(miri) { 2 } else { 100 } {
                pool.install(|| (0..items).into_par_iter().for_each(|_| _ = barrier.wait()));
            }
        }
    }
}

/// This holds also if the pool has one thread, as on a machine with one CPU.
#[test]
fn the_body_of_a_scope_in_place_receives_from_its_jobs() {
    for threads in 1..=2 {
        let pool = Pool::builder().threads(threads).build().unwrap();
        let sum = pool.in_place_scope(|scope| {
            let (send, receive) = mpsc::channel();
            for number in 0..20 {
                let send = send.clone();
                scope.spawn(move |_| send.send(number).unwrap());
            }
            drop(send);
            receive.iter().sum::<u32>()
        });
        assert_eq!(sum, 190);
    }
}

/// The same in pools whose allotment allows one core: they behave like a pool of one thread.
#[test]
fn the_body_of_a_scope_in_place_receives_beyond_the_allotment() {
    for case in 0..16_usize {
        ends(&format!("case {case}"), move || {
            let allotment = Allotment::new(if case & 8 > 0 { 2 } else { 1 });
            let builder = Pool::builder().threads(2 + case % 2).follow(&allotment);
            let pool = builder.dedicated(case & 2 > 0).lazy(case & 4 > 0);
            let pool = pool.build().unwrap();
            allotment.set(1);
            for _ in 0..20 {
                let received = pool.in_place_scope(|scope| {
                    let (send, receive) = mpsc::channel();
                    scope.spawn(move |_| send.send(7).unwrap());
                    receive.recv()
                });
                assert_eq!(received, Ok(7));
            }
        });
    }
}

/// A pool that starts no thread besides its own has none for the jobs: the body's thread runs them at the end.
#[test]
fn a_scope_in_place_ends_beyond_the_allotment_of_a_pool_without_reserve() {
    for threads in 1..=3 {
        ends(&format!("{threads} threads"), move || {
            let builder = Pool::builder().threads(threads).reserve(false);
            let pool = builder.follow(&Allotment::new(1)).build().unwrap();
            let ran = AtomicUsize::new(0);
            pool.in_place_scope(|scope| {
                (0..5).for_each(|_| scope.spawn(|_| _ = ran.fetch_add(1, Relaxed)));
            });
            assert_eq!(ran.into_inner(), 5);
        });
    }
}

/// Random sequences of quick runs of a loop. After each sequence, all iterations of one run meet. Each
/// iteration runs once, and the sums are right, also after a panic.
#[test]
fn items_meet_whatever_the_loop_was_before() {
    for seed in 0..if cfg!(miri) { 2 } else { 40 } {
        ends("a loop whose items meet after quick runs", move || {
            let mut random = fastrand::Rng::with_seed(seed);
            let threads = random.usize(2..=6);
            let builder = Pool::builder().threads(threads);
            let pool = builder.reserve(random.u8(0..4) > 0).build().unwrap();
            let items = random.usize(2..=threads);
            let (outer, inner) = match random.bool() && items >= 4 {
                true => (2, items / 2),
                false => (1, items),
            };
            let panics = random.u8(0..4) == 0;
            let runs: Vec<AtomicUsize> = (0..items).map(|_| AtomicUsize::new(0)).collect();
            // One place in the program, so that the pool takes all calls for one loop.
            let call = |body: &(dyn Fn(usize) + Sync)| {
                let inner = |from: usize| {
                    let item = |index: usize| {
                        runs[from + index].fetch_add(1, Relaxed);
                        body(from + index);
                        from + index
                    };
                    pool.map_reduce(0..inner, || 0, item, |a, b| a + b)
                };
                match outer {
                    1 => inner(0),
                    _ => {
                        pool.map_reduce(0..outer, || 0, |at| inner(at * (items / 2)), |a, b| a + b)
                    }
                }
            };
            let items = outer * inner;
            let mut calls = 0;
            for _ in 0..3 {
                for _ in 0..random.usize(0..300) {
                    assert_eq!(call(&|index| _ = black_box(index)), items * (items - 1) / 2);
                    calls += 1;
                }
                let barrier = Barrier::new(items);
                let meets = |index: usize| {
                    barrier.wait();
                    assert!(
                        !panics || index != items - 1,
                        "the last item panics on purpose"
                    );
                };
                let result = catch_unwind(AssertUnwindSafe(|| call(&meets)));
                assert_eq!(result.is_err(), panics);
                assert!(panics || result.is_ok_and(|sum| sum == items * (items - 1) / 2));
                calls += 1;
            }
            assert!(runs[..items].iter().all(|runs| runs.load(Relaxed) == calls));
        });
    }
}
