//! Sorting, and mutable chunks.

use super::ChunksMut;
use crate::current_num_threads;
use crate::join;
use std::cmp::Ordering;

/// The number of pieces for each thread. With several pieces, a slow thread causes less delay.
const PIECES: usize = 4;
/// The least number of items that is worth sharing among threads.
const FEW: usize = 2_000;
/// The number of pairs of neighbours that are compared to estimate whether most items are in order.
const PROBES: usize = 256;
/// If at most this many pairs are in falling order, most items are in order.
const MOST_FALLS: usize = PROBES / 16;
/// If at least this many pairs are in falling order, most items are in reverse order.
const SURELY_FALLS: usize = PROBES - MOST_FALLS;

/// Parallel methods of slices.
///
/// Threads sort parts of the slice with the standard library's sorts. A slice that is sorted or reversed takes one
/// pass. If the comparison is not a total order, a sort may panic, as a sort of the standard library may, or leave the
/// items in any order. If some numbers are NaN, `partial_cmp` is not a total order, but [`f64::total_cmp`] is. After a
/// panic the slice has all its items, in any order.
pub trait ParallelSliceMut<T: Send> {
    /// Iterates over mutable chunks of `size` items. The last chunk may be shorter.
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

    /// Sorts the slice, and keeps the order of equal items.
    ///
    /// # Panics
    ///
    /// May panic if the order of `T` is not total; no item is lost.
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
    ///
    /// # Panics
    ///
    /// May panic if `compare` is not a total order; no item is lost.
    fn par_sort_by(&mut self, compare: impl Fn(&T, &T) -> Ordering + Sync);

    /// [`par_sort`](Self::par_sort) by a key.
    ///
    /// # Panics
    ///
    /// May panic if the order of the keys is not total; no item is lost.
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

    /// Sorts the slice in place. Equal items may change their order.
    ///
    /// # Panics
    ///
    /// May panic if the order of `T` is not total; no item is lost.
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
    ///
    /// # Panics
    ///
    /// May panic if `compare` is not a total order; no item is lost.
    fn par_sort_unstable_by(&mut self, compare: impl Fn(&T, &T) -> Ordering + Sync);

