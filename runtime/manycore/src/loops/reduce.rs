//! Reductions that respect the order of the indices.

use super::Loop;
use manycore_platform::CachePadded;
use manycore_platform::Platform;
use std::cell::UnsafeCell;
use std::ops::Range;

/// The result of a stretch of neighbouring indices.
type Stretch<R> = (Range<usize>, R);

/// The partial results of one participant, in the order it ran them. One is at hand: a participant
/// that runs its share and steals nothing allocates nothing.
struct Partial<R> {
    last: Option<Stretch<R>>,
    earlier: Vec<Stretch<R>>,
}

struct Stretches<R>(CachePadded<UnsafeCell<Partial<R>>>);

// SAFETY: during a loop each is used only by the participant of its rank, one
// thread at a time; after the loop by the caller alone. Values move between
// threads, so `R: Send`.
unsafe impl<R: Send> Sync for Stretches<R> {}

/// Blocks of a deterministic reduction: enough to share among many threads,
/// few enough to combine by one.
const DETERMINISTIC_BLOCKS: usize = 1024;

impl<P: Platform> Loop<'_, P> {
    /// As [`Pool::map_reduce`](crate::Pool::map_reduce).
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
        let stretches = || {
            Stretches(CachePadded::new(UnsafeCell::new(Partial {
                last: None,
                earlier: Vec::new(),
            })))
        };
        let ranks: Box<[_]> = (0..self.pool.shared().threads())
            .map(|_| stretches())
            .collect();
        self.ranked(range, |rank, block| {
            // SAFETY: no other thread has this rank in this loop, also while this one has
            // given its permit away, and `extend`, which might run a nested loop, is not running.
            let mine = unsafe { &mut *ranks[rank].0.get() };
            let (start, left) = match mine.last.take() {
                Some((before, left)) if before.end == block.start => (before.start, Some(left)),
                other => {
                    mine.earlier.extend(other);
                    (block.start, None)
                }
            };
            let whole = (start..block.end, extend(left, block));
            // SAFETY: as above, after `extend` has returned.
            unsafe { &mut *ranks[rank].0.get() }.last = Some(whole);
        });
        ranks
            .into_iter()
            .flat_map(|rank| {
                let partial = CachePadded::into_inner(rank.0).into_inner();
                partial.earlier.into_iter().chain(partial.last)
            })
            .collect()
    }

    /// As [`Pool::map_reduce_deterministic`](crate::Pool::map_reduce_deterministic).
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
