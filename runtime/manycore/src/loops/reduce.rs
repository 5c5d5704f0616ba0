//! Reductions that keep the order of the indices.
//!
//! Each participant reduces the results of the iterations that it runs. The helpers of a cluster (a group of near
//! threads) join their partial results, and the caller takes one partial result from each cluster. So the caller's work
//! at the end grows with the number of clusters, and not with the number of threads.

use super::Loop;
use crate::partition::{Body, Gather};
use crate::pool::PartialSlot;
use manycore_platform::Platform;
use std::cell::{Cell, UnsafeCell};
use std::collections::BinaryHeap;
use std::marker::PhantomData;
use std::ops::Range;

/// A range of neighbouring indices and the reduced result of them.
struct Stretch<R> {
    range: Range<usize>,
    /// `None` only during a call of `reduce`.
    value: Option<R>,
}

impl<R> Stretch<R> {
    /// Reduces this stretch with its right neighbour.
    fn extend(&mut self, right: Self, reduce: &impl Fn(R, R) -> R) {
        self.range.end = right.range.end;
        self.value = match (self.value.take(), right.value) {
            (Some(left), Some(right)) => Some(reduce(left, right)),
            (left, right) => left.or(right),
        };
    }
}

/// The partial result of one participant while the loop runs. The last stretch has its own fields, so a participant
/// that steals nothing needs no allocation for the list.
struct Partial<R> {
    last: Range<usize>,
    value: Option<R>,
    /// The earlier stretches, in the order in which they ran.
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

    /// If the participant's last stretch ends at `start`, takes its result. Otherwise begins a new stretch at
    /// `start`.
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
            let value = Some(value);
            self.earlier.push(Stretch { range, value });
        }
        self.last.start = start;
    }
}

/// A stretch in a list, and the stretches after it.
struct Node<R> {
    stretch: Stretch<R>,
    next: Option<Box<Self>>,
}

/// The stretches of one or several participants, in the order of their starts. Adjacent stretches are merged.
///
/// This is a linked list so that nodes can pass from thread to thread: to join two lists allocates nothing.
struct Gathered<R>(Option<Box<Node<R>>>);

impl<R> Gathered<R> {
    /// Creates the list of the stretches that a participant has run.
    fn of(mut partial: Partial<R>, reduce: &impl Fn(R, R) -> R) -> Self {
        let node = |stretch| {
            Self(Some(Box::new(Node {
                stretch,
                next: None,
            })))
        };
        let range = partial.last;
        let last = partial.value.take().map(|value| Stretch {
            range,
            value: Some(value),
        });
        if partial.earlier.is_empty() {
            return last.map_or(Self(None), node);
        }
        let mut all = partial.earlier;
        all.extend(last);
        let starts = all.iter().map(|stretch| stretch.range.start).collect();
        let mut list = Self(None);
        // The list grows at its beginning.
        for at in descending(starts) {
            let (range, value) = (all[at].range.clone(), all[at].value.take());
            list = node(Stretch { range, value }).join(list, reduce);
        }
        list
    }

    /// Merges two lists.
    fn join(mut self, mut other: Self, reduce: &impl Fn(R, R) -> R) -> Self {
        let mut all = Self(None);
        let mut end = &mut all.0;
        let Some(mut last) = self.first_of_both(&mut other) else {
            return all;
        };
        while let Some(next) = self.first_of_both(&mut other) {
            if last.stretch.range.end == next.stretch.range.start {
                last.stretch.extend(next.stretch, reduce);
            } else {
                end = &mut end.insert(last).next;
                last = next;
            }
            // If one list is empty, the rest of the other list needs no more work unless its first stretch touches
            // `last`.
            let rest = match (&self.0, &other.0) {
                (Some(_), None) => &mut self.0,
                (None, Some(_)) => &mut other.0,
                _ => continue,
            };
            if (rest.as_ref()).is_some_and(|it| it.stretch.range.start != last.stretch.range.end) {
                last.next = rest.take();
                break;
            }
        }
        *end = Some(last);
        all
    }

    /// Takes the node with the lowest start from the two lists.
    fn first_of_both(&mut self, other: &mut Self) -> Option<Box<Node<R>>> {
        let start = |list: &Self| (list.0.as_ref()).map_or(usize::MAX, |it| it.stretch.range.start);
        let list = if start(self) <= start(other) {
            self
        } else {
            other
        };
        list.pop()
    }

    fn pop(&mut self) -> Option<Box<Node<R>>> {
        let mut first = self.0.take()?;
        self.0 = first.next.take();
        Some(first)
    }
}

impl<R> Drop for Gathered<R> {
    // This drops the nodes one by one, since dropping a long list by recursion could overflow the stack.
    fn drop(&mut self) {
        while self.pop().is_some() {}
    }
}

