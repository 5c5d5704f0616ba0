//! A mutable slice in parts.

use std::marker::PhantomData;
use std::ops::Range;

/// A mutable slice of which several threads hold disjoint parts.
#[derive(Debug)]
pub(crate) struct Parts<'data, T> {
    items: *mut T,
    len: usize,
    borrowed: PhantomData<&'data mut [T]>,
}

// SAFETY: a `&Parts` only hands out disjoint `&mut [T]` (`part`). They may move to another thread because `T:
// Send`.
unsafe impl<T: Send> Sync for Parts<'_, T> {}
// SAFETY: `Parts` stands for a `&mut [T]`, which is `Send` because `T: Send`.
unsafe impl<T: Send> Send for Parts<'_, T> {}

impl<'data, T> Parts<'data, T> {
    pub(crate) fn of(items: &'data mut [T]) -> Self {
        Self {
            items: items.as_mut_ptr(),
            len: items.len(),
            borrowed: PhantomData,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Keeps only the items of `range`.
    pub(crate) fn cut(&mut self, range: Range<usize>) {
        assert!(range.start <= range.end && range.end <= self.len);
        // SAFETY: the new pointer is within the slice.
        self.items = unsafe { self.items.add(range.start) };
        self.len = range.len();
    }

    /// The items of `range`.
    ///
    /// # Safety
    ///
    /// No two calls have an index in common.
    pub(crate) unsafe fn part(&self, range: Range<usize>) -> &'data mut [T] {
        assert!(range.start <= range.end && range.end <= self.len);
        // SAFETY: the part is within the slice, which is borrowed for 'data, and by contract no other part overlaps it.
        unsafe { std::slice::from_raw_parts_mut(self.items.add(range.start), range.len()) }
    }
}
