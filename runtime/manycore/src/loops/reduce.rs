//! Reductions that respect the order of the indices.

use super::{Loop, Partitioner, loop_here};
use crate::pool::Pool;
use manycore_platform::CachePadded;
use manycore_platform::Platform;
use std::cell::UnsafeCell;
use std::ops::Range;

/// The partial results of one participant: stretches of neighbouring indices,
/// in the order it ran them.
type Stretch<R> = (Range<usize>, R);
struct Stretches<R>(CachePadded<UnsafeCell<Vec<Stretch<R>>>>);

// SAFETY: during a loop each is used only by the participant of its rank, one
// thread at a time; after the loop by the caller alone. Values move between
// threads, so `R: Send`.
unsafe impl<R: Send> Sync for Stretches<R> {}

/// Blocks of a deterministic reduction: enough to share among many threads,
/// few enough to combine by one.
const DETERMINISTIC_BLOCKS: usize = 1024;

impl<P: Platform> Loop<'_, P> {
    /// Maps each index of `range` and combines the results of neighbours, left
    /// with right, until one is left; `identity` if the range is empty.
    ///
    /// `reduce` must be associative; it need not be commutative. Where it is so
    /// only nearly (floating-point addition) the result may differ from run to
    /// run in its last digits; see
    /// [`map_reduce_deterministic`](Self::map_reduce_deterministic).
    ///
    /// # Panics
    ///
    /// As [`Pool::parallel_for`].
    ///
    /// ```
    /// use manycore::{Partitioner, Pool};
    ///
    /// let pool = Pool::builder().threads(2).build()?;
    /// let text = pool.with(Partitioner::fixed_block(2)).map_reduce(
    ///     0..10,
    ///     String::new,
    ///     |i| i.to_string(),
    ///     |left, right| left + &right,
    /// );
    /// assert_eq!(text, "0123456789");
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    pub fn map_reduce<R: Send>(
        &self,
        range: Range<usize>,
        identity: impl Fn() -> R + Sync,
        map: impl Fn(usize) -> R + Sync,
        reduce: impl Fn(R, R) -> R + Sync,
    ) -> R {
        let extend = |left: Option<R>, block| {
            let value = fold(block, &map, &reduce);
            match left {
                Some(left) => reduce(left, value),
                None => value,
            }
        };
        self.reduce_blocks(range, extend, &reduce)
            .unwrap_or_else(identity)
    }

    /// As [`map_reduce`](Self::map_reduce), but a block is mapped as a whole, by `extend`: with
    /// what came of its left neighbours, if this thread has had those. `None` if the range is
    /// empty.
    pub(crate) fn reduce_blocks<R: Send>(
        &self,
        range: Range<usize>,
        extend: impl Fn(Option<R>, Range<usize>) -> R + Sync,
        reduce: impl Fn(R, R) -> R,
    ) -> Option<R> {
        let mut all = self.stretches_mapped(range, &extend);
        all.sort_unstable_by_key(|(stretch, _)| stretch.start);
        all.into_iter().map(|(_, value)| value).reduce(reduce)
    }

    /// The results of neighbouring blocks of each rank, combined.
    fn stretches_mapped<R: Send>(
        &self,
        range: Range<usize>,
        extend: &(impl Fn(Option<R>, Range<usize>) -> R + Sync),
    ) -> Vec<Stretch<R>> {
        let stretches = || Stretches(CachePadded::new(UnsafeCell::new(Vec::new())));
        let ranks: Box<[_]> = (0..self.pool.shared().threads())
            .map(|_| stretches())
            .collect();
        self.ranked(range, |rank, block| {
            // SAFETY: no other thread has this rank in this loop, also while this one has
            // given its place away, and `extend`, which might run a nested loop, is not running.
            let mine = unsafe { &mut *ranks[rank].0.get() };
            let (start, left) = match mine.pop() {
                Some((before, left)) if before.end == block.start => (before.start, Some(left)),
                other => {
                    mine.extend(other);
                    (block.start, None)
                }
            };
            let whole = (start..block.end, extend(left, block));
            // SAFETY: as above, after `extend` has returned.
            unsafe { &mut *ranks[rank].0.get() }.push(whole);
        });
        ranks
            .into_iter()
            .flat_map(|rank| CachePadded::into_inner(rank.0).into_inner())
            .collect()
    }

    /// As [`map_reduce`](Self::map_reduce), with a result that depends only on
    /// the range: not on the threads, the partitioner or the timing, to the
    /// last bit.
    ///
    /// The range is cut into at most 1,024 blocks; each is reduced from the
    /// left, and then their results are. One value a block is kept.
    ///
    /// # Panics
    ///
    /// As [`Pool::parallel_for`].
    ///
    /// ```
    /// use manycore::{Partitioner, Pool};
    ///
    /// let sum = |threads| -> Result<f64, manycore::BuildError> {
    ///     let pool = Pool::builder().threads(threads).build()?;
    ///     let harmonic = |i: usize| 1.0 / (i as f64 + 1.0);
    ///     let loops = pool.with(Partitioner::fixed_block(2));
    ///     Ok(loops.map_reduce_deterministic(0..10_000, || 0.0, harmonic, |a, b| a + b))
    /// };
    /// let (one, three) = (sum(1)?, sum(3)?);
    /// assert_eq!(one.to_bits(), three.to_bits());
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    pub fn map_reduce_deterministic<R: Send>(
        &self,
        range: Range<usize>,
        identity: impl Fn() -> R + Sync,
        map: impl Fn(usize) -> R + Sync,
        reduce: impl Fn(R, R) -> R + Sync,
    ) -> R {
        if range.is_empty() {
            return identity();
        }
        let block = range.len().div_ceil(DETERMINISTIC_BLOCKS);
        let mut values: Vec<Option<R>> = Vec::new();
        values.resize_with(range.len().div_ceil(block), || None);
        self.chunks_mut(&mut values, 1, |index, value| {
            let start = range.start + index * block;
            let end = range.end.min(start.saturating_add(block));
            value[0] = Some(fold(start..end, &map, &reduce));
        });
        values
            .into_iter()
            .flatten()
            .reduce(reduce)
            .unwrap_or_else(identity)
    }
}

