//! Parallel iterators over the owned items of vectors, maps and sets.

use super::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use super::{SliceIter, SliceIterMut};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, VecDeque};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Iterates over the owned items of a vector.
#[derive(Debug)]
pub struct VecIter<T> {
    /// The memory. The length of this vector is 0, so that its destructor drops no items.
    _memory: Vec<T>,
    /// The first item in the memory. The pointer is mutable, because a destructor may write to its item.
    first: *mut T,
    len: usize,
    /// Whether a loop has begun. From then on the blocks own all items, because the loop makes or discards a block for
    /// each index.
    given: AtomicBool,
}

// SAFETY: a `&VecIter` only hands out items, each once, and the items may move to another thread.
unsafe impl<T: Send> Sync for VecIter<T> {}
// SAFETY: a `VecIter` owns its items, and `first` points to them.
unsafe impl<T: Send> Send for VecIter<T> {}

impl<T> VecIter<T> {
    /// Hands out the items of `block`.
    ///
    /// # Safety
    ///
    /// Each index is passed at most once.
    unsafe fn hand_out(&self, block: Range<usize>) -> Drained<T> {
        assert!(block.start <= block.end && block.end <= self.len);
        // Relaxed: the owner reads `given` when all threads have left the loop. Only the first blocks
        // write it, so that later its cache line stays shared.
        if !self.given.load(Relaxed) {
            self.given.store(true, Relaxed);
        }
        Drained {
            // SAFETY: within the vector.
            next: unsafe { self.first.add(block.start) },
            left: block.len(),
        }
    }
}

impl<T: Send> ParallelIterator for VecIter<T> {
    type Item = T;
    const EXACT: bool = true;
    const OWNS: bool = std::mem::needs_drop::<T>();

    fn indices(&self) -> usize {
        self.len
    }

    unsafe fn block(&self, block: Range<usize>) -> impl Iterator<Item = T> {
        // SAFETY: the caller's promise.
        unsafe { self.hand_out(block) }
    }

    unsafe fn discard(&self, block: Range<usize>) {
        // SAFETY: the caller's promise.
        drop(unsafe { self.hand_out(block) });
    }
}

impl<T: Send> IndexedParallelIterator for VecIter<T> {
    fn cut(&mut self, indices: Range<usize>) {
        assert!(indices.start <= indices.end && indices.end <= self.len);
        // If an item's destructor panics, the destructor of this iterator drops the items in its range.
        let behind = self.len - indices.end;
        self.len = indices.end;
        // SAFETY: within the vector, or at its end.
        let end = unsafe { self.first.add(indices.end) };
        // SAFETY: the items are in the vector, and no longer in this iterator's range.
        unsafe { drop_items(end, behind) };
        let before = self.first;
        // SAFETY: as above.
        self.first = unsafe { before.add(indices.start) };
        self.len = indices.len();
        // SAFETY: as above.
        unsafe { drop_items(before, indices.start) };
    }

    unsafe fn ordered(
        &self,
        block: Range<usize>,
    ) -> impl DoubleEndedIterator<Item = T> + ExactSizeIterator {
        // SAFETY: the caller's promise.
        unsafe { self.hand_out(block) }
    }
}

/// Drops `items` items. If a destructor panics, the other items are still dropped.
///
/// # Safety
///
/// The items are initialised, and the caller owns them.
unsafe fn drop_items<T>(first: *mut T, items: usize) {
    // SAFETY: the caller's promise.
    unsafe { std::ptr::slice_from_raw_parts_mut(first, items).drop_in_place() };
}

impl<T> Drop for VecIter<T> {
    fn drop(&mut self) {
        if !*self.given.get_mut() {
            // SAFETY: no item was handed out.
            unsafe { drop_items(self.first, self.len) };
        }
    }
}

/// Items that were handed out.
struct Drained<T> {
    next: *mut T,
    left: usize,
}

impl<T> Iterator for Drained<T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        if self.left == 0 {
            return None;
        }
        // SAFETY: `next` points to an item of this block, which is read once.
        let item = unsafe { self.next.read() };
        // SAFETY: this points to the next item, or to the end.
        self.next = unsafe { self.next.add(1) };
        self.left -= 1;
        Some(item)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<T> DoubleEndedIterator for Drained<T> {
    #[inline]
    fn next_back(&mut self) -> Option<T> {
        self.left = self.left.checked_sub(1)?;
        // SAFETY: this points to the last item left in this block, which is read once.
        Some(unsafe { self.next.add(self.left).read() })
    }
}