/// The positions of the starts, from the highest start on. This function is compiled once, and not for each type of
/// result.
fn descending(starts: Vec<usize>) -> Vec<usize> {
    let positions = starts.into_iter().enumerate();
    let mut heap: BinaryHeap<_> = positions.map(|(at, start)| (start, at)).collect();
    let mut order = Vec::with_capacity(heap.len());
    while let Some((_, at)) = heap.pop() {
        order.push(at);
    }
    order
}

/// The body of a loop that reduces, and the partial results that the caller of the loop has.
#[repr(C)]
struct Reduction<P, R, E, C> {
    /// Maps a block, and reduces the result with the result to its left.
    extend: E,
    reduce: C,
    platform: PhantomData<fn() -> P>,
    callers: Callers<R>,
}

/// The data that only the caller uses. The caller writes them after each block, so helpers must not read from these
/// cache lines.
#[repr(align(64))]
struct Callers<R> {
    own: UnsafeCell<Partial<R>>,
    /// The partial results that the caller has taken from the slots.
    gathered: Cell<Vec<Gathered<R>>>,
}

// SAFETY: only the caller of the loop uses the cells. Values move between threads, so `R: Send`.
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
        let place = partial.unwrap_or(&self.callers.own);
        let end = block.end;
        // SAFETY: only this thread uses the place. `extend` may call this function again, and no reference to the
        // place exists while `extend` runs.
        let left = unsafe { &mut *place.get() }.take_left_of(block.start);
        let value = (self.extend)(left, block);
        // SAFETY: as above, after `extend` has returned.
        let mine = unsafe { &mut *place.get() };
        mine.last.end = end;
        mine.value = Some(value);
    }

    unsafe fn leave(&self, partial: Partial<R>, slot: *const ()) {
        let Some(gathered) = Gathered::of(partial, &self.reduce).0.take() else {
            return;
        };
        let join = |one, other| {
            // Two lists that are not empty give a list that is not empty.
            let (one, other) = (Gathered(Some(one)), Gathered(Some(other)));
            one.join(other, &self.reduce).0.take()
        };
        // SAFETY: by contract `slot` is a `PartialSlot` of this platform, which only this loop uses.
        unsafe { (*slot.cast::<PartialSlot<P>>()).leave(gathered, join) };
    }

    unsafe fn take(&self, slot: *const ()) {
        // SAFETY: by contract, as in `leave`.
        let left = unsafe { (*slot.cast::<PartialSlot<P>>()).take_last::<Node<R>>() };
        // This reduces nothing yet: if the user's code panicked here, the values in the other slots would stay
        // there.
        let mut gathered = self.callers.gathered.take();
        gathered.extend(left.map(|first| Gathered(Some(first))));
        self.callers.gathered.set(gathered);
    }
}

impl<P, R, E, C: Fn(R, R) -> R> Reduction<P, R, E, C> {
    const fn new(extend: E, reduce: C) -> Self {
        Self {
            extend,
            reduce,
            platform: PhantomData,
            callers: Callers {
                own: UnsafeCell::new(Partial::new()),
                gathered: Cell::new(Vec::new()),
            },
        }
    }

    /// Reduces all results, from the left. Returns `None` if there are no results.
    #[inline]
    fn result(self) -> Option<R> {
        let own = self.callers.own.into_inner();
        let gathered = self.callers.gathered.into_inner();
        if gathered.is_empty() && own.earlier.is_empty() {
            return own.value;
        }
        all_reduced(own, gathered, &self.reduce)
    }
}

/// Reduces the results of the caller and of its helpers.
#[inline(never)]
fn all_reduced<R>(
    own: Partial<R>,
    gathered: Vec<Gathered<R>>,
    reduce: &impl Fn(R, R) -> R,
) -> Option<R> {
    let own = Gathered::of(own, reduce);
    // The lists come in the order of clusters, so each usually goes to the end of `all`.
    let mut all = (gathered.into_iter()).fold(own, |all, more| all.join(more, reduce));
    let mut whole = all.pop()?.stretch;
    // All iterations have run, so the list had only one stretch, and this loop finds none.
    while let Some(right) = all.pop() {
        whole.extend(right.stretch, reduce);
    }
    whole.value
}

/// The number of blocks in a deterministic reduction: enough for many threads to share, and few enough for one
/// thread to combine.
const DETERMINISTIC_BLOCKS: usize = 1024;

impl<P: Platform> Loop<'_, P> {
    /// Like [`Pool::map_reduce`](crate::Pool::map_reduce).
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

    /// Like [`map_reduce`](Self::map_reduce), but `extend` maps a whole block. If the same thread has run the
    /// blocks to the left, `extend` also gets their result. Returns `None` if the range is empty.
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

    /// Like [`Pool::map_reduce_deterministic`](crate::Pool::map_reduce_deterministic).
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

/// Maps and reduces a range that is not empty, from the left.
fn fold<R>(block: Range<usize>, map: impl Fn(usize) -> R, reduce: impl Fn(R, R) -> R) -> R {
    let first = map(block.start);
    (block.start + 1..block.end).fold(first, |left, i| reduce(left, map(i)))
}
