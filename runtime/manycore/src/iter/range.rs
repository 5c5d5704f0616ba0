//! Ranges of integers.

use super::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use std::ops::{Range, RangeInclusive};

/// The integer types whose ranges become parallel iterators: all except the 128-bit ones.
pub trait Integer: Copy + Send + Sync + PartialOrd + sealed::SealedInteger {
    /// Returns `self + steps`, which must be within the type.
    #[doc(hidden)]
    fn forward(self, steps: usize) -> Self;

    /// Returns `end - self`, or `None` if that is more than `usize::MAX`. `end` must be at least `self`.
    #[doc(hidden)]
    fn steps_to(self, end: Self) -> Option<usize>;
}

mod sealed {
    pub trait SealedInteger {}
}

macro_rules! integers {
    ($($integer:ty)*) => {$(
        impl sealed::SealedInteger for $integer {}

        impl Integer for $integer {
            #[inline(always)]
            fn forward(self, steps: usize) -> Self {
                // The sum is within the type, so what the cast cuts off does not matter.
                self.wrapping_add(steps as $integer)
            }

            fn steps_to(self, end: Self) -> Option<usize> {
                usize::try_from(end as i128 - self as i128).ok()
            }
        }
    )*};
}

integers!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize);

/// Iterates over a range of integers.
#[derive(Clone, Debug)]
pub struct RangeIter<T> {
    start: T,
    len: usize,
}

impl<T: Integer> ParallelIterator for RangeIter<T> {
    type Item = T;
    const EXACT: bool = true;
    const OWNS: bool = false;

    fn indices(&self) -> usize {
        self.len
    }

    unsafe fn block(&self, block: Range<usize>) -> impl Iterator<Item = T> {
        // SAFETY: the caller's promise.
        unsafe { self.ordered(block) }
    }

    unsafe fn discard(&self, _: Range<usize>) {}
}

impl<T: Integer> IndexedParallelIterator for RangeIter<T> {
    fn cut(&mut self, indices: Range<usize>) {
        if !indices.is_empty() {
            self.start = self.start.forward(indices.start);
        }
        self.len = indices.len();
    }

    unsafe fn ordered(
        &self,
        block: Range<usize>,
    ) -> impl DoubleEndedIterator<Item = T> + ExactSizeIterator {
        Integers {
            start: self.start,
            indices: block,
        }
    }
}

/// The integers of a block. Unlike a `Map` of the indices, this skips many items in one step.
struct Integers<T> {
    start: T,
    indices: Range<usize>,
}

impl<T: Integer> Iterator for Integers<T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.indices.next().map(|index| self.start.forward(index))
    }

    #[inline]
    fn nth(&mut self, steps: usize) -> Option<T> {
        self.indices
            .nth(steps)
            .map(|index| self.start.forward(index))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.indices.size_hint()
    }
}

impl<T: Integer> DoubleEndedIterator for Integers<T> {
    #[inline]
    fn next_back(&mut self) -> Option<T> {
        let index = self.indices.next_back();
        index.map(|index| self.start.forward(index))
    }

    #[inline]
    fn nth_back(&mut self, steps: usize) -> Option<T> {
        let index = self.indices.nth_back(steps);
        index.map(|index| self.start.forward(index))
    }
}

impl<T: Integer> ExactSizeIterator for Integers<T> {}

/// `into_par_iter` panics if the range has more integers than a `usize` can count.
impl<T: Integer> IntoParallelIterator for Range<T> {
    type Iter = RangeIter<T>;
    type Item = T;

    #[track_caller]
    fn into_par_iter(self) -> RangeIter<T> {
        let len = match self.start < self.end {
            true => self.start.steps_to(self.end).expect(COUNTED),
            false => 0,
        };
        RangeIter {
            start: self.start,
            len,
        }
    }
}

/// `into_par_iter` panics if the range has more integers than a `usize` can count.
impl<T: Integer> IntoParallelIterator for RangeInclusive<T> {
    type Iter = RangeIter<T>;
    type Item = T;

    #[track_caller]
    fn into_par_iter(self) -> RangeIter<T> {
        let (start, end) = (*self.start(), *self.end());
        let len = match self.is_empty() {
            true => 0,
            false => {
                let steps = start.steps_to(end);
                steps.and_then(|steps| steps.checked_add(1)).expect(COUNTED)
            }
        };
        RangeIter { start, len }
    }
}

const COUNTED: &str = "a range of at most usize::MAX integers";