impl<T> ExactSizeIterator for Drained<T> {}

impl<T> Drop for Drained<T> {
    fn drop(&mut self) {
        // SAFETY: `self` still owns the items that were not read.
        unsafe { drop_items(self.next, self.left) };
    }
}

impl<T: Send> IntoParallelIterator for Vec<T> {
    type Iter = VecIter<T>;
    type Item = T;

    fn into_par_iter(self) -> VecIter<T> {
        let mut memory = self;
        let len = memory.len();
        // SAFETY: a length of 0 is valid for each vector. From here on the iterator owns the items.
        unsafe { memory.set_len(0) };
        VecIter {
            first: memory.as_mut_ptr(),
            len,
            _memory: memory,
            given: AtomicBool::new(false),
        }
    }
}

impl<'data, T: Sync> IntoParallelIterator for &'data Vec<T> {
    type Iter = SliceIter<'data, T>;
    type Item = &'data T;

    fn into_par_iter(self) -> SliceIter<'data, T> {
        self.as_slice().into_par_iter()
    }
}

impl<'data, T: Send> IntoParallelIterator for &'data mut Vec<T> {
    type Iter = SliceIterMut<'data, T>;
    type Item = &'data mut T;

    fn into_par_iter(self) -> SliceIterMut<'data, T> {
        self.as_mut_slice().into_par_iter()
    }
}

impl<T: Send, const N: usize> IntoParallelIterator for [T; N] {
    type Iter = VecIter<T>;
    type Item = T;

    fn into_par_iter(self) -> VecIter<T> {
        Vec::from(self).into_par_iter()
    }
}

impl<'data, T: Sync, const N: usize> IntoParallelIterator for &'data [T; N] {
    type Iter = SliceIter<'data, T>;
    type Item = &'data T;

    fn into_par_iter(self) -> SliceIter<'data, T> {
        self.as_slice().into_par_iter()
    }
}

impl<'data, T: Send, const N: usize> IntoParallelIterator for &'data mut [T; N] {
    type Iter = SliceIterMut<'data, T>;
    type Item = &'data mut T;

    fn into_par_iter(self) -> SliceIterMut<'data, T> {
        self.as_mut_slice().into_par_iter()
    }
}

/// Implements the conversion for collections. One thread first moves their items, or references to the items, into a
/// vector.
macro_rules! by_vector {
    ($([$($parameters:tt)*] $collection:ty => $item:ty;)*) => {$(
        impl<$($parameters)*> IntoParallelIterator for $collection {
            type Iter = VecIter<$item>;
            type Item = $item;

            fn into_par_iter(self) -> VecIter<$item> {
                self.into_iter().collect::<Vec<_>>().into_par_iter()
            }
        }
    )*};
}

by_vector! {
    [K: Send, V: Send, S] HashMap<K, V, S> => (K, V);
    ['data, K: Sync, V: Sync, S] &'data HashMap<K, V, S> => (&'data K, &'data V);
    ['data, K: Sync, V: Send, S] &'data mut HashMap<K, V, S> => (&'data K, &'data mut V);
    [K: Send, V: Send] BTreeMap<K, V> => (K, V);
    ['data, K: Sync, V: Sync] &'data BTreeMap<K, V> => (&'data K, &'data V);
    ['data, K: Sync, V: Send] &'data mut BTreeMap<K, V> => (&'data K, &'data mut V);
    [T: Send, S] HashSet<T, S> => T;
    ['data, T: Sync, S] &'data HashSet<T, S> => &'data T;
    [T: Send] BTreeSet<T> => T;
    ['data, T: Sync] &'data BTreeSet<T> => &'data T;
    [T: Send] BinaryHeap<T> => T;
    ['data, T: Sync] &'data BinaryHeap<T> => &'data T;
    [T: Send] VecDeque<T> => T;
    ['data, T: Sync] &'data VecDeque<T> => &'data T;
    ['data, T: Send] &'data mut VecDeque<T> => &'data mut T;
    [T: Send] Option<T> => T;
}
