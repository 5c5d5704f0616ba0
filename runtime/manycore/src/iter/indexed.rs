//! Methods of parallel iterators with numbered items.

use super::adaptors::{Enumerate, Zip};
use super::order::{Rev, StepBy};
use super::{IntoParallelIterator, ParallelIterator};
use std::cmp::Ordering;
use std::ops::Range;

/// A parallel iterator with numbered items: the number of an item is its index.
///
/// ```
/// use manycore::prelude::*;
///
/// let (a, b) = ([1, 2, 3], [10, 20, 30]);
/// let sums: Vec<i32> = a.par_iter().zip(&b).map(|(a, b)| a + b).collect();
/// assert_eq!(sums, [11, 22, 33]);
/// ```
pub trait IndexedParallelIterator: ParallelIterator {
    /// Keeps the items of `indices`, which must exist, and drops the other items.
    #[doc(hidden)]
    fn cut(&mut self, indices: Range<usize>);

    /// As [`block`](ParallelIterator::block), but the items are available from both ends.
    ///
    /// # Safety
    ///
    /// As for [`block`](ParallelIterator::block).
    #[doc(hidden)]
    unsafe fn ordered(
        &self,
        block: Range<usize>,
    ) -> impl DoubleEndedIterator<Item = Self::Item> + ExactSizeIterator;

    /// Returns the number of items.
    fn len(&self) -> usize {
        self.indices()
    }

    /// Whether there is no item.
    fn is_empty(&self) -> bool {
        self.indices() == 0
    }

    /// Pairs each item with its number, from 0.
    fn enumerate(self) -> Enumerate<Self> {
        Enumerate {
            base: self,
            first: 0,
        }
    }

    /// Pairs the items of `self` and `other` that have the same number. Ends with the shorter of the two.
    fn zip<Z: IntoParallelIterator<Iter: IndexedParallelIterator>>(
        mut self,
        other: Z,
    ) -> Zip<Self, Z::Iter> {
        let mut other = other.into_par_iter();
        let indices = self.indices().min(other.indices());
        self.cut(0..indices);
        other.cut(0..indices);
        Zip { base: self, other }
    }

    /// Keeps the first `items` items, or all items if there are fewer.
    #[must_use]
    fn take(mut self, items: usize) -> Self {
        let indices = self.indices().min(items);
        self.cut(0..indices);
        self
    }

    /// Skips the first `items` items. Adaptors before this one do not process them.
    ///
    /// ```
    /// use manycore::prelude::*;
    ///
    /// let (items, mut late) = ([3, 1, 2], Vec::new());
    /// items.par_iter().enumerate().skip(1).collect_into_vec(&mut late);
    /// assert_eq!(late, [(1, &1), (2, &2)]);
    /// ```
    #[must_use]
    fn skip(mut self, items: usize) -> Self {
        let indices = self.indices();
        self.cut(indices.min(items)..indices);
        self
    }

    /// Reverses the order of the items.
    ///
    /// ```
    /// use manycore::prelude::*;
    ///
    /// let back: Vec<u8> = (0..4_u8).into_par_iter().rev().collect();
    /// assert_eq!(back, [3, 2, 1, 0]);
    /// ```
    fn rev(self) -> Rev<Self> {
        Rev { base: self }
    }

    /// Keeps the first item, and then every `step`th item.
    ///
    /// # Panics
    ///
    /// If `step` is 0.
    ///
    /// ```
    /// use manycore::prelude::*;
    ///
    /// let thirds: Vec<u8> = (0..8_u8).into_par_iter().step_by(3).collect();
    /// assert_eq!(thirds, [0, 3, 6]);
    /// ```
    #[track_caller]
    fn step_by(self, step: usize) -> StepBy<Self> {
        assert_ne!(step, 0, "steps of no items");
        StepBy { base: self, step }
    }

    /// Returns the number of the first item for which `holds` returns `true`.
    ///
    /// ```
    /// use manycore::prelude::*;
    ///
    /// assert_eq!([1, 5, 2, 5].par_iter().position_first(|&i| i == 5), Some(1));
    /// ```
    fn position_first(self, holds: impl Fn(Self::Item) -> bool + Sync) -> Option<usize> {
        let numbered = self.enumerate();
        numbered.find_map_first(|(index, item)| holds(item).then_some(index))
    }

    /// Compares `self` and `other` by the first pair of items that differ. If no pair differs, the shorter iterator is
    /// less.
    ///
    /// ```
    /// use manycore::prelude::*;
    /// use std::cmp::Ordering;
    ///
    /// assert_eq!([1, 2, 9].par_iter().cmp(&[1, 3]), Ordering::Less);
    /// ```
    fn cmp<Z>(self, other: Z) -> Ordering
    where
        Z: IntoParallelIterator<Item = Self::Item, Iter: IndexedParallelIterator>,
        Self::Item: Ord,
    {
        let other = other.into_par_iter();
        let lengths = self.len().cmp(&other.len());
        let differ = self
            .zip(other)
            .find_map_first(|(a, b)| Some(a.cmp(&b)).filter(|order| order.is_ne()));
        differ.unwrap_or(lengths)
    }

    /// Whether `self` and `other` have the same number of items, and all items are equal.
    ///
    /// ```
    /// use manycore::prelude::*;
    ///
    /// assert!([1, 2].par_iter().eq(&[1, 2]));
    /// assert!(!(0..3).into_par_iter().eq(0..4));
    /// ```
    fn eq<Z>(self, other: Z) -> bool
    where
        Z: IntoParallelIterator<Iter: IndexedParallelIterator>,
        Self::Item: PartialEq<Z::Item>,
    {
        let other = other.into_par_iter();
        self.len() == other.len() && self.zip(other).all(|(a, b)| a == b)
    }

    /// Returns the number of any item for which `holds` returns `true`.
    fn position_any(self, holds: impl Fn(Self::Item) -> bool + Sync) -> Option<usize> {
        let numbered = self.enumerate();
        numbered.find_map_any(|(index, item)| holds(item).then_some(index))
    }

    /// Replaces the items of `target` with the items of `self`. The vector keeps its memory if that is large enough.
    ///
    /// ```
    /// use manycore::prelude::*;
    ///
    /// let mut squares = Vec::new();
    /// (0..3).into_par_iter().map(|i| i * i).collect_into_vec(&mut squares);
    /// assert_eq!(squares, [0, 1, 4]);
    /// ```
    fn collect_into_vec(self, target: &mut Vec<Self::Item>) {
        target.clear();
        super::collect::into_vec(self, target);
    }
}
