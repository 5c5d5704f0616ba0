//! Vectors, whose items are moved out; maps and sets, by way of a vector.

use super::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use super::{SliceIter, SliceIterMut};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, VecDeque};
use std::mem::ManuallyDrop;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Over the items of a vector.
///
/// If a closure panics, the items that no thread has come to are leaked.
#[derive(Debug)]
pub struct VecIter<T> {
    /// Its items are handed out, and are not the vector's any more.
    items: ManuallyDrop<Vec<T>>,
    /// The first of them: what is handed out is written to, when it is dropped.
    first: *mut T,
    /// How many have been.
    given: AtomicUsize,
}

// SAFETY: used as `&VecIter` only to hand out items, each once; they may move to another thread.
unsafe impl<T: Send> Sync for VecIter<T> {}
// SAFETY: it owns its items, and `first` points to them.
unsafe impl<T: Send> Send for VecIter<T> {}

impl<T: Send> ParallelIterator for VecIter<T> {
    type Item = T;
    const EXACT: bool = true;

    fn indices(&self) -> usize {
        self.items.len()
    }

    unsafe fn block(&self, block: Range<usize>) -> impl Iterator<Item = T> {
        assert!(block.start <= block.end && block.end <= self.items.len());
        // Relaxed: read by the owner, once all threads have left the loop.
        self.given.fetch_add(block.len(), Relaxed);
        Taken {
            // SAFETY: within the vector.
            next: unsafe { self.first.add(block.start) },
            left: block.len(),
        }
    }
}

impl<T: Send> IndexedParallelIterator for VecIter<T> {
    fn cut(&mut self, indices: usize) {
        self.items.truncate(indices);
    }
}

impl<T> Drop for VecIter<T> {
    fn drop(&mut self) {
        if *self.given.get_mut() > 0 {
            // Handed out, all of them or, after a panic, some: which ones nobody has noted.
            // SAFETY: no more than there are, and who has them drops them.
            unsafe { self.items.set_len(0) };
        }
        // SAFETY: this is its end.
        unsafe { ManuallyDrop::drop(&mut self.items) };
    }
}

/// Items that were moved out.
struct Taken<T> {
    next: *mut T,
    left: usize,
}

impl<T> Iterator for Taken<T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        if self.left == 0 {
            return None;
        }
        // SAFETY: one of the items, which is this one's, and is read once.
        let item = unsafe { self.next.read() };
        // SAFETY: to the next, or to the end.
        self.next = unsafe { self.next.add(1) };
        self.left -= 1;
        Some(item)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<T> Drop for Taken<T> {
    fn drop(&mut self) {
        let rest = std::ptr::slice_from_raw_parts_mut(self.next, self.left);
        // SAFETY: what was not read is this one's still.
        unsafe { rest.drop_in_place() };
    }
}

impl<T: Send> IntoParallelIterator for Vec<T> {
    type Iter = VecIter<T>;
    type Item = T;

    fn into_par_iter(self) -> VecIter<T> {
        let mut items = ManuallyDrop::new(self);
        VecIter {
            first: items.as_mut_ptr(),
            items,
            given: AtomicUsize::new(0),
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

/// Collections whose items are first moved, or pointed to, by a vector: one pass on one thread.
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
