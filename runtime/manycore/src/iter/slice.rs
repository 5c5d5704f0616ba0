//! Parallel iterators over slices, chunks and windows.

use super::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use crate::loops::Parts;
use std::ops::Range;

/// Iterates over references to the items of a slice.
#[derive(Debug)]
pub struct SliceIter<'data, T>(&'data [T]);

impl<'data, T: Sync> ParallelIterator for SliceIter<'data, T> {
    type Item = &'data T;
    const EXACT: bool = true;
    const OWNS: bool = false;

    fn indices(&self) -> usize {
        self.0.len()
    }

    unsafe fn block(&self, block: Range<usize>) -> impl Iterator<Item = &'data T> {
        // SAFETY: the caller's promise.
        unsafe { self.ordered(block) }
    }

    unsafe fn discard(&self, _: Range<usize>) {}
}

impl<'data, T: Sync> IndexedParallelIterator for SliceIter<'data, T> {
    unsafe fn ordered(
        &self,
        block: Range<usize>,
    ) -> impl DoubleEndedIterator<Item = &'data T> + ExactSizeIterator {
        self.0[block].iter()
    }

    fn cut(&mut self, indices: Range<usize>) {
        self.0 = &self.0[indices];
    }
}

impl<'data, T: Sync> IntoParallelIterator for &'data [T] {
    type Iter = SliceIter<'data, T>;
    type Item = &'data T;

    fn into_par_iter(self) -> SliceIter<'data, T> {
        SliceIter(self)
    }
}

/// Iterates over mutable references to the items of a slice.
#[derive(Debug)]
pub struct SliceIterMut<'data, T>(Parts<'data, T>);

impl<'data, T: Send> ParallelIterator for SliceIterMut<'data, T> {
    type Item = &'data mut T;
    const EXACT: bool = true;
    const OWNS: bool = false;

    fn indices(&self) -> usize {
        self.0.len()
    }

    unsafe fn block(&self, block: Range<usize>) -> impl Iterator<Item = &'data mut T> {
        // SAFETY: the caller's promise.
        unsafe { self.ordered(block) }
    }

    unsafe fn discard(&self, _: Range<usize>) {}
}

impl<'data, T: Send> IndexedParallelIterator for SliceIterMut<'data, T> {
    unsafe fn ordered(
        &self,
        block: Range<usize>,
    ) -> impl DoubleEndedIterator<Item = &'data mut T> + ExactSizeIterator {
        // SAFETY: the caller's promise.
        unsafe { self.0.part(block) }.iter_mut()
    }

    fn cut(&mut self, indices: Range<usize>) {
        self.0.cut(indices);
    }
}

impl<'data, T: Send> IntoParallelIterator for &'data mut [T] {
    type Iter = SliceIterMut<'data, T>;
    type Item = &'data mut T;

    fn into_par_iter(self) -> SliceIterMut<'data, T> {
        SliceIterMut(Parts::of(self))
    }
}

/// Iterates over chunks of a slice.
#[derive(Debug)]
pub struct Chunks<'data, T> {
    items: &'data [T],
    size: usize,
}

/// Returns the item indices of chunks `block`, of `len` items in chunks of `size`.
fn of_chunks(block: Range<usize>, size: usize, len: usize) -> Range<usize> {
    // The last chunk may be shorter.
    let end = |chunk: usize| chunk.saturating_mul(size).min(len);
    end(block.start)..end(block.end)
}

impl<'data, T: Sync> ParallelIterator for Chunks<'data, T> {
    type Item = &'data [T];
    const EXACT: bool = true;
    const OWNS: bool = false;

    fn indices(&self) -> usize {
        self.items.len().div_ceil(self.size)
    }

    unsafe fn block(&self, block: Range<usize>) -> impl Iterator<Item = &'data [T]> {
        // SAFETY: the caller's promise.
        unsafe { self.ordered(block) }
    }

    unsafe fn discard(&self, _: Range<usize>) {}
}

impl<'data, T: Sync> IndexedParallelIterator for Chunks<'data, T> {
    unsafe fn ordered(
        &self,
        block: Range<usize>,
    ) -> impl DoubleEndedIterator<Item = &'data [T]> + ExactSizeIterator {
        self.items[of_chunks(block, self.size, self.items.len())].chunks(self.size)
    }

    fn cut(&mut self, indices: Range<usize>) {
        self.items = &self.items[of_chunks(indices, self.size, self.items.len())];
    }
}