    /// [`par_sort_unstable`](Self::par_sort_unstable) by a key.
    ///
    /// # Panics
    ///
    /// May panic if the order of the keys is not total; no item is lost.
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

/// Returns the largest number of items that one thread sorts at once.
fn piece_of(items: usize) -> usize {
    match current_num_threads() {
        1 => items,
        threads => (items / (PIECES * threads)).max(FEW),
    }
}

/// Returns the length of the first run, in which `goes_on` is `true` for each pair of neighbours.
fn run_len<T>(items: &[T], goes_on: impl Fn(&T, &T) -> bool) -> usize {
    // The loop checks four pairs at a time, since they need only one bounds check.
    let mut len = 1;
    while let Some([a, b, c, d, e]) = items.get(len - 1..len + 4) {
        if !(goes_on(a, b) && goes_on(b, c) && goes_on(c, d) && goes_on(d, e)) {
            break;
        }
        len += 4;
    }
    while len < items.len() && goes_on(&items[len - 1], &items[len]) {
        len += 1;
    }
    len.min(items.len())
}

/// Returns the length of the sorted run at the beginning. If the run is falling and has at least `least` items, it is
/// reversed first. Equal items keep their order.
fn sort_first_run<T>(
    items: &mut [T],
    least: usize,
    compare: &impl Fn(&T, &T) -> Ordering,
) -> usize {
    let falls = |a: &T, b: &T| compare(b, a).is_lt();
    match items {
        [a, b, ..] if falls(a, b) => {}
        _ => return run_len(items, |a, b| !falls(a, b)),
    }
    // The run has no equal items, so the reversal keeps their order.
    let run = run_len(items, falls);
    if run < least {
        return 1;
    }
    items[..run].reverse();
    run
}

/// Sorts two parts, and merges them. The first part is the sorted run at the beginning, if that has at least
/// half of the items. Otherwise the first part is the first half.
fn stable<T: Send>(items: &mut [T], piece: usize, compare: &(impl Fn(&T, &T) -> Ordering + Sync)) {
    if size_of::<T>() == 0 {
        // All orders are the same.
        return;
    }
    if items.len() > piece {
        let half = items.len() / 2;
        let run = sort_first_run(items, half, compare);
        if run == items.len() {
            return;
        }
        let middle = run.max(half);
        let (left, right) = items.split_at_mut(middle);
        match run < half {
            true => {
                join(
                    || stable(left, piece, compare),
                    || stable(right, piece, compare),
                );
            }
            false => stable(right, piece, compare),
        }
        if compare(&right[0], &left[middle - 1]).is_ge() {
            return;
        }
    }
    // The standard library's sort finds the two parts as runs, and merges them.
    items.sort_by(compare);
}

/// Divides the items in two halves, and sorts both. Checks for sorted items first, because the division
/// would destroy their order.
fn unstable<T: Send>(
    items: &mut [T],
    piece: usize,
    compare: &(impl Fn(&T, &T) -> Ordering + Sync),
) {
    if size_of::<T>() == 0 {
        // All orders are the same.
        return;
    }
    let all = items.len();
    if all <= piece {
        return items.sort_unstable_by(compare);
    }
    if sort_first_run(items, all, compare) == all {
        return;
    }
    match falls_in(items, compare) {
        0..=MOST_FALLS => return almost_sorted(items, piece, compare),
        SURELY_FALLS.. => {
            items.reverse();
            return almost_sorted(items, piece, compare);
        }
        _ => {}
    }
    let (left, _, right) = items.select_nth_unstable_by(all / 2, compare);
    join(
        || unstable(left, piece, compare),
        || unstable(right, piece, compare),
    );
}

/// Compares [`PROBES`] evenly spread pairs of neighbours, and returns how many of them are in falling order.
fn falls_in<T>(items: &[T], compare: &impl Fn(&T, &T) -> Ordering) -> usize {
    let step = (items.len() / PROBES).max(1);
    let pairs = items.windows(2).step_by(step).take(PROBES);
    pairs
        .filter(|pair| compare(&pair[1], &pair[0]).is_lt())
        .count()
}

/// Sorts items that are almost in order. [`divide`] keeps their order, and a part that is in order takes one
/// pass.
fn almost_sorted<T: Send>(
    items: &mut [T],
    piece: usize,
    compare: &(impl Fn(&T, &T) -> Ordering + Sync),
) {
    let all = items.len();
    if all <= FEW || sort_first_run(items, all, compare) == all {
        return items.sort_unstable_by(compare);
    }
    let (at, moved) = divide(items, compare);
    let (left, right) = items.split_at_mut(at);
    let right = &mut right[1..];
    // Whether the items were not almost in order.
    let surprised = moved > all / 8 || left.len().min(right.len()) < all / 8;
    let sort = |part: &mut [T]| match surprised {
        true if part.len() <= piece => part.sort_unstable_by(compare),
        true => {
            let (left, _, right) = part.select_nth_unstable_by(part.len() / 2, compare);
            join(
                || unstable(left, piece, compare),
                || unstable(right, piece, compare),
            );
        }
        false => almost_sorted(part, piece, compare),
    };
    match all > piece {
        true => drop(join(|| sort(left), || sort(right))),
        false => {
            sort(left);
            sort(right);
        }
    }
}

/// Moves the items that are less than the middle item (the pivot) before it, and the others behind it. Returns
/// the pivot's new index and the number of exchanged pairs, which is 0 if the items were in order.
fn divide<T>(items: &mut [T], compare: &impl Fn(&T, &T) -> Ordering) -> (usize, usize) {
    items.swap(0, items.len() / 2);
    let (pivot, rest) = items.split_first_mut().expect("more than a few items");
    let (mut low, mut high, mut moved) = (0, rest.len(), 0);
    loop {
        while low < high && compare(&rest[low], pivot).is_lt() {
            low += 1;
        }
        while low < high && !compare(&rest[high - 1], pivot).is_lt() {
            high -= 1;
        }
        if low == high {
            break;
        }
        high -= 1;
        rest.swap(low, high);
        low += 1;
        moved += 1;
    }
    items.swap(0, low);
    (low, moved)
}
