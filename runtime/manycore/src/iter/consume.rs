//! The methods of every parallel iterator.

use super::adaptors::{
    Cloned, Copied, Filter, FilterMap, FlatMap, Flatten, Fold, Inspect, Map, MapInit, Update,
};
use super::blocks::{any_of, first_of, ranges, reduced, try_reduced};
use super::order::Chain;
use super::sealed::Sealed;
use super::tried::Tried;
use super::unwinding::one_of;
use super::{FromParallelIterator, IntoParallelIterator};
use std::cmp::Ordering;
use std::iter::{Product, Sum};
use std::ops::{ControlFlow, Range};
use std::sync::Mutex;

/// An iterator over items that several threads process, each thread one block of neighbours at a time.
///
/// Its consumers run in the pool that the calling thread is in, or else in the [global pool](crate::Pool::global). So
/// `pool.install(|| items.par_iter()...)` uses `pool`.
///
/// # Panics
///
/// If a closure panics, the consumer panics with the first panic once all threads have left the loop.
/// Owned items that no thread has taken are dropped, and so are collected items.
///
/// ```
/// use manycore::prelude::*;
///
/// let sum: i32 = [1, 2, 3].par_iter().map(|x| x * x).sum();
/// assert_eq!(sum, 14);
/// ```
///
/// Other crates cannot implement this trait, because `unsafe` code relies on its implementations.
///
/// ```compile_fail,E0277
/// use manycore::prelude::*;
/// use std::ops::Range;
///
/// struct Zeros;
///
/// impl ParallelIterator for Zeros {
///     type Item = u8;
///     const EXACT: bool = true;
///     const OWNS: bool = false;
///
///     fn indices(&self) -> usize {
///         3
///     }
///
///     unsafe fn block(&self, block: Range<usize>) -> impl Iterator<Item = u8> {
///         block.map(|_| 0)
///     }
///
///     unsafe fn discard(&self, _: Range<usize>) {}
/// }
/// ```
pub trait ParallelIterator: Sized + Sync + Sealed {
    /// The type of the items.
    type Item: Send;

    /// Whether each index has exactly one item.
    #[doc(hidden)]
    const EXACT: bool;

    /// Whether a block may consist of several parts. If so, `fold` is faster than `next`, which checks for each item
    /// which part the item is in.
    #[doc(hidden)]
    const IN_PARTS: bool = false;

    /// Whether the iterator owns items that must be dropped. If so, a loop passes each index exactly once, to
    /// [`block`](Self::block) or [`discard`](Self::discard).
    #[doc(hidden)]
    const OWNS: bool;

    /// Returns the number of indices.
    #[doc(hidden)]
    fn indices(&self) -> usize;

    /// Returns the items of `block`, in order. Calls no closure before the first `next`.
    ///
    /// # Safety
    ///
    /// Each index is passed at most once, to `block`, `discard` or `IndexedParallelIterator::ordered`.
    #[doc(hidden)]
    unsafe fn block(&self, block: Range<usize>) -> impl Iterator<Item = Self::Item>;

    /// Drops the owned items of `block`. If a destructor panics, the remaining items are still dropped.
    /// Calls no closure.
    ///
    /// # Safety
    ///
    /// As for [`block`](Self::block).
    #[doc(hidden)]
    unsafe fn discard(&self, block: Range<usize>);

    /// Calls `f` with each item.
    ///
    /// ```
    /// use manycore::prelude::*;
    ///
    /// (0..10).into_par_iter().for_each(|i| assert!(i < 10));
    /// ```
    fn for_each(self, f: impl Fn(Self::Item) + Sync) {
        ranges(&self, |range| {
            // SAFETY: a loop gives out each index once.
            unsafe { self.block(range) }.for_each(&f);
        });
    }

    /// [`for_each`](Self::for_each) with a state: see [`map_init`](Self::map_init).
    fn for_each_init<T: Send>(
        self,
        init: impl Fn() -> T + Sync,
        f: impl Fn(&mut T, Self::Item) + Sync,
    ) {
        self.map_init(init, f).for_each(|()| ());
    }