/// Reduces a range that is not empty, from the left.
fn fold<R>(block: Range<usize>, map: impl Fn(usize) -> R, reduce: impl Fn(R, R) -> R) -> R {
    let first = map(block.start);
    (block.start + 1..block.end).fold(first, |left, i| reduce(left, map(i)))
}

impl<P: Platform> Pool<P> {
    /// Maps each index of `range` and combines the results of neighbours, left
    /// with right, until one is left; `identity` if the range is empty.
    ///
    /// `reduce` must be associative; it need not be commutative. Where it is so
    /// only nearly (floating-point addition) the result may differ from run to
    /// run in its last digits; see
    /// [`map_reduce_deterministic`](Self::map_reduce_deterministic).
    ///
    /// # Panics
    ///
    /// As [`parallel_for`](Self::parallel_for).
    ///
    /// ```
    /// let pool = manycore::Pool::builder().threads(2).build()?;
    /// let sum = pool.map_reduce(0..1_000, || 0, |i| i, |a, b| a + b);
    /// assert_eq!(sum, 499_500);
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    pub fn map_reduce<R: Send>(
        &self,
        range: Range<usize>,
        identity: impl Fn() -> R + Sync,
        map: impl Fn(usize) -> R + Sync,
        reduce: impl Fn(R, R) -> R + Sync,
    ) -> R {
        self.with(Partitioner::default())
            .map_reduce(range, identity, map, reduce)
    }

    /// As [`map_reduce`](Self::map_reduce), with a result that depends only on
    /// the range: not on the threads or the timing, to the last bit.
    ///
    /// # Panics
    ///
    /// As [`parallel_for`](Self::parallel_for).
    ///
    /// ```
    /// let pool = manycore::Pool::builder().threads(2).build()?;
    /// let norm = |xs: &[f64]| {
    ///     pool.map_reduce_deterministic(0..xs.len(), || 0.0, |i| xs[i] * xs[i], |a, b| a + b)
    /// };
    /// assert_eq!(norm(&[3.0, 4.0]), 25.0);
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    pub fn map_reduce_deterministic<R: Send>(
        &self,
        range: Range<usize>,
        identity: impl Fn() -> R + Sync,
        map: impl Fn(usize) -> R + Sync,
        reduce: impl Fn(R, R) -> R + Sync,
    ) -> R {
        self.with(Partitioner::default())
            .map_reduce_deterministic(range, identity, map, reduce)
    }
}

/// [`Pool::map_reduce`] in the pool that this thread is part of, or else in the
/// [global one](Pool::global).
///
/// # Panics
///
/// As [`Pool::parallel_for`], and as [`Pool::global`].
///
/// ```
/// let sum = manycore::map_reduce(0..1_000, || 0, |i| i, |a, b| a + b);
/// assert_eq!(sum, 499_500);
/// ```
pub fn map_reduce<R: Send>(
    range: Range<usize>,
    identity: impl Fn() -> R + Sync,
    map: impl Fn(usize) -> R + Sync,
    reduce: impl Fn(R, R) -> R + Sync,
) -> R {
    loop_here(|here| here.map_reduce(range, identity, map, reduce))
}
