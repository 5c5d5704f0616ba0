//! Adaptors that renumber the items: `rev`, `step_by` and `chain`.

use super::adaptors::discard_both;
use super::{IndexedParallelIterator, ParallelIterator};
use std::ops::Range;

/// See [`IndexedParallelIterator::rev`].
#[derive(Clone, Debug)]
pub struct Rev<I> {
    pub(super) base: I,
}

/// Returns `range` counted from the other end of `indices` indices.
fn mirrored(range: Range<usize>, indices: usize) -> Range<usize> {
    indices - range.end..indices - range.start
}

impl<I: IndexedParallelIterator> ParallelIterator for Rev<I> {
    type Item = I::Item;
    const EXACT: bool = true;
    const OWNS: bool = I::OWNS;

    fn indices(&self) -> usize {
        self.base.indices()
    }

    unsafe fn block(&self, block: Range<usize>) -> impl Iterator<Item = I::Item> {
        // SAFETY: the caller's promise.
        unsafe { self.ordered(block) }
    }

    unsafe fn discard(&self, block: Range<usize>) {
        let block = mirrored(block, self.base.indices());
        // SAFETY: the caller's promise. Different indices have different mirror images.
        unsafe { self.base.discard(block) };
    }
}

impl<I: IndexedParallelIterator> IndexedParallelIterator for Rev<I> {
    fn cut(&mut self, indices: Range<usize>) {
        let indices = mirrored(indices, self.base.indices());
        self.base.cut(indices);
    }

    unsafe fn ordered(
        &self,
        block: Range<usize>,
    ) -> impl DoubleEndedIterator<Item = I::Item> + ExactSizeIterator {
        let block = mirrored(block, self.base.indices());
        // SAFETY: the caller's promise. Different indices have different mirror images.
        unsafe { self.base.ordered(block) }.rev()
    }
}

/// See [`IndexedParallelIterator::step_by`].
#[derive(Clone, Debug)]
pub struct StepBy<I> {
    pub(super) base: I,
    pub(super) step: usize,
}

impl<I: IndexedParallelIterator> StepBy<I> {
    /// Returns the base's indices for `range`, with the skipped indices behind each index.
    fn with_gaps(&self, range: Range<usize>) -> Range<usize> {
        let end = |index: usize| index.saturating_mul(self.step).min(self.base.indices());
        end(range.start)..end(range.end)
    }
}

impl<I: IndexedParallelIterator> ParallelIterator for StepBy<I> {
    type Item = I::Item;
    const EXACT: bool = true;
    const OWNS: bool = I::OWNS;

    fn indices(&self) -> usize {
        self.base.indices().div_ceil(self.step)
    }

    unsafe fn block(&self, block: Range<usize>) -> impl Iterator<Item = I::Item> {
        // SAFETY: the caller's promise.
        unsafe { self.ordered(block) }
    }

    unsafe fn discard(&self, block: Range<usize>) {
        // SAFETY: the caller's promise. Disjoint blocks with their gaps are disjoint.
        unsafe { self.base.discard(self.with_gaps(block)) };
    }
}

impl<I: IndexedParallelIterator> IndexedParallelIterator for StepBy<I> {
    fn cut(&mut self, indices: Range<usize>) {
        let indices = self.with_gaps(indices);
        self.base.cut(indices);
    }

    unsafe fn ordered(
        &self,
        block: Range<usize>,
    ) -> impl DoubleEndedIterator<Item = I::Item> + ExactSizeIterator {
        // SAFETY: the caller's promise. Disjoint blocks with their gaps are disjoint.
        unsafe { self.base.ordered(self.with_gaps(block)) }.step_by(self.step)
    }
}

/// See [`ParallelIterator::chain`].
#[derive(Clone, Debug)]
pub struct Chain<A, B> {
    pub(super) first: A,
    pub(super) second: B,
}

