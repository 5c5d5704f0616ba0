//! Adaptors, which make a parallel iterator from another parallel iterator. Each adaptor applies the standard
//! library's adaptor to every block.

use super::{IndexedParallelIterator, ParallelIterator, blocks};
use manycore_cores::sync::let_go;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Implements `ParallelIterator` for an adaptor with its base's indices. `$block` adapts a block of the base.
macro_rules! blocks {
    ($item:ty, $exact:expr, |$self:ident, $base:ident| $block:expr) => {
        type Item = $item;
        const EXACT: bool = $exact;
        const IN_PARTS: bool = I::IN_PARTS;
        const OWNS: bool = I::OWNS;

        fn indices(&self) -> usize {
            self.base.indices()
        }

        unsafe fn block(&self, block: Range<usize>) -> impl Iterator<Item = $item> {
            let $self = self;
            // SAFETY: the caller's promise.
            let $base = unsafe { self.base.block(block) };
            $block
        }

        unsafe fn discard(&self, block: Range<usize>) {
            // SAFETY: the caller's promise.
            unsafe { self.base.discard(block) };
        }
    };
}

/// Implements `IndexedParallelIterator` for such an adaptor.
macro_rules! ordered {
    (|$self:ident, $base:ident| $block:expr) => {
        fn cut(&mut self, indices: Range<usize>) {
            self.base.cut(indices);
        }

        unsafe fn ordered(
            &self,
            block: Range<usize>,
        ) -> impl DoubleEndedIterator<Item = Self::Item> + ExactSizeIterator {
            let $self = self;
            // SAFETY: the caller's promise.
            let $base = unsafe { self.base.ordered(block) };
            $block
        }
    };
}

/// See [`ParallelIterator::map`].
#[derive(Clone, Debug)]
pub struct Map<I, F> {
    pub(super) base: I,
    pub(super) map: F,
}

impl<I: ParallelIterator, R: Send, F: Fn(I::Item) -> R + Sync> ParallelIterator for Map<I, F> {
    blocks!(R, I::EXACT, |me, base| base.map(&me.map));
}

impl<I, R: Send, F> IndexedParallelIterator for Map<I, F>
where
    I: IndexedParallelIterator,
    F: Fn(I::Item) -> R + Sync,
{
    ordered!(|me, base| base.map(&me.map));
}

/// See [`ParallelIterator::filter`].
#[derive(Clone, Debug)]
pub struct Filter<I, F> {
    pub(super) base: I,
    pub(super) keep: F,
}

impl<I: ParallelIterator, F: Fn(&I::Item) -> bool + Sync> ParallelIterator for Filter<I, F> {
    blocks!(I::Item, false, |me, base| base.filter(&me.keep));
}

/// See [`ParallelIterator::filter_map`].
#[derive(Clone, Debug)]
pub struct FilterMap<I, F> {
    pub(super) base: I,
    pub(super) map: F,
}

impl<I: ParallelIterator, R: Send, F> ParallelIterator for FilterMap<I, F>
where
    F: Fn(I::Item) -> Option<R> + Sync,
{
    blocks!(R, false, |me, base| base.filter_map(&me.map));
}

/// See [`ParallelIterator::flat_map`].
#[derive(Clone, Debug)]
pub struct FlatMap<I, F> {
    pub(super) base: I,
    pub(super) map: F,
}

impl<I: ParallelIterator, R: IntoIterator, F> ParallelIterator for FlatMap<I, F>
where
    F: Fn(I::Item) -> R + Sync,
    R::Item: Send,
{
    blocks!(R::Item, false, |me, base| base.flat_map(&me.map));
}

/// See [`ParallelIterator::flatten`].
#[derive(Clone, Debug)]
pub struct Flatten<I> {
    pub(super) base: I,
}

impl<I: ParallelIterator<Item: IntoIterator<Item: Send>>> ParallelIterator for Flatten<I> {
    blocks!(<I::Item as IntoIterator>::Item, false, |_me, base| base
        .flatten());
}

/// See [`ParallelIterator::inspect`].
#[derive(Clone, Debug)]
pub struct Inspect<I, F> {
    pub(super) base: I,
    pub(super) look: F,
}

impl<I: ParallelIterator, F: Fn(&I::Item) + Sync> ParallelIterator for Inspect<I, F> {
    blocks!(I::Item, I::EXACT, |me, base| base.inspect(&me.look));
}

impl<I, F> IndexedParallelIterator for Inspect<I, F>
where
    I: IndexedParallelIterator,
    F: Fn(&I::Item) + Sync,
{
    ordered!(|me, base| base.inspect(&me.look));
}

/// See [`ParallelIterator::copied`].
#[derive(Clone, Debug)]
pub struct Copied<I> {
    pub(super) base: I,
}