/// Iterates over mutable chunks of a slice.
#[derive(Debug)]
pub struct ChunksMut<'data, T> {
    items: Parts<'data, T>,
    size: usize,
}

impl<'data, T: Send> ParallelIterator for ChunksMut<'data, T> {
    type Item = &'data mut [T];
    const EXACT: bool = true;
    const OWNS: bool = false;

    fn indices(&self) -> usize {
        self.items.len().div_ceil(self.size)
    }

    unsafe fn block(&self, block: Range<usize>) -> impl Iterator<Item = &'data mut [T]> {
        // SAFETY: the caller's promise.
        unsafe { self.ordered(block) }
    }

    unsafe fn discard(&self, _: Range<usize>) {}
}

impl<'data, T: Send> IndexedParallelIterator for ChunksMut<'data, T> {
    unsafe fn ordered(
        &self,
        block: Range<usize>,
    ) -> impl DoubleEndedIterator<Item = &'data mut [T]> + ExactSizeIterator {
        let items = of_chunks(block, self.size, self.items.len());
        // SAFETY: the caller's promise. Disjoint blocks of chunks have disjoint items.
        unsafe { self.items.part(items) }.chunks_mut(self.size)
    }

    fn cut(&mut self, indices: Range<usize>) {
        let items = of_chunks(indices, self.size, self.items.len());
        self.items.cut(items);
    }
}

impl<'data, T: Send> ChunksMut<'data, T> {
    pub(super) fn of(items: &'data mut [T], size: usize) -> Self {
        Self {
            items: Parts::of(items),
            size,
        }
    }
}

/// Iterates over windows of a slice, which overlap.
#[derive(Debug)]
pub struct Windows<'data, T> {
    items: &'data [T],
    size: usize,
}

impl<'data, T: Sync> ParallelIterator for Windows<'data, T> {
    type Item = &'data [T];
    const EXACT: bool = true;
    const OWNS: bool = false;

    fn indices(&self) -> usize {
        // `size` is at least 1. `len + 1` could overflow: a slice may have `usize::MAX` zero-sized items.
        self.items.len().saturating_sub(self.size - 1)
    }

    unsafe fn block(&self, block: Range<usize>) -> impl Iterator<Item = &'data [T]> {
        // SAFETY: the caller's promise.
        unsafe { self.ordered(block) }
    }

    unsafe fn discard(&self, _: Range<usize>) {}
}

impl<'data, T: Sync> IndexedParallelIterator for Windows<'data, T> {
    unsafe fn ordered(
        &self,
        block: Range<usize>,
    ) -> impl DoubleEndedIterator<Item = &'data [T]> + ExactSizeIterator {
        let (items, size) = (self.items, self.size);
        block.map(move |index| &items[index..index + size])
    }

    fn cut(&mut self, indices: Range<usize>) {
        self.items = match indices.is_empty() {
            true => &[],
            false => &self.items[indices.start..indices.end + (self.size - 1)],
        };
    }
}

/// Parallel iterators over parts of slices.
pub trait ParallelSlice<T: Sync> {
    /// Iterates over chunks of `size` items. The last chunk may be shorter.
    ///
    /// # Panics
    ///
    /// If `size` is 0.
    ///
    /// ```
    /// use manycore::prelude::*;
    ///
    /// let sums: Vec<i32> = [1, 2, 3].par_chunks(2).map(|chunk| chunk.iter().sum()).collect();
    /// assert_eq!(sums, [3, 3]);
    /// ```
    fn par_chunks(&self, size: usize) -> Chunks<'_, T>;

    /// Iterates over all windows of `size` neighbouring items.
    ///
    /// # Panics
    ///
    /// If `size` is 0.
    ///
    /// ```
    /// use manycore::prelude::*;
    ///
    /// assert!([1, 2, 5].par_windows(2).all(|pair| pair[0] < pair[1]));
    /// ```
    fn par_windows(&self, size: usize) -> Windows<'_, T>;
}

impl<T: Sync> ParallelSlice<T> for [T] {
    #[track_caller]
    fn par_chunks(&self, size: usize) -> Chunks<'_, T> {
        assert_ne!(size, 0, "chunks of no items");
        Chunks { items: self, size }
    }

    #[track_caller]
    fn par_windows(&self, size: usize) -> Windows<'_, T> {
        assert_ne!(size, 0, "windows of no items");
        Windows { items: self, size }
    }
}
