//! Reductions that respect the order of the indices.
//!
//! Each participant reduces what it runs. The helpers of a cluster join their partial results, and the
//! caller takes one from each cluster: what it does in the end grows with the clusters, not with the threads.

use super::Loop;
use crate::partition::{Body, Gather};
use crate::pool::PartialSlot;
use manycore_platform::Platform;
use std::cell::{Cell, UnsafeCell};
use std::marker::PhantomData;
use std::ops::Range;

/// What a stretch of neighbouring indices reduces to.
struct Stretch<R> {
    range: Range<usize>,
    value: R,
}

/// The partial result of one participant while the loop runs. The last stretch has fields of its own: a
/// participant that steals nothing allocates nothing for it.
struct Partial<R> {
    last: Range<usize>,
    value: Option<R>,
    /// The earlier stretches, in the order of running.
    earlier: Vec<Stretch<R>>,
}

impl<R> Partial<R> {
    const fn new() -> Self {
        Self {
            last: 0..0,
            value: None,
            earlier: Vec::new(),
        }
    }

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
        if let Some(value) = self.value.take() {
            let range = self.last.clone();
            self.earlier.push(Stretch { range, value });
        }
        self.last.start = start;
    }
}

/// What one or several participants have done: stretches in order.
struct Gathered<R> {
    first: Stretch<R>,
    /// Those after it. Most often there are none: neighbours have shares that lie next to one another.
    others: Vec<Stretch<R>>,
    /// In the caller's list: the next.
    next: Option<Box<Self>>,
}

impl<R> Gathered<R> {
    /// `None`: the participant ran nothing.
    fn of(partial: Partial<R>, reduce: &impl Fn(R, R) -> R) -> Option<Self> {
        let last = Stretch {
            range: partial.last,
            value: partial.value?,
        };
        if partial.earlier.is_empty() {
            return Some(Self {
                first: last,
                others: Vec::new(),
                next: None,
            });
        }
        let mut all = partial.earlier;
        all.push(last);
        let mut all = in_order(all, reduce);
        let first = all.remove(0);
        Some(Self {
            first,
            others: all,
            next: None,
        })
    }

    /// Both. Stretches that lie next to one another become one.
    fn join(mut self: Box<Self>, other: Box<Self>, reduce: &impl Fn(R, R) -> R) -> Box<Self> {
        let (a, b) = (&self.first.range, &other.first.range);
        let is_next = a.end == b.start || b.end == a.start;
        if is_next && self.others.is_empty() && other.others.is_empty() {
            let (left, right) = if a.end == b.start {
                (self.first, other.first)
            } else {
                (other.first, self.first)
            };
            self.first = Stretch {
                range: left.range.start..right.range.end,
                value: reduce(left.value, right.value),
            };
            return self;
        }
        let mut all = self.others;
        all.push(self.first);
        all.push(other.first);
        all.extend(other.others);
        let mut all = in_order(all, reduce);
        self.first = all.remove(0);
        self.others = all;
        self
    }
}

/// The stretches, sorted. Those that lie next to one another become one.
#[inline(never)]
fn in_order<R>(all: Vec<Stretch<R>>, reduce: &impl Fn(R, R) -> R) -> Vec<Stretch<R>> {
    let mut order: Vec<_> = (all.iter().enumerate())
        .map(|(at, stretch)| (stretch.range.start, at))
        .collect();
    sort(&mut order);
    let mut all: Vec<_> = all.into_iter().map(Some).collect();
    let mut sorted: Vec<Stretch<R>> = Vec::with_capacity(all.len());
    for right in order.into_iter().filter_map(|(_, at)| all[at].take()) {
        match sorted.pop() {
            Some(left) if left.range.end == right.range.start => sorted.push(Stretch {
                range: left.range.start..right.range.end,
                value: reduce(left.value, right.value),
            }),
            left => {
                sorted.extend(left);
                sorted.push(right);
            }
        }
    }
    sorted
}

/// Sorts stretches by their starts. It is not generic, so that it is compiled once.
#[inline(never)]
fn sort(order: &mut [(usize, usize)]) {
    order.sort_unstable();
}