impl<'data, T: Copy + Send + Sync + 'data, I> ParallelIterator for Copied<I>
where
    I: ParallelIterator<Item = &'data T>,
{
    blocks!(T, I::EXACT, |_me, base| base.copied());
}

impl<'data, T: Copy + Send + Sync + 'data, I> IndexedParallelIterator for Copied<I>
where
    I: IndexedParallelIterator<Item = &'data T>,
{
    ordered!(|_me, base| base.copied());
}

/// See [`ParallelIterator::cloned`].
#[derive(Clone, Debug)]
pub struct Cloned<I> {
    pub(super) base: I,
}

impl<'data, T: Clone + Send + Sync + 'data, I> ParallelIterator for Cloned<I>
where
    I: ParallelIterator<Item = &'data T>,
{
    blocks!(T, I::EXACT, |_me, base| base.cloned());
}

impl<'data, T: Clone + Send + Sync + 'data, I> IndexedParallelIterator for Cloned<I>
where
    I: IndexedParallelIterator<Item = &'data T>,
{
    ordered!(|_me, base| base.cloned());
}

/// See [`ParallelIterator::fold`].
#[derive(Clone, Debug)]
pub struct Fold<I, D, F> {
    pub(super) base: I,
    pub(super) identity: D,
    pub(super) fold: F,
}

impl<I: ParallelIterator, D, F> Fold<I, D, F> {
    /// The part of `block` that the base has: all of it, or nothing if the base is empty.
    fn of_base(&self, block: Range<usize>) -> Range<usize> {
        block.start..block.end.min(self.base.indices())
    }
}

impl<I: ParallelIterator, A: Send, D, F> ParallelIterator for Fold<I, D, F>
where
    D: Fn() -> A + Sync,
    F: Fn(A, I::Item) -> A + Sync,
{
    type Item = A;
    const EXACT: bool = false;
    const IN_PARTS: bool = I::IN_PARTS;
    const OWNS: bool = I::OWNS;

    /// Without items there is one accumulator, as in rayon.
    fn indices(&self) -> usize {
        self.base.indices().max(1)
    }

    unsafe fn block(&self, block: Range<usize>) -> impl Iterator<Item = A> {
        // SAFETY: the caller's promise.
        let base = unsafe { self.base.block(self.of_base(block)) };
        std::iter::once_with(move || base.fold((self.identity)(), &self.fold))
    }

    unsafe fn discard(&self, block: Range<usize>) {
        // SAFETY: the caller's promise.
        unsafe { self.base.discard(self.of_base(block)) };
    }

    /// Keeps one accumulator for neighbouring blocks of a thread.
    fn reduce_with(self, reduce: impl Fn(A, A) -> A + Sync) -> Option<A> {
        let extend = |left: Option<A>, range| {
            // SAFETY: a loop gives out each index once.
            let block = unsafe { self.base.block(self.of_base(range)) };
            block.fold(left.unwrap_or_else(&self.identity), &self.fold)
        };
        blocks::extended(&self, extend, reduce)
    }
}

/// See [`ParallelIterator::map_init`].
#[derive(Debug)]
pub struct MapInit<I, T, D, F> {
    pub(super) base: I,
    pub(super) init: D,
    pub(super) map: F,
    /// The states that no block is using.
    pub(super) spare: Mutex<Vec<T>>,
}

/// The state of one block, which returns to `spare` when this is dropped.
struct Lent<'a, T> {
    state: Option<T>,
    spare: &'a Mutex<Vec<T>>,
}

impl<T> Drop for Lent<'_, T> {
    fn drop(&mut self) {
        // If a function has panicked, its state may be broken, so no other block gets that state.
        if std::thread::panicking() {
            return let_go(self.state.take());
        }
        // No user code runs under the lock, so the lock is never poisoned.
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        spare.extend(self.state.take());
    }
}

impl<I, T, D: Fn() -> T, F> MapInit<I, T, D, F> {
    /// Makes the function that maps the items of one block.
    fn of_block<Item, R>(&self) -> impl FnMut(Item) -> R
    where
        F: Fn(&mut T, Item) -> R,
    {
        let mut lent = Lent {
            state: (self.spare.lock().unwrap_or_else(PoisonError::into_inner)).pop(),
            spare: &self.spare,
        };
        move |item| {
            let state = lent.state.get_or_insert_with(&self.init);
            (self.map)(state, item)
        }
    }
}

impl<I: ParallelIterator, T: Send, R: Send, D, F> ParallelIterator for MapInit<I, T, D, F>
where
    D: Fn() -> T + Sync,
    F: Fn(&mut T, I::Item) -> R + Sync,
{
    blocks!(R, I::EXACT, |me, base| base.map(me.of_block()));
}

impl<I, T: Send, R: Send, D, F> IndexedParallelIterator for MapInit<I, T, D, F>
where
    I: IndexedParallelIterator,
    D: Fn() -> T + Sync,
    F: Fn(&mut T, I::Item) -> R + Sync,
{
    ordered!(|me, base| base.map(me.of_block()));
}