    /// Calls `f` with each item until a call returns an error or `None`, and returns that error or `None`. Other
    /// threads may have called `f` with later items by then.
    ///
    /// ```
    /// use manycore::prelude::*;
    ///
    /// let small = |i: u8| if i < 5 { Ok(()) } else { Err(i) };
    /// assert_eq!((0..5).into_par_iter().try_for_each(small), Ok(()));
    /// assert!((0..9).into_par_iter().try_for_each(small).is_err());
    /// assert_eq!((0..9).into_par_iter().try_for_each(|i| (i < 5).then_some(())), None);
    /// ```
    fn try_for_each<R: Tried<Output = ()> + Send>(self, f: impl Fn(Self::Item) -> R + Sync) -> R {
        let bad = any_of(&self, |item| match f(item).branch() {
            ControlFlow::Continue(()) => None,
            ControlFlow::Break(bad) => Some(bad),
        });
        bad.unwrap_or_else(|| R::good(()))
    }

    /// Reduces the values of neighbouring items with `reduce` until one is left. Ends early if an item or a result is
    /// an error or `None`, and returns that error or `None`. `reduce` must be associative.
    ///
    /// ```
    /// use manycore::prelude::*;
    ///
    /// let add = |a: u8, b: u8| a.checked_add(b);
    /// let sum = |n: u8| (0..n).into_par_iter().map(Some).try_reduce(|| 0, add);
    /// assert_eq!((sum(5), sum(100)), (Some(10), None));
    /// ```
    fn try_reduce<T: Send>(
        self,
        identity: impl Fn() -> T + Sync,
        reduce: impl Fn(T, T) -> Self::Item + Sync,
    ) -> Self::Item
    where
        Self::Item: Tried<Output = T>,
    {
        try_reduced(&self, reduce).unwrap_or_else(|| Self::Item::good(identity()))
    }

    /// Applies `map` to each item.
    fn map<R: Send, F: Fn(Self::Item) -> R + Sync>(self, map: F) -> Map<Self, F> {
        Map { base: self, map }
    }

    /// Applies `map` to each item and a state, such as scratch memory or a generator of random numbers. `init` makes at
    /// most one state for each participating thread, when one is first needed.
    ///
    /// ```
    /// use manycore::prelude::*;
    ///
    /// let lengths: Vec<usize> = (0..4_usize)
    ///     .into_par_iter()
    ///     .map_init(String::new, |text, i| {
    ///         text.clear();
    ///         text.extend(std::iter::repeat_n('x', i));
    ///         text.len()
    ///     })
    ///     .collect();
    /// assert_eq!(lengths, [0, 1, 2, 3]);
    /// ```
    fn map_init<T, R, D, F>(self, init: D, map: F) -> MapInit<Self, T, D, F>
    where
        T: Send,
        R: Send,
        D: Fn() -> T + Sync,
        F: Fn(&mut T, Self::Item) -> R + Sync,
    {
        MapInit {
            base: self,
            init,
            map,
            spare: Mutex::new(Vec::new()),
        }
    }

    /// Keeps items for which `keep` returns `true`.
    fn filter<F: Fn(&Self::Item) -> bool + Sync>(self, keep: F) -> Filter<Self, F> {
        Filter { base: self, keep }
    }

    /// Applies `map` to each item, and keeps the contents of the results that are not `None`.
    fn filter_map<R: Send, F: Fn(Self::Item) -> Option<R> + Sync>(
        self,
        map: F,
    ) -> FilterMap<Self, F> {
        FilterMap { base: self, map }
    }

    /// Maps each item to an ordinary iterator, and returns the items of these iterators. Each of them runs on one
    /// thread.
    ///
    /// ```
    /// use manycore::prelude::*;
    ///
    /// let all: Vec<u32> = (1..4_u32).into_par_iter().flat_map(|n| 0..n).collect();
    /// assert_eq!(all, [0, 0, 1, 0, 1, 2]);
    /// ```
    fn flat_map<R: IntoIterator<Item: Send>, F: Fn(Self::Item) -> R + Sync>(
        self,
        map: F,
    ) -> FlatMap<Self, F> {
        FlatMap { base: self, map }
    }