/// A loop that reduces: its body, and the partial results that its caller has.
struct Reduction<P, R, E, C> {
    /// Maps a block, and reduces it with the result to the left of it.
    extend: E,
    reduce: C,
    /// The caller's own partial result.
    own: UnsafeCell<Partial<R>>,
    /// Those that the caller has taken from the slots.
    gathered: Cell<Option<Box<Gathered<R>>>>,
    platform: PhantomData<fn() -> P>,
}

// SAFETY: the cells are used by the caller of the loop alone. Values move between threads, so `R: Send`.
unsafe impl<P, R: Send, E: Sync, C: Sync> Sync for Reduction<P, R, E, C> {}

impl<P, R, E, C> Gather for Reduction<P, R, E, C>
where
    P: Platform,
    R: Send,
    E: Fn(Option<R>, Range<usize>) -> R + Sync,
    C: Fn(R, R) -> R + Sync,
{
    type Partial = Partial<R>;

    fn begin(&self) -> Partial<R> {
        Partial::new()
    }

    #[inline(always)]
    fn run(&self, partial: Option<&UnsafeCell<Partial<R>>>, block: Range<usize>) {
        let place = partial.unwrap_or(&self.own);
        let end = block.end;
        // SAFETY: this thread alone uses it, and not while `extend` runs, in which the thread may come
        // here again.
        let left = unsafe { &mut *place.get() }.take_left_of(block.start);
        let value = (self.extend)(left, block);
        // SAFETY: as above, after `extend` has returned.
        let mine = unsafe { &mut *place.get() };
        mine.last.end = end;
        mine.value = Some(value);
    }

    unsafe fn leave(&self, partial: Partial<R>, slot: *const ()) {
        let Some(gathered) = Gathered::of(partial, &self.reduce) else {
            return;
        };
        // SAFETY: by contract a slot of this platform, which only this loop uses.
        unsafe {
            (*slot.cast::<PartialSlot<P>>()).leave(Box::new(gathered), |one, other| {
                Gathered::join(one, other, &self.reduce)
            });
        }
    }

    unsafe fn take(&self, slot: *const ()) {
        // SAFETY: by contract, as in `leave`.
        let left = unsafe { (*slot.cast::<PartialSlot<P>>()).take::<Gathered<R>>() };
        if let Some(mut left) = left {
            left.next = self.gathered.take();
            self.gathered.set(Some(left));
        }
    }
}

impl<P, R, E, C: Fn(R, R) -> R> Reduction<P, R, E, C> {
    const fn new(extend: E, reduce: C) -> Self {
        Self {
            extend,
            reduce,
            own: UnsafeCell::new(Partial::new()),
            gathered: Cell::new(None),
            platform: PhantomData,
        }
    }

    /// Reduces all results, from the left. It returns `None` if there are no results.
    #[inline]
    fn result(self) -> Option<R> {
        let own = self.own.into_inner();
        match self.gathered.into_inner() {
            None if own.earlier.is_empty() => own.value,
            gathered => all_reduced(own, gathered, &self.reduce),
        }
    }
}

/// Reduces the results of the caller and of its helpers.
#[inline(never)]
fn all_reduced<R>(
    own: Partial<R>,
    mut gathered: Option<Box<Gathered<R>>>,
    reduce: &impl Fn(R, R) -> R,
) -> Option<R> {
    let mut all = own.earlier;
    all.extend(own.value.map(|value| Stretch {
        range: own.last,
        value,
    }));
    while let Some(some) = gathered {
        all.push(some.first);
        all.extend(some.others);
        gathered = some.next;
    }
    let whole = in_order(all, reduce)
        .into_iter()
        .map(|stretch| stretch.value);
    whole.reduce(reduce)
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

    /// As [`map_reduce`](Self::map_reduce), but a block is mapped as a whole, by `extend`. It gets the
    /// result of the blocks to the left as well, if the same thread has run them. `None` if the range is empty.
    pub(crate) fn reduce_blocks<R: Send>(
        &self,
        range: Range<usize>,
        extend: impl Fn(Option<R>, Range<usize>) -> R + Sync,
        reduce: impl Fn(R, R) -> R + Sync,
    ) -> Option<R> {
        let reduction = Reduction::<P, _, _, _>::new(extend, reduce);
        self.drive(range, Body::gathering(&reduction));
        reduction.result()
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