/// See [`ParallelIterator::update`].
#[derive(Clone, Debug)]
pub struct Update<I, F> {
    pub(super) base: I,
    pub(super) change: F,
}

/// Makes a function that applies `change` to an item and returns the item.
fn changed<T>(change: impl Fn(&mut T)) -> impl FnMut(T) -> T {
    move |mut item| {
        change(&mut item);
        item
    }
}

impl<I: ParallelIterator, F: Fn(&mut I::Item) + Sync> ParallelIterator for Update<I, F> {
    blocks!(I::Item, I::EXACT, |me, base| base.map(changed(&me.change)));
}

impl<I, F> IndexedParallelIterator for Update<I, F>
where
    I: IndexedParallelIterator,
    F: Fn(&mut I::Item) + Sync,
{
    ordered!(|me, base| base.map(changed(&me.change)));
}

/// See [`IndexedParallelIterator::enumerate`].
#[derive(Clone, Debug)]
pub struct Enumerate<I> {
    pub(super) base: I,
    /// The number of the item with index 0.
    pub(super) first: usize,
}

impl<I: IndexedParallelIterator> ParallelIterator for Enumerate<I> {
    type Item = (usize, I::Item);
    const EXACT: bool = true;
    const OWNS: bool = I::OWNS;

    fn indices(&self) -> usize {
        self.base.indices()
    }

    unsafe fn block(&self, block: Range<usize>) -> impl Iterator<Item = (usize, I::Item)> {
        // SAFETY: the caller's promise.
        unsafe { self.ordered(block) }
    }

    unsafe fn discard(&self, block: Range<usize>) {
        // SAFETY: the caller's promise.
        unsafe { self.base.discard(block) };
    }
}

impl<I: IndexedParallelIterator> IndexedParallelIterator for Enumerate<I> {
    fn cut(&mut self, indices: Range<usize>) {
        self.first += indices.start;
        self.base.cut(indices);
    }

    unsafe fn ordered(
        &self,
        block: Range<usize>,
    ) -> impl DoubleEndedIterator<Item = (usize, I::Item)> + ExactSizeIterator {
        let numbers = self.first + block.start..self.first + block.end;
        // SAFETY: the caller's promise.
        numbers.zip(unsafe { self.base.ordered(block) })
    }
}

/// Discards a block when it is dropped.
struct Discarded<'a, I: ParallelIterator>(&'a I, Range<usize>);

impl<I: ParallelIterator> Drop for Discarded<'_, I> {
    fn drop(&mut self) {
        // SAFETY: the promise of the caller of `discard_both`.
        unsafe { self.0.discard(self.1.clone()) };
    }
}

/// Discards a block of each of two iterators. The second block is discarded even if a destructor in the first block
/// panics.
///
/// # Safety
///
/// As for [`ParallelIterator::block`], for both iterators.
pub(super) unsafe fn discard_both<A: ParallelIterator, B: ParallelIterator>(
    (first, of_first): (&A, Range<usize>),
    (second, of_second): (&B, Range<usize>),
) {
    let _second = Discarded(second, of_second);
    // SAFETY: the caller's promise.
    unsafe { first.discard(of_first) };
}

/// See [`IndexedParallelIterator::zip`]. Both iterators have the same number of indices.
#[derive(Clone, Debug)]
pub struct Zip<A, B> {
    pub(super) base: A,
    pub(super) other: B,
}

impl<A: IndexedParallelIterator, B: IndexedParallelIterator> ParallelIterator for Zip<A, B> {
    type Item = (A::Item, B::Item);
    const EXACT: bool = true;
    const OWNS: bool = A::OWNS || B::OWNS;

    fn indices(&self) -> usize {
        self.base.indices()
    }

    unsafe fn block(&self, block: Range<usize>) -> impl Iterator<Item = (A::Item, B::Item)> {
        // SAFETY: the caller's promise.
        unsafe { self.ordered(block) }
    }

    unsafe fn discard(&self, block: Range<usize>) {
        // SAFETY: the caller's promise, for both iterators.
        unsafe { discard_both((&self.base, block.clone()), (&self.other, block)) };
    }
}

impl<A: IndexedParallelIterator, B: IndexedParallelIterator> IndexedParallelIterator for Zip<A, B> {
    fn cut(&mut self, indices: Range<usize>) {
        self.base.cut(indices.clone());
        self.other.cut(indices);
    }

    unsafe fn ordered(
        &self,
        block: Range<usize>,
    ) -> impl DoubleEndedIterator<Item = (A::Item, B::Item)> + ExactSizeIterator {
        // SAFETY: the caller's promise, for both iterators.
        let (base, other) =
            unsafe { (self.base.ordered(block.clone()), self.other.ordered(block)) };
        base.zip(other)
    }
}