    /// [`flat_map`](Self::flat_map) under rayon's name.
    fn flat_map_iter<R, F>(self, map: F) -> FlatMap<Self, F>
    where
        R: IntoIterator<Item: Send>,
        F: Fn(Self::Item) -> R + Sync,
    {
        self.flat_map(map)
    }

    /// Returns the items inside each item. One thread iterates over each outer item.
    ///
    /// ```
    /// use manycore::prelude::*;
    ///
    /// let all: Vec<u8> = vec![vec![1, 2], vec![], vec![3]].into_par_iter().flatten().collect();
    /// assert_eq!(all, [1, 2, 3]);
    /// ```
    fn flatten(self) -> Flatten<Self>
    where
        Self::Item: IntoIterator<Item: Send>,
    {
        Flatten { base: self }
    }

    /// Calls `look` with a reference to each item, and passes the item on.
    fn inspect<F: Fn(&Self::Item) + Sync>(self, look: F) -> Inspect<Self, F> {
        Inspect { base: self, look }
    }

    /// Changes each item with `change`.
    ///
    /// ```
    /// use manycore::prelude::*;
    ///
    /// let longer: Vec<String> =
    ///     ["a", "b"].par_iter().map(|text| text.to_string()).update(|text| text.push('!')).collect();
    /// assert_eq!(longer, ["a!", "b!"]);
    /// ```
    fn update<F: Fn(&mut Self::Item) + Sync>(self, change: F) -> Update<Self, F> {
        Update { base: self, change }
    }

    /// Appends the items of `after`.
    ///
    /// ```
    /// use manycore::prelude::*;
    ///
    /// let all: Vec<u8> = (0..3_u8).into_par_iter().chain([7, 8]).collect();
    /// assert_eq!(all, [0, 1, 2, 7, 8]);
    /// ```
    fn chain<C: IntoParallelIterator<Item = Self::Item>>(self, after: C) -> Chain<Self, C::Iter> {
        Chain {
            first: self,
            second: after.into_par_iter(),
        }
    }

    /// Copies the item behind each reference.
    fn copied<'data, T: Copy + Send + Sync + 'data>(self) -> Copied<Self>
    where
        Self: ParallelIterator<Item = &'data T>,
    {
        Copied { base: self }
    }

    /// Clones the item behind each reference.
    fn cloned<'data, T: Clone + Send + Sync + 'data>(self) -> Cloned<Self>
    where
        Self: ParallelIterator<Item = &'data T>,
    {
        Cloned { base: self }
    }

    /// Divides the items into stretches of neighbours, and folds each stretch into one value. The result is a parallel
    /// iterator over these values, in order. A stretch is one block, that is, the items that a thread takes at once. If
    /// [`reduce`](Self::reduce) follows, neighbouring blocks of one thread are one stretch.
    ///
    /// ```
    /// use manycore::prelude::*;
    /// use std::collections::HashMap;
    ///
    /// let words = ["to", "be", "or", "not", "to", "be"];
    /// let counts = words
    ///     .par_iter()
    ///     .fold(HashMap::new, |mut counts, word| {
    ///         *counts.entry(*word).or_insert(0) += 1;
    ///         counts
    ///     })
    ///     .reduce(HashMap::new, |mut all, some| {
    ///         some.into_iter().for_each(|(word, count)| *all.entry(word).or_insert(0) += count);
    ///         all
    ///     });
    /// assert_eq!(counts["be"], 2);
    /// ```
    fn fold<A, D, F>(self, identity: D, fold: F) -> Fold<Self, D, F>
    where
        A: Send,
        D: Fn() -> A + Sync,
        F: Fn(A, Self::Item) -> A + Sync,
    {
        Fold {
            base: self,
            identity,
            fold,
        }
    }

    /// Reduces neighbours with `reduce` until one value is left. Returns `identity()` if there is no
    /// item. `reduce` must be associative, and need not be commutative.
    ///
    /// ```
    /// use manycore::prelude::*;
    ///
    /// let text = ["a", "b", "c"].par_iter().map(|text| text.to_string());
    /// assert_eq!(text.reduce(String::new, |left, right| left + &right), "abc");
    /// ```
    fn reduce(
        self,
        identity: impl Fn() -> Self::Item + Sync,
        reduce: impl Fn(Self::Item, Self::Item) -> Self::Item + Sync,
    ) -> Self::Item {
        self.reduce_with(reduce).unwrap_or_else(identity)
    }

