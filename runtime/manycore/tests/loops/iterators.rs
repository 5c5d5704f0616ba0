//! Parallel iterators give the standard library's results: the same items, each once, in order. Values are
//! dropped once, also after panics.

use crate::pools::pool;
use manycore::prelude::*;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

const LENGTHS: [usize; 9] = [0, 1, 2, 3, 64, 65, 1_000, 2_049, 30_000];

/// Runs `test` in pools of 1, 2 and 4 threads, for vectors of several lengths.
fn with_vectors(test: impl Fn(Vec<u64>) + Sync) {
    for threads in [1, 2, 4] {
        let pool = pool(threads);
        for n in LENGTHS {
            let items = (0..n as u64).map(|i| i.wrapping_mul(0x9E37_79B9) % 10_007);
            pool.install(|| test(items.collect()));
        }
    }
}

#[test]
fn adaptors_are_those_of_the_standard_library() {
    with_vectors(|items| {
        let mapped: Vec<u64> = items.par_iter().map(|x| x * 2).collect();
        assert_eq!(mapped, items.iter().map(|x| x * 2).collect::<Vec<_>>());
        let kept: Vec<u64> = items.par_iter().copied().filter(|x| x % 3 == 0).collect();
        let right: Vec<u64> = items.iter().copied().filter(|x| x % 3 == 0).collect();
        assert_eq!(kept, right);
        let both: Vec<u64> = (items.par_iter())
            .filter_map(|x| (x % 5 < 2).then_some(x + 1))
            .flat_map(|x| (0..x % 4).map(move |i| x + i))
            .collect();
        let right: Vec<u64> = (items.iter())
            .filter_map(|x| (x % 5 < 2).then_some(x + 1))
            .flat_map(|x| (0..x % 4).map(move |i| x + i))
            .collect();
        assert_eq!(both, right);
        let text: String = items.par_iter().map(|x| x.to_string()).collect();
        assert_eq!(
            text,
            items.iter().map(|x| x.to_string()).collect::<String>()
        );
        let numbered: Vec<_> = items.par_iter().enumerate().map(|(i, x)| (i, *x)).collect();
        let right: Vec<_> = items.iter().enumerate().map(|(i, x)| (i, *x)).collect();
        assert_eq!(numbered, right);
        let short = &items[..items.len() / 2];
        let pairs: Vec<_> = items.par_iter().zip(short).zip(0..items.len()).collect();
        let right: Vec<_> = items.iter().zip(short).zip(0..items.len()).collect();
        assert_eq!(pairs, right);
        let both: Vec<u64> = items.par_iter().chain(short).map(|x| x + 1).collect();
        let right = items.iter().chain(short).map(|x| x + 1);
        assert_eq!(both, right.collect::<Vec<_>>());
        let chunks: Vec<_> = items.par_chunks(7).enumerate().collect();
        assert_eq!(chunks, items.chunks(7).enumerate().collect::<Vec<_>>());
        let windows: Vec<_> = items.par_windows(3).take(10).collect();
        assert_eq!(windows, items.windows(3).take(10).collect::<Vec<_>>());
    });
}

#[test]
fn consumers_are_those_of_the_standard_library() {
    with_vectors(|items| {
        assert_eq!(items.par_iter().sum::<u64>(), items.iter().sum());
        assert_eq!(items.par_iter().count(), items.len());
        assert_eq!(items.par_iter().min(), items.iter().min());
        assert_eq!(items.par_iter().max(), items.iter().max());
        // Several items have the least key. Both libraries pick the same item, as its address shows.
        let key = |x: &&u64| **x % 10;
        let same = |a: Option<&u64>, b: Option<&u64>| {
            assert_eq!(a.map(std::ptr::from_ref), b.map(std::ptr::from_ref));
        };
        same(
            items.par_iter().min_by_key(key),
            items.iter().min_by_key(key),
        );
        same(
            items.par_iter().max_by_key(key),
            items.iter().max_by_key(key),
        );
        same(
            items.par_iter().find_first(|x| **x > 9_000),
            items.iter().find(|x| **x > 9_000),
        );
        let any = items.par_iter().find_any(|x| **x > 9_000);
        assert_eq!(any.is_some(), items.iter().any(|x| *x > 9_000));
        assert_eq!(items.par_iter().any(|x| *x == 77), items.contains(&77));
        assert_eq!(
            items.par_iter().all(|x| *x < 10_000),
            items.iter().all(|x| *x < 10_000)
        );
        let index = items.par_iter().position_any(|x| *x == 4_242);
        assert!(index.is_none_or(|index| items[index] == 4_242));
        assert_eq!(index.is_some(), items.contains(&4_242));
        // The operation is not commutative.
        let text = items
            .par_iter()
            .map(|x| x.to_string())
            .reduce(String::new, |a, b| a + &b);
        assert_eq!(
            text,
            items.iter().map(|x| x.to_string()).collect::<String>()
        );
        let (even, odd): (Vec<u64>, Vec<u64>) =
            items.clone().into_par_iter().partition(|x| x % 2 == 0);
        assert_eq!((even, odd), items.iter().copied().partition(|x| x % 2 == 0));
    });
}

