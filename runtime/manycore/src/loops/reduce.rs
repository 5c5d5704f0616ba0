//! Reductions that respect the order of the indices.

use super::Loop;
use crate::partition::ALONE;
use manycore_platform::CachePadded;
use manycore_platform::Platform;
use std::cell::UnsafeCell;
use std::ops::Range;
use std::sync::OnceLock;

/// The partial results of one participant, each of a stretch of neighbouring indices. The last stretch
/// has a field of its own: a participant that steals nothing allocates nothing.
struct Partial<R> {
    last: Range<usize>,
    value: Option<R>,
    /// The starts and the results of the earlier stretches, in the order of running.
    earlier: Vec<(usize, Option<R>)>,
}

impl<R> Partial<R> {
    /// Takes the result of the stretch that ends at `start`, if the participant ran that last.
    /// Otherwise a new stretch begins at `start`.
    #[inline]
    fn take_left_of(&mut self, start: usize) -> Option<R> {
        if self.last.end != start || self.value.is_none() {
            self.begin(start);
        }
        self.value.take()
    }

    #[inline(never)]
    fn begin(&mut self, start: usize) {
        if self.value.is_some() {
            self.earlier.push((self.last.start, self.value.take()));
        }
        self.last.start = start;
    }
}

struct Place<R>(CachePadded<UnsafeCell<Partial<R>>>);

// SAFETY: during a loop each is used only by the participant of its rank, one
// thread at a time; after the loop by the caller alone. Values move between
// threads, so `R: Send`.
unsafe impl<R: Send> Sync for Place<R> {}

impl<R> Place<R> {
    const fn new() -> Self {
        Self(CachePadded::new(UnsafeCell::new(Partial {
            last: 0..0,
            value: None,
            earlier: Vec::new(),
        })))
    }

    fn into_inner(self) -> Partial<R> {
        CachePadded::into_inner(self.0).into_inner()
    }
}

/// The partial results of a loop.
pub(crate) struct Stretches<R> {
    /// The results of the rank [`ALONE`]. A loop that is not posted has no others.
    alone: Place<R>,
    /// The results of the other ranks. The first of these that runs a block allocates it.
    others: OnceLock<Box<[Place<R>]>>,
}

impl<R> Stretches<R> {
    const fn new() -> Self {
        Self {
            alone: Place::new(),
            others: OnceLock::new(),
        }
    }

    #[inline]
    fn of(&self, rank: usize, threads: usize) -> &UnsafeCell<Partial<R>> {
        match rank {
            ALONE => &self.alone.0,
            _ => self.of_other(rank, threads),
        }
    }

    #[inline(never)]
    fn of_other(&self, rank: usize, threads: usize) -> &UnsafeCell<Partial<R>> {
        let make = || (1..threads).map(|_| Place::new()).collect();
        &self.others.get_or_init(make)[rank - 1].0
    }

    /// Reduces all results, from the left. It returns `None` if there are no results.
    #[inline]
    pub(crate) fn combined(self, reduce: impl Fn(R, R) -> R) -> Option<R> {
        let alone = self.alone.into_inner();
        match self.others.into_inner() {
            None if alone.earlier.is_empty() => alone.value,
            others => all_combined(alone, others.unwrap_or_default(), reduce),
        }
    }
}

/// Reduces the results of several ranks, or of several stretches.
#[inline(never)]
fn all_combined<R>(
    alone: Partial<R>,
    others: Box<[Place<R>]>,
    reduce: impl Fn(R, R) -> R,
) -> Option<R> {
    let mut all = Vec::new();
    let mut add = |mut partial: Partial<R>| {
        all.append(&mut partial.earlier);
        all.push((partial.last.start, partial.value));
    };
    add(alone);
    for place in others {
        add(place.into_inner());
    }
    let mut order: Vec<_> = (all.iter().enumerate())
        .map(|(at, (start, _))| (*start, at))
        .collect();
    sort(&mut order);
    let mut whole = None;
    for (_, at) in order {
        let next = all[at].1.take();
        whole = match (whole, next) {
            (Some(left), Some(right)) => Some(reduce(left, right)),
            (left, right) => left.or(right),
        };
    }
    whole
}

/// Sorts stretches by their starts. It is not generic, so that it is compiled once.
#[inline(never)]
fn sort(order: &mut [(usize, usize)]) {
    order.sort_unstable();
}

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

    /// As [`map_reduce`](Self::map_reduce), but a block is mapped as a whole, by `extend`, as in
    /// [`stretches`](Self::stretches). `None` if the range is empty.
    pub(crate) fn reduce_blocks<R: Send>(
        &self,
        range: Range<usize>,
        extend: impl Fn(Option<R>, Range<usize>) -> R + Sync,
        reduce: impl Fn(R, R) -> R,
    ) -> Option<R> {
        self.stretches(range, extend).combined(reduce)
    }

    /// Maps blocks by `extend`. It gets the result of the blocks to the left as well, if the same thread
    /// has run them.
    pub(crate) fn stretches<R: Send>(
        &self,
        range: Range<usize>,
        extend: impl Fn(Option<R>, Range<usize>) -> R + Sync,
    ) -> Stretches<R> {
        let stretches = Stretches::new();
        let threads = self.pool.shared().threads();
        self.ranked(range, |rank, block| {
            let place = stretches.of(rank, threads);
            // SAFETY: no other thread has this rank in this loop, also while this one has
            // given its permit away, and `extend`, which might run a nested loop, is not running.
            let left = unsafe { &mut *place.get() }.take_left_of(block.start);
            let end = block.end;
            let value = extend(left, block);
            // SAFETY: as above, after `extend` has returned.
            let mine = unsafe { &mut *place.get() };
            mine.last.end = end;
            mine.value = Some(value);
        });
        stretches
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