    /// As [`reduce`](Self::reduce), but returns `None` if there is no item.
    fn reduce_with(
        self,
        reduce: impl Fn(Self::Item, Self::Item) -> Self::Item + Sync,
    ) -> Option<Self::Item> {
        let either = |left: Option<_>, right: Option<_>| match (left, right) {
            (Some(left), Some(right)) => Some(reduce(left, right)),
            (left, right) => left.or(right),
        };
        // SAFETY: a loop gives out each index once.
        let of_range = |range| unsafe { self.block(range) }.reduce(&reduce);
        reduced(&self, of_range, either).flatten()
    }

    /// Returns the sum of all items.
    ///
    /// If items are `Option`s or `Result`s, a `None` or an error ends only its own block. With
    /// [`try_reduce`](Self::try_reduce) it ends all.
    fn sum<S: Send + Sum<Self::Item> + Sum<S>>(self) -> S {
        // SAFETY: a loop gives out each index once.
        let of_range = |range| unsafe { self.block(range) }.sum::<S>();
        let add = |left, right| [left, right].into_iter().sum::<S>();
        let sum = reduced(&self, of_range, add);
        sum.unwrap_or_else(|| std::iter::empty::<S>().sum())
    }

    /// Returns the product of all items.
    ///
    /// If items are `Option`s or `Result`s, a `None` or an error ends only its own block. With
    /// [`try_reduce`](Self::try_reduce) it ends all.
    fn product<S: Send + Product<Self::Item> + Product<S>>(self) -> S {
        // SAFETY: a loop gives out each index once.
        let of_range = |range| unsafe { self.block(range) }.product::<S>();
        let multiply = |left, right| [left, right].into_iter().product::<S>();
        let product = reduced(&self, of_range, multiply);
        product.unwrap_or_else(|| std::iter::empty::<S>().product())
    }

    /// Returns the number of items.
    ///
    /// ```
    /// use manycore::prelude::*;
    ///
    /// assert_eq!((0..100).into_par_iter().filter(|i| i % 3 == 0).count(), 34);
    /// ```
    fn count(self) -> usize {
        self.map(|_| 1).sum()
    }

    /// Returns the least item, or the first of several equal ones.
    fn min(self) -> Option<Self::Item>
    where
        Self::Item: Ord,
    {
        self.min_by(Ord::cmp)
    }

    /// Returns the largest item, or the last of several equal ones.
    fn max(self) -> Option<Self::Item>
    where
        Self::Item: Ord,
    {
        self.max_by(Ord::cmp)
    }

    /// [`min`](Self::min) by a comparison.
    fn min_by(
        self,
        compare: impl Fn(&Self::Item, &Self::Item) -> Ordering + Sync,
    ) -> Option<Self::Item> {
        self.reduce_with(|a, b| match compare(&a, &b) {
            Ordering::Greater => one_of(b, a),
            _ => one_of(a, b),
        })
    }

    /// [`max`](Self::max) by a comparison.
    fn max_by(
        self,
        compare: impl Fn(&Self::Item, &Self::Item) -> Ordering + Sync,
    ) -> Option<Self::Item> {
        self.reduce_with(|a, b| match compare(&a, &b) {
            Ordering::Greater => one_of(a, b),
            _ => one_of(b, a),
        })
    }

    /// [`min`](Self::min) by a key. `key` is called once for each item.
    fn min_by_key<K: Ord + Send>(
        self,
        key: impl Fn(&Self::Item) -> K + Sync,
    ) -> Option<Self::Item> {
        let keyed = self.map(|item| (key(&item), item));
        let least = keyed.min_by(|a, b| a.0.cmp(&b.0));
        least.map(|(key, item)| one_of(item, key))
    }

    /// [`max`](Self::max) by a key. `key` is called once for each item.
    fn max_by_key<K: Ord + Send>(
        self,
        key: impl Fn(&Self::Item) -> K + Sync,
    ) -> Option<Self::Item> {
        let keyed = self.map(|item| (key(&item), item));
        let most = keyed.max_by(|a, b| a.0.cmp(&b.0));
        most.map(|(key, item)| one_of(item, key))
    }

