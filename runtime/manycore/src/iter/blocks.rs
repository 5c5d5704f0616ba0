//! Loops over blocks, from which consumers are built.

use super::ParallelIterator;
use super::tried::Tried;
use super::unwinding::{Unwinding, one_of};
use crate::loops::loop_here;
use manycore_cores::sync::let_go;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// Calls `of_range` with the range of each block of `items`.
///
/// Each call must first make the block of its range, or discard it. If a call panics and `items` owns its
/// items, `ranges` discards the blocks that begin later.
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

/// Calls `of_range` with the range of each block of `items`, and reduces neighbouring results with `reduce`.
/// Returns `None` if `items` has no index.
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

/// As [`reduced`], but `extend` also gets the result of the blocks to the left, if the same thread has run
/// them. Each call of `extend` must first make the block of its range.
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
    // The loop goes on after a panic, so each of the results may be missing.
    let both = |left: Option<R>, right: Option<R>| {
        let mut pair = Some((left, right));
        let mut value = None;
        unwinding.watch(&mut |over| match pair.take() {
            Some((Some(left), Some(right))) if !over => value = Some(reduce(left, right)),
            Some((left, right)) => {
                let_go(left);
                let_go(right);
            }
            None => {}
        });
        value
    };
    let value = loop_here(|here| here.reduce_blocks(0..indices, watched, both));
    unwinding.end();
    value.flatten()
}

/// Returns any result of `map` that is not `None`. After a thread has found such a result, the other items are
/// discarded.
pub(super) fn any_of<I: ParallelIterator, R: Send>(
    items: &I,
    map: impl Fn(I::Item) -> Option<R> + Sync,
) -> Option<R> {
    let (over, found) = (AtomicBool::new(false), Mutex::new(None));
    ranges(items, |range| {
        // Relaxed: a thread that does not see the store yet searches for longer.
        if over.load(Relaxed) {
            // SAFETY: a loop gives out each index once.
            return unsafe { items.discard(range) };
        }
        // SAFETY: as above.
        let mut block = unsafe { items.block(range) };
        let result = block.find_map(|item| match over.load(Relaxed) {
            true => Some(None),
            false => map(item).map(Some),
        });
        if let Some(result) = result.flatten() {
            over.store(true, Relaxed);
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            // A superfluous result is dropped after the lock is released.
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

/// Returns the result of `map` for the first item whose result is not `None`. Once a block has a result, the
/// items of later blocks are discarded.
pub(super) fn first_of<I: ParallelIterator, R: Send>(
    items: &I,
    map: impl Fn(I::Item) -> Option<R> + Sync,
) -> Option<R> {
    let (limit, found) = (AtomicUsize::new(usize::MAX), Mutex::new(None));
    ranges(items, |range| {
        let start = range.start;
        // Relaxed: a thread that does not see the store yet searches for longer.
        if limit.load(Relaxed) < start {
            // SAFETY: a loop gives out each index once.
            return unsafe { items.discard(range) };
        }
        // SAFETY: as above.
        let mut block = unsafe { items.block(range) };
        let result = block.find_map(|item| match limit.load(Relaxed) < start {
            true => Some(None),
            false => map(item).map(Some),
        });
        if let Some(result) = result.flatten() {
            limit.fetch_min(start, Relaxed);
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            let beaten = match &*found {
                Some((before, _)) if *before < start => Some((start, result)),
                _ => found.replace((start, result)),
            };
            // The result is dropped after the lock is released.
            drop(found);
            drop(beaten);
        }
    });
    let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.map(|(_, result)| result)
}

/// As [`try_reduce`](ParallelIterator::try_reduce), but returns `None` if there is no item.
pub(super) fn try_reduced<I: ParallelIterator<Item: Tried<Output = T>>, T>(
    items: &I,
    reduce: impl Fn(T, T) -> I::Item + Sync,
) -> Option<I::Item> {
    // Whether a bad item was found.
    let over = AtomicBool::new(false);
    let both = |left: T, right: I::Item| match right.branch() {
        ControlFlow::Continue(right) => reduce(left, right).branch(),
        ControlFlow::Break(bad) => ControlFlow::Break(one_of(bad, left)),
    };
    let of_range = |range| {
        // Relaxed: a thread that does not see the store yet goes on for longer.
        if over.load(Relaxed) {
            // SAFETY: a loop gives out each index once.
            unsafe { items.discard(range) };
            return None;
        }
        // SAFETY: as above.
        let mut block = unsafe { items.block(range) };
        let (mut good, mut bad) = (None, None);
        while !over.load(Relaxed) {
            let Some(item) = block.next() else { break };
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