#[test]
fn collections() {
    with_vectors(|items| {
        let squares = |x: &u64| (*x, x * x);
        let map: HashMap<u64, u64> = items.par_iter().map(squares).collect();
        assert_eq!(map, items.iter().map(squares).collect());
        let tree: BTreeMap<u64, u64> = map.clone().into_par_iter().collect();
        assert!(tree.iter().eq(map.iter().collect::<BTreeMap<_, _>>()));
        let set: HashSet<&u64> = items.par_iter().collect();
        assert_eq!(set.par_iter().count(), set.len());
        let good: Result<Vec<u64>, String> = items.par_iter().map(|x| Ok(*x)).collect();
        assert_eq!(good.as_ref(), Ok(&items));
        let some: Option<Vec<u64>> = items.par_iter().map(|x| (*x != 5).then_some(*x)).collect();
        assert_eq!(some.is_none(), items.contains(&5));
        let mut into = vec![1; 3];
        items.par_iter().copied().collect_into_vec(&mut into);
        assert_eq!(into, items);
    });
}

#[test]
fn mutable_ones_reach_every_item() {
    with_vectors(|items| {
        let mut changed = items.clone();
        changed.par_iter_mut().for_each(|x| *x += 1);
        changed
            .par_chunks_mut(3)
            .enumerate()
            .for_each(|(i, chunk)| chunk[0] += i as u64);
        let (mut left, n) = (changed.clone(), changed.len());
        left.par_iter_mut().zip(&items).for_each(|(x, y)| *x -= y);
        for (i, x) in left.iter().enumerate().take(n) {
            assert_eq!(*x, 1 + if i % 3 == 0 { i as u64 / 3 } else { 0 });
        }
    });
}

#[test]
fn ranges_of_integers() {
    let pool = pool(3);
    pool.install(|| {
        assert!(
            (-5_i8..=5)
                .into_par_iter()
                .collect::<Vec<_>>()
                .into_iter()
                .eq(-5..=5)
        );
        assert_eq!((i8::MIN..=i8::MAX).into_par_iter().count(), 256);
        assert_eq!(
            (u64::MAX - 9..=u64::MAX).into_par_iter().max(),
            Some(u64::MAX)
        );
        assert_eq!(
            (i64::MIN..i64::MIN + 5).into_par_iter().min(),
            Some(i64::MIN)
        );
        #[expect(clippy::reversed_empty_ranges, reason = "they are tested")]
        let none = (5..3_u32).into_par_iter().len() + (5..=4_isize).into_par_iter().len();
        assert_eq!(none, 0);
    });
    let all = catch_unwind(|| (i64::MIN..=i64::MAX).into_par_iter());
    assert!(all.is_err());
}

#[test]
fn sorts() {
    with_vectors(|items| {
        let mut right = items.clone();
        right.sort_unstable();
        let mut sorted = items.clone();
        sorted.par_sort_unstable();
        assert_eq!(sorted, right);
        // A stable sort keeps equal keys in the order of their numbers.
        let mut pairs: Vec<_> = items.iter().map(|x| x % 16).enumerate().collect();
        let mut right = pairs.clone();
        right.sort_by_key(|pair| pair.1);
        pairs.par_sort_by_key(|pair| pair.1);
        assert_eq!(pairs, right);
    });
}

/// A value that counts its drops.
struct Counted<'a>(u64, &'a AtomicUsize);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.1.fetch_add(1, Relaxed);
    }
}