    /// Whether `holds` returns `true` for any item. Once `holds` has returned `true`, further blocks are skipped.
    ///
    /// ```
    /// use manycore::prelude::*;
    ///
    /// assert!((0..1_000_000).into_par_iter().any(|i| i == 77));
    /// ```
    fn any(self, holds: impl Fn(Self::Item) -> bool + Sync) -> bool {
        self.find_map_any(|item| holds(item).then_some(()))
            .is_some()
    }

    /// Whether `holds` returns `true` for all items.
    fn all(self, holds: impl Fn(Self::Item) -> bool + Sync) -> bool {
        !self.any(|item| !holds(item))
    }

    /// Returns any item for which `holds` returns `true`.
    fn find_any(self, holds: impl Fn(&Self::Item) -> bool + Sync) -> Option<Self::Item> {
        self.find_map_any(|item| holds(&item).then_some(item))
    }

    /// Returns the content of any result of `map` that is not `None`.
    fn find_map_any<R: Send>(self, map: impl Fn(Self::Item) -> Option<R> + Sync) -> Option<R> {
        any_of(&self, map)
    }

    /// Returns the first item for which `holds` returns `true`.
    ///
    /// ```
    /// use manycore::prelude::*;
    ///
    /// assert_eq!((0..1_000).into_par_iter().find_first(|i| i % 7 == 6), Some(6));
    /// ```
    fn find_first(self, holds: impl Fn(&Self::Item) -> bool + Sync) -> Option<Self::Item> {
        self.find_map_first(|item| holds(&item).then_some(item))
    }

    /// Returns the content of the first result of `map` that is not `None`, in the items' order.
    fn find_map_first<R: Send>(self, map: impl Fn(Self::Item) -> Option<R> + Sync) -> Option<R> {
        first_of(&self, map)
    }

    /// Collects all items, in order.
    ///
    /// ```
    /// use manycore::prelude::*;
    ///
    /// let doubled: Vec<i32> = vec![1, 2, 3].into_par_iter().map(|x| 2 * x).collect();
    /// assert_eq!(doubled, [2, 4, 6]);
    /// let numbers: Result<Vec<i32>, _> = ["1", "x"].par_iter().map(|text| text.parse()).collect();
    /// assert!(numbers.is_err());
    /// ```
    fn collect<C: FromParallelIterator<Self::Item>>(self) -> C {
        C::from_par_iter(self)
    }

    /// Returns the items for which `left` returns `true`, and the other items, both in order.
    ///
    /// ```
    /// use manycore::prelude::*;
    ///
    /// let (even, odd): (Vec<_>, Vec<_>) = (0..5).into_par_iter().partition(|i| i % 2 == 0);
    /// assert_eq!((even, odd), (vec![0, 2, 4], vec![1, 3]));
    /// ```
    fn partition<A, B>(self, left: impl Fn(&Self::Item) -> bool + Sync) -> (A, B)
    where
        A: Default + Extend<Self::Item> + Send,
        B: Default + Extend<Self::Item> + Send,
    {
        let sides = self.map(|item| match left(&item) {
            true => (Some(item), None),
            false => (None, Some(item)),
        });
        let (mut a, mut b) = (A::default(), B::default());
        for (left, right) in sides.collect::<Vec<_>>() {
            a.extend(left);
            b.extend(right);
        }
        (a, b)
    }

    /// Divides pairs into a collection of the first components and a collection of the second components, both in
    /// order.
    ///
    /// ```
    /// use manycore::prelude::*;
    ///
    /// let (a, b): (Vec<_>, Vec<_>) = (0..3).into_par_iter().map(|i| (i, i * i)).unzip();
    /// assert_eq!((a, b), (vec![0, 1, 2], vec![0, 1, 4]));
    /// ```
    fn unzip<A, B, FromA, FromB>(self) -> (FromA, FromB)
    where
        Self: ParallelIterator<Item = (A, B)>,
        A: Send,
        B: Send,
        FromA: Default + Extend<A> + Send,
        FromB: Default + Extend<B> + Send,
    {
        self.collect::<Vec<_>>().into_iter().unzip()
    }
}
