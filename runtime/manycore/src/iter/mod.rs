//! Parallel iterators, with the names that rayon's users know: `use manycore::prelude::*`.
//!
//! ```
//! use manycore::prelude::*;
//!
//! let squares: Vec<u64> = (0..1_000_u64).into_par_iter().map(|x| x * x).collect();
//! let odd = squares.par_iter().filter(|&&x| x % 2 == 1).count();
//! assert_eq!(odd, 500);
//! let longest = ["many", "cores", "one"].par_iter().max_by_key(|word| word.len());
//! assert_eq!(longest, Some(&"cores"));
//! ```
//!
//! # How it works
//!
//! A parallel iterator knows how many *indices* it has, and for any block of them an ordinary
//! iterator over the block's items. So each adaptor is the standard library's own, applied to
//! every block, and a consumer is a loop over blocks: the [adaptive](crate::Partitioner) one,
//! which chooses them by time. Nothing is divided in halves, and nothing needs a minimal length.
//!
//! The order of items is kept wherever it is visible: in `collect`, in `reduce` and `fold`, and in
//! the choice of the least, the largest or the first among equal items.
//!
//! An ordinary iterator that cannot be divided is shared item by item
//! ([`par_bridge`](ParallelBridge::par_bridge)), in no order.
//!
//! # What is not here
//!
//! Adaptors that are rarely asked for (`interleave`, `intersperse`, `panic_fuse`, `par_split`), hints
//! about lengths (`with_min_len`: blocks are chosen by time), and producers of your own. A program
//! that needs those takes rayon itself, over this pool: `runtime/rayon-core`.

mod adaptors;
mod blocks;
mod bridge;
#[cfg(test)]
mod chains;
mod collect;
mod consume;
mod indexed;
mod order;
mod range;
mod sealed;
mod sealed_types;
mod slice;
mod sort;
mod tried;
mod until_bad;
mod unwinding;
mod vec;

pub use adaptors::{
    Cloned, Copied, Enumerate, Filter, FilterMap, FlatMap, Flatten, Fold, Inspect, Map, MapInit,
    Update, Zip,
};
pub use bridge::{Bridge, ParallelBridge};
pub use collect::FromParallelIterator;
pub use consume::ParallelIterator;
pub use indexed::IndexedParallelIterator;
pub use order::{Chain, Rev, StepBy};
pub use range::{Integer, RangeIter};
pub use slice::{Chunks, ChunksMut, ParallelSlice, SliceIter, SliceIterMut, Windows};
pub use sort::ParallelSliceMut;
pub use tried::Tried;
pub use vec::VecIter;

/// Types that become a parallel iterator: ranges of integers, slices, vectors, maps and sets.
///
/// ```
/// use manycore::prelude::*;
///
/// assert_eq!((1..=4_u8).into_par_iter().map(u32::from).sum::<u32>(), 10);
/// ```
pub trait IntoParallelIterator {
    /// The iterator.
    type Iter: ParallelIterator<Item = Self::Item>;
    /// The type of the iterator's items.
    type Item: Send;

    /// The parallel iterator over the items of this.
    fn into_par_iter(self) -> Self::Iter;
}

impl<I: ParallelIterator> IntoParallelIterator for I {
    type Iter = I;
    type Item = I::Item;

    fn into_par_iter(self) -> I {
        self
    }
}

/// [`into_par_iter`](IntoParallelIterator::into_par_iter) of a reference: `par_iter`.
///
/// ```
/// use manycore::prelude::*;
///
/// assert_eq!(vec![1, 2, 3].par_iter().copied().max(), Some(3));
/// ```
pub trait IntoParallelRefIterator<'data> {
    /// The iterator.
    type Iter: ParallelIterator<Item = Self::Item>;
    /// The type of the iterator's items: a shared reference.
    type Item: Send + 'data;

    /// The parallel iterator over references to the items of this.
    fn par_iter(&'data self) -> Self::Iter;
}

impl<'data, I: ?Sized + 'data> IntoParallelRefIterator<'data> for I
where
    &'data I: IntoParallelIterator,
{
    type Iter = <&'data I as IntoParallelIterator>::Iter;
    type Item = <&'data I as IntoParallelIterator>::Item;

    fn par_iter(&'data self) -> Self::Iter {
        self.into_par_iter()
    }
}

/// [`into_par_iter`](IntoParallelIterator::into_par_iter) of a mutable reference: `par_iter_mut`.
///
/// ```
/// use manycore::prelude::*;
///
/// let mut items = [1, 2, 3];
/// items.par_iter_mut().enumerate().for_each(|(i, item)| *item += 10 * i);
/// assert_eq!(items, [1, 12, 23]);
/// ```
pub trait IntoParallelRefMutIterator<'data> {
    /// The iterator.
    type Iter: ParallelIterator<Item = Self::Item>;
    /// The type of the iterator's items: a mutable reference.
    type Item: Send + 'data;

    /// The parallel iterator over mutable references to the items of this.
    fn par_iter_mut(&'data mut self) -> Self::Iter;
}

impl<'data, I: ?Sized + 'data> IntoParallelRefMutIterator<'data> for I
where
    &'data mut I: IntoParallelIterator,
{
    type Iter = <&'data mut I as IntoParallelIterator>::Iter;
    type Item = <&'data mut I as IntoParallelIterator>::Item;

    fn par_iter_mut(&'data mut self) -> Self::Iter {
        self.into_par_iter()
    }
}
