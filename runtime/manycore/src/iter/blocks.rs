//! The loops that consumers are made of.

use super::ParallelIterator;
use super::tried::Tried;
use super::unwinding::{Unwinding, one_of};
use crate::loops::loop_here;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// Runs `of_range` on all indices of `items`, in blocks.
///
/// `of_range` first makes the block of its range, or discards it. If a call panics, and the iterator owns
/// its items, the other blocks are discarded.
pub(super) fn ranges<I: ParallelIterator>(items: &I, of_range: impl Fn(Range<usize>) + Sync) {
    let indices = items.indices();
    if !I::OWNS {
        return loop_here(|here| here.parallel_for_blocks(0..indices, of_range));
    }
    let unwinding = Unwinding::new();
    let watched = |range: Range<usize>| {
        unwinding.watch(&mut |over| match over {
            false => of_range(range.clone()),
            // SAFETY: a loop gives out each index once.
            true => unsafe { items.discard(range.clone()) },
        });
    };
    loop_here(|here| here.parallel_for_blocks(0..indices, watched));
    unwinding.end();
}

/// Applies `of_block` to each block of `items`, and `reduce` to the results of neighbours; `None`
/// if there is no index.
pub(super) fn reduced<I: ParallelIterator, R: Send>(
    items: &I,
    of_range: impl Fn(Range<usize>) -> R + Sync,
    reduce: impl Fn(R, R) -> R + Sync,
) -> Option<R> {
    let extend = |left, range| match left {
        Some(left) => reduce(left, of_range(range)),
        None => of_range(range),
    };
    extended(items, extend, &reduce)
}

/// As [`reduced`]. `extend` gets the result of the blocks to the left as well, if the same thread has run
/// them. It first makes the block of its range.
pub(super) fn extended<I: ParallelIterator, R: Send>(
    items: &I,
    extend: impl Fn(Option<R>, Range<usize>) -> R + Sync,
    reduce: impl Fn(R, R) -> R + Sync,
) -> Option<R> {
    let indices = items.indices();
    if !I::OWNS {
        return loop_here(|here| here.reduce_blocks(0..indices, extend, reduce));
    }
    let unwinding = Unwinding::new();
    let watched = |left: Option<Option<R>>, range: Range<usize>| {
        let mut value = left.flatten();
        unwinding.watch(&mut |over| match over {
            false => value = Some(extend(value.take(), range.clone())),
            // SAFETY: a loop gives out each index once.
            true => unsafe { items.discard(range.clone()) },
        });
        value
    };
    // The loop goes on after a panic, so one of two results may be missing.
    let both = |left: Option<R>, right: Option<R>| {
        let mut pair = Some((left?, right?));
        let mut value = None;
        unwinding.watch(&mut |over| {
            if let Some((left, right)) = pair.take().filter(|_| !over) {
                value = Some(reduce(left, right));
            }
        });
        value
    };
    let value = loop_here(|here| here.reduce_blocks(0..indices, watched, both));
    unwinding.end();
    value.flatten()
}

/// The first result of `map` that is not `None`, for any item. Blocks that begin after that are
/// skipped.
pub(super) fn any_of<I: ParallelIterator, R: Send>(
    items: &I,
    map: impl Fn(I::Item) -> Option<R> + Sync,
) -> Option<R> {
    let (over, found) = (AtomicBool::new(false), Mutex::new(None));
    ranges(items, |range| {
        // Relaxed: a thread that misses it searches for longer.
        if over.load(Relaxed) {
            // SAFETY: a loop gives out each index once.
            return unsafe { items.discard(range) };
        }
        // SAFETY: as above.
        let mut block = unsafe { items.block(range) };
        if let Some(result) = block.find_map(&map) {
            over.store(true, Relaxed);
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            // The result of another thread is not dropped under the lock.
            let later = match *found {
                None => found.replace(result),
                Some(_) => Some(result),
            };
            drop(found);
            drop(later);
        }
    });
    found.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// The result of `map` for the first item that does not give `None`. Blocks after a block with a
/// result are skipped.
pub(super) fn first_of<I: ParallelIterator, R: Send>(
    items: &I,
    map: impl Fn(I::Item) -> Option<R> + Sync,
) -> Option<R> {
    let (limit, found) = (AtomicUsize::new(usize::MAX), Mutex::new(None));
    ranges(items, |range| {
        let start = range.start;
        // Relaxed: a thread that misses it searches for longer.
        if limit.load(Relaxed) < start {
            // SAFETY: a loop gives out each index once.
            return unsafe { items.discard(range) };
        }
        // SAFETY: as above.
        let mut block = unsafe { items.block(range) };
        if let Some(result) = block.find_map(&map) {
            limit.fetch_min(start, Relaxed);
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            let beaten = match &*found {
                Some((before, _)) if *before < start => Some((start, result)),
                _ => found.replace((start, result)),
            };
            // Neither is dropped under the lock.
            drop(found);
            drop(beaten);
        }
    });
    let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.map(|(_, result)| result)
}

/// As [`try_reduce`](ParallelIterator::try_reduce); `None` if there is no item.
pub(super) fn try_reduced<I: ParallelIterator<Item: Tried<Output = T>>, T>(
    items: &I,
    reduce: impl Fn(T, T) -> I::Item + Sync,
) -> Option<I::Item> {
    // Whether one was bad.
    let over = AtomicBool::new(false);
    let both = |left: T, right: I::Item| match right.branch() {
        ControlFlow::Continue(right) => reduce(left, right).branch(),
        ControlFlow::Break(bad) => ControlFlow::Break(one_of(bad, left)),
    };
    let of_range = |range| {
        // Relaxed: a thread that does not see it yet goes on for longer.
        if over.load(Relaxed) {
            // SAFETY: a loop gives out each index once.
            unsafe { items.discard(range) };
            return None;
        }
        // SAFETY: as above.
        let mut block = unsafe { items.block(range) };
        let (mut good, mut bad) = (None, None);
        for item in block.by_ref() {
            let flow = match good.take() {
                None => item.branch(),
                Some(left) => both(left, item),
            };
            match flow {
                ControlFlow::Continue(next) => good = Some(next),
                ControlFlow::Break(first) => {
                    over.store(true, Relaxed);
                    bad = Some(first);
                    break;
                }
            }
        }
        one_of(bad.or(good.map(I::Item::good)), block)
    };
    let either = |left: Option<I::Item>, right: Option<I::Item>| match (left, right) {
        (Some(left), Some(right)) => match left.branch() {
            ControlFlow::Continue(left) => Some(match both(left, right) {
                ControlFlow::Continue(good) => I::Item::good(good),
                ControlFlow::Break(bad) => bad,
            }),
            ControlFlow::Break(bad) => Some(one_of(bad, right)),
        },
        (left, right) => left.or(right),
    };
    reduced(items, of_range, either).flatten()
}
