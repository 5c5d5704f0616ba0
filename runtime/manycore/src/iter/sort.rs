//! Sorting, and mutable chunks.

use super::ChunksMut;
use crate::current_num_threads;
use crate::join;
use std::cmp::Ordering;

/// Pieces a thread, so that one that is slow does not keep the others waiting.
const PIECES: usize = 4;
/// Items below which sharing does not pay.
const FEW: usize = 2_000;

/// What is done to slices in parallel.
///
/// A comparison that panics leaves the items in some order, all of them there.
pub trait ParallelSliceMut<T: Send> {
    /// Over mutable chunks of `size` items, the last of which may be shorter.
    ///
    /// # Panics
    ///
    /// If `size` is 0.
    ///
    /// ```
    /// use manycore::prelude::*;
    ///
    /// let mut items = [0; 5];
    /// items.par_chunks_mut(2).enumerate().for_each(|(i, chunk)| chunk.fill(i));
    /// assert_eq!(items, [0, 0, 1, 1, 2]);
    /// ```
    fn par_chunks_mut(&mut self, size: usize) -> ChunksMut<'_, T>;

    /// Sorts; equal items stay in order.
    ///
    /// ```
    /// use manycore::prelude::*;
    ///
    /// let mut items = [3, 1, 2];
    /// items.par_sort();
    /// assert_eq!(items, [1, 2, 3]);
    /// ```
    fn par_sort(&mut self)
    where
        T: Ord,
    {
        self.par_sort_by(T::cmp);
    }

    /// [`par_sort`](Self::par_sort) by a comparison.
    fn par_sort_by(&mut self, compare: impl Fn(&T, &T) -> Ordering + Sync);

    /// [`par_sort`](Self::par_sort) by a key.
    ///
    /// ```
    /// use manycore::prelude::*;
    ///
    /// let mut items = [-3, 1, -2];
    /// items.par_sort_by_key(|item| i32::abs(*item));
    /// assert_eq!(items, [1, -2, -3]);
    /// ```
    fn par_sort_by_key<K: Ord>(&mut self, key: impl Fn(&T) -> K + Sync) {
        self.par_sort_by(|a, b| key(a).cmp(&key(b)));
    }

    /// Sorts, in place; equal items may change places.
    ///
    /// ```
    /// use manycore::prelude::*;
    ///
    /// let mut items: Vec<u32> = (0..5_000).rev().collect();
    /// items.par_sort_unstable();
    /// assert!(items.is_sorted());
    /// ```
    fn par_sort_unstable(&mut self)
    where
        T: Ord,
    {
        self.par_sort_unstable_by(T::cmp);
    }

    /// [`par_sort_unstable`](Self::par_sort_unstable) by a comparison.
    fn par_sort_unstable_by(&mut self, compare: impl Fn(&T, &T) -> Ordering + Sync);

    /// [`par_sort_unstable`](Self::par_sort_unstable) by a key.
    fn par_sort_unstable_by_key<K: Ord>(&mut self, key: impl Fn(&T) -> K + Sync) {
        self.par_sort_unstable_by(|a, b| key(a).cmp(&key(b)));
    }
}

impl<T: Send> ParallelSliceMut<T> for [T] {
    #[track_caller]
    fn par_chunks_mut(&mut self, size: usize) -> ChunksMut<'_, T> {
        assert_ne!(size, 0, "chunks of no items");
        ChunksMut::of(self, size)
    }

    fn par_sort_by(&mut self, compare: impl Fn(&T, &T) -> Ordering + Sync) {
        stable(self, piece_of(self.len()), &compare);
    }

    fn par_sort_unstable_by(&mut self, compare: impl Fn(&T, &T) -> Ordering + Sync) {
        unstable(self, piece_of(self.len()), &compare);
    }
}

/// How many items one thread sorts at once.
fn piece_of(items: usize) -> usize {
    match current_num_threads() {
        1 => items,
        threads => (items / (PIECES * threads)).max(FEW),
    }
}

/// Sorts halves, and has the standard library's sort merge them: it finds the two runs.
fn stable<T: Send>(items: &mut [T], piece: usize, compare: &(impl Fn(&T, &T) -> Ordering + Sync)) {
    if items.len() > piece {
        let (left, right) = items.split_at_mut(items.len() / 2);
        join(
            || stable(left, piece, compare),
            || stable(right, piece, compare),
        );
    }
    items.sort_by(compare);
}

/// Divides by the median, and sorts both sides.
fn unstable<T: Send>(
    items: &mut [T],
    piece: usize,
    compare: &(impl Fn(&T, &T) -> Ordering + Sync),
) {
    if items.len() <= piece {
        return items.sort_unstable_by(compare);
    }
    let (left, _, right) = items.select_nth_unstable_by(items.len() / 2, compare);
    join(
        || unstable(left, piece, compare),
        || unstable(right, piece, compare),
    );
}