impl<A: ParallelIterator, B: ParallelIterator> Chain<A, B> {
    /// Divides `range` into the indices of the first and the second iterator.
    fn divided(&self, range: Range<usize>) -> (Range<usize>, Range<usize>) {
        let middle = self.first.indices();
        let of_first = |index: usize| index.min(middle);
        let of_second = |index: usize| index.saturating_sub(middle);
        (
            of_first(range.start)..of_first(range.end),
            of_second(range.start)..of_second(range.end),
        )
    }
}

impl<A, B> ParallelIterator for Chain<A, B>
where
    A: ParallelIterator,
    B: ParallelIterator<Item = A::Item>,
{
    type Item = A::Item;
    const EXACT: bool = A::EXACT && B::EXACT;
    const IN_PARTS: bool = true;
    const OWNS: bool = A::OWNS || B::OWNS;

    fn indices(&self) -> usize {
        let both = self.first.indices().checked_add(self.second.indices());
        both.expect("a chain of at most usize::MAX items")
    }

    unsafe fn block(&self, block: Range<usize>) -> impl Iterator<Item = A::Item> {
        let (first, second) = self.divided(block);
        Chained {
            // SAFETY: the caller's promise, for both iterators.
            first: (!first.is_empty()).then(|| unsafe { self.first.block(first) }),
            // SAFETY: as above.
            second: (!second.is_empty()).then(|| unsafe { self.second.block(second) }),
        }
    }

    unsafe fn discard(&self, block: Range<usize>) {
        let (first, second) = self.divided(block);
        // SAFETY: the caller's promise, for both iterators.
        unsafe { discard_both((&self.first, first), (&self.second, second)) };
    }
}

impl<A, B> IndexedParallelIterator for Chain<A, B>
where
    A: IndexedParallelIterator,
    B: IndexedParallelIterator<Item = A::Item>,
{
    fn cut(&mut self, indices: Range<usize>) {
        let (first, second) = self.divided(indices);
        self.first.cut(first);
        self.second.cut(second);
    }

    unsafe fn ordered(
        &self,
        block: Range<usize>,
    ) -> impl DoubleEndedIterator<Item = A::Item> + ExactSizeIterator {
        let (first, second) = self.divided(block);
        Chained {
            // SAFETY: the caller's promise, for both iterators.
            first: (!first.is_empty()).then(|| unsafe { self.first.ordered(first) }),
            // SAFETY: as above.
            second: (!second.is_empty()).then(|| unsafe { self.second.ordered(second) }),
        }
    }
}

/// A block's items from both iterators. Most blocks have items from only one of them. The standard library's chain is
/// not an `ExactSizeIterator`.
struct Chained<A, B> {
    first: Option<A>,
    second: Option<B>,
}

impl<A: Iterator, B: Iterator<Item = A::Item>> Iterator for Chained<A, B> {
    type Item = A::Item;

    fn next(&mut self) -> Option<A::Item> {
        let first = self.first.as_mut().and_then(Iterator::next);
        first.or_else(|| self.second.as_mut()?.next())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let none = (0, Some(0));
        let first = self.first.as_ref().map_or(none, Iterator::size_hint);
        let second = self.second.as_ref().map_or(none, Iterator::size_hint);
        let most = first.1.zip(second.1).and_then(|(a, b)| a.checked_add(b));
        (first.0.saturating_add(second.0), most)
    }

    fn fold<R, F: FnMut(R, A::Item) -> R>(self, start: R, mut fold: F) -> R {
        let middle = match self.first {
            Some(first) => first.fold(start, &mut fold),
            None => start,
        };
        match self.second {
            Some(second) => second.fold(middle, fold),
            None => middle,
        }
    }
}

impl<A, B> DoubleEndedIterator for Chained<A, B>
where
    A: DoubleEndedIterator,
    B: DoubleEndedIterator<Item = A::Item>,
{
    fn next_back(&mut self) -> Option<A::Item> {
        let second = self
            .second
            .as_mut()
            .and_then(DoubleEndedIterator::next_back);
        second.or_else(|| self.first.as_mut()?.next_back())
    }
}

impl<A: ExactSizeIterator, B: ExactSizeIterator<Item = A::Item>> ExactSizeIterator
    for Chained<A, B>
{
}
