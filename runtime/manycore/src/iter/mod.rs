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
//! A parallel iterator has a number of *indices*. For any block of indices, it makes an ordinary
//! iterator over the block's items. So each adaptor applies the standard library's adaptor to every
//! block. A consumer is an [adaptive](crate::Partitioner) loop, which chooses the size of each block
//! from measured times. No input is divided in halves, and no loop needs a minimal length.
//!
//! Results do not depend on the order of execution: `collect`, `reduce` and `fold` keep the items'
//! order, and so does the choice among equal items in `min` and `max`.
//!
//! [`par_bridge`](ParallelBridge::par_bridge) shares an ordinary iterator, which cannot be divided,
//! item by item and in no order.
//!
//! # Not provided
//!
//! Rarely used adaptors (`interleave`, `intersperse`, `panic_fuse`, `par_split`), hints about lengths
//! (`with_min_len`), and iterators that other crates define. A program that needs these can use rayon
//! itself on this pool: `runtime/rayon-core`.

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

/// Conversion into a parallel iterator: for ranges of integers, slices, vectors, maps and sets.
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

    /// Returns a parallel iterator over the items of `self`.
    fn into_par_iter(self) -> Self::Iter;
}

impl<I: ParallelIterator> IntoParallelIterator for I {
    type Iter = I;
    type Item = I::Item;

    fn into_par_iter(self) -> I {
        self
    }
}

/// `par_iter`, which is [`into_par_iter`](IntoParallelIterator::into_par_iter) of a reference.
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

    /// Returns a parallel iterator over references to the items of `self`.
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

/// `par_iter_mut`, which is [`into_par_iter`](IntoParallelIterator::into_par_iter) of a mutable reference.
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

    /// Returns a parallel iterator over mutable references to the items of `self`.
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