#[test]
fn each_item_of_a_vector_is_dropped_once() {
    with_vectors(|items| {
        let n = items.len();
        let drops = AtomicUsize::new(0);
        let make = || {
            items
                .iter()
                .map(|x| Counted(*x, &drops))
                .collect::<Vec<_>>()
        };
        let dropped = || drops.swap(0, Relaxed);
        make().into_par_iter().for_each(drop);
        assert_eq!(dropped(), n);
        drop(make().into_par_iter());
        assert_eq!(dropped(), n);
        // A loop that ends early, and items that a shorter neighbour leaves.
        _ = make().into_par_iter().any(|x| x.0 > 100);
        assert_eq!(dropped(), n);
        make().into_par_iter().zip(0..n / 3).for_each(drop);
        assert_eq!(dropped(), n);
        drop(make().into_par_iter().take(n / 2).collect::<Vec<_>>());
        assert_eq!(dropped(), n);
        drop(
            make()
                .into_par_iter()
                .filter(|x| x.0 % 2 == 0)
                .collect::<Vec<_>>(),
        );
        assert_eq!(dropped(), n);
        // Errors.
        let result: Result<Vec<Counted<'_>>, u64> = (make().into_par_iter())
            .map(|x| if x.0 == 7 { Err(7) } else { Ok(x) })
            .collect();
        assert_eq!(result.is_err(), items.contains(&7));
        drop(result);
        assert_eq!(dropped(), n);
    });
}

/// After a panic, items that no thread has reached are dropped, and so are collected ones. No item is dropped
/// twice.
#[test]
fn panics_reach_the_caller_and_drop_each_item_once() {
    with_vectors(|items| {
        let n = items.len();
        let drops = AtomicUsize::new(0);
        let vector: Vec<_> = items.iter().map(|x| Counted(*x, &drops)).collect();
        let bad = n as u64 / 2;
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let numbered = vector.into_par_iter().enumerate();
            let kept = numbered.map(|(i, x)| match i as u64 == bad {
                true => resume_unwind(Box::new(bad)),
                false => x,
            });
            kept.collect::<Vec<_>>()
        }));
        match caught {
            Ok(kept) => assert_eq!((n, kept.len()), (0, 0)),
            Err(payload) => assert_eq!(payload.downcast_ref(), Some(&bad)),
        }
        assert_eq!(drops.load(Relaxed), n);

        let mut sorted: Vec<String> = items.iter().map(u64::to_string).collect();
        let compared = AtomicUsize::new(0);
        let panics = catch_unwind(AssertUnwindSafe(|| {
            sorted.par_sort_by(|a, b| {
                if compared.fetch_add(1, Relaxed) == 1_500 {
                    resume_unwind(Box::new("compared"));
                }
                a.cmp(b)
            });
        }));
        assert_eq!(panics.is_err(), compared.into_inner() > 1_500);
        // All items are there, in any order.
        sorted.sort();
        let mut right: Vec<String> = items.iter().map(u64::to_string).collect();
        right.sort();
        assert_eq!(sorted, right);
    });
}

/// A thread makes its state before its first item. No two threads use one state at once.
#[test]
fn states_are_made_when_they_are_needed() {
    for threads in [1, 2, 4] {
        let pool = pool(threads);
        for (items, least, most) in [(0, 0, 0), (1, 1, 1), (100_000, 1, threads)] {
            let made = AtomicUsize::new(0);
            pool.install(|| {
                let state = || {
                    made.fetch_add(1, Relaxed);
                    AtomicBool::new(false)
                };
                (0..items)
                    .into_par_iter()
                    .for_each_init(state, |is_used, i| {
                        assert!(!is_used.swap(true, Relaxed), "two threads have one state");
                        if i % 1_000 == 0 {
                            std::thread::yield_now();
                        }
                        is_used.store(false, Relaxed);
                    });
            });
            assert!((least..=most).contains(&made.into_inner()));
        }
    }
}

#[test]
fn they_nest() {
    let pool = pool(3);
    let sum: u64 = pool.install(|| {
        (0..100_u64)
            .into_par_iter()
            .map(|i| (0..i).into_par_iter().map(|j| i * j).sum::<u64>())
            .sum()
    });
    assert_eq!(
        sum,
        (0..100)
            .map(|i: u64| (0..i).map(|j| i * j).sum::<u64>())
            .sum()
    );
}
