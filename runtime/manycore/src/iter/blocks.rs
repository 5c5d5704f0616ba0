//! The loops that consumers are made of.

use super::ParallelIterator;
use crate::loops::loop_here;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// Runs `of_range` on all of `indices`, in blocks.
pub(super) fn ranges(indices: usize, of_range: impl Fn(Range<usize>) + Sync) {
    loop_here(|here| here.parallel_for_blocks(0..indices, of_range));
}

/// What `of_range` makes of each block of `indices`, and `reduce` of neighbours; `None` if there is
/// no index.
pub(super) fn reduced<R: Send>(
    indices: usize,
    of_range: impl Fn(Range<usize>) -> R + Sync,
    reduce: impl Fn(R, R) -> R + Sync,
) -> Option<R> {
    let extend = |left, range| match left {
        Some(left) => reduce(left, of_range(range)),
        None => of_range(range),
    };
    extended(indices, extend, &reduce)
}

/// As [`reduced`]; `extend` has what came of the blocks to the left, if it was on this thread.
pub(super) fn extended<R: Send>(
    indices: usize,
    extend: impl Fn(Option<R>, Range<usize>) -> R + Sync,
    reduce: impl Fn(R, R) -> R,
) -> Option<R> {
    loop_here(|here| here.reduce_blocks(0..indices, extend, reduce))
}

/// What `map` gives of an item, whichever it first gives something of. Blocks that begin after that
/// are skipped.
pub(super) fn any_of<I: ParallelIterator, R: Send>(
    items: &I,
    map: impl Fn(I::Item) -> Option<R> + Sync,
) -> Option<R> {
    let (over, found) = (AtomicBool::new(false), Mutex::new(None));
    ranges(items.indices(), |range| {
        // Relaxed: who misses it searches for longer.
        let stop = over.load(Relaxed);
        // SAFETY: a loop gives out each index once.
        let mut block = unsafe { items.block(range) };
        if stop {
            return;
        }
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

/// What `map` gives of the first item of which it gives something. Blocks behind one in which it
/// has are skipped.
pub(super) fn first_of<I: ParallelIterator, R: Send>(
    items: &I,
    map: impl Fn(I::Item) -> Option<R> + Sync,
) -> Option<R> {
    let (limit, found) = (AtomicUsize::new(usize::MAX), Mutex::new(None));
    ranges(items.indices(), |range| {
        let start = range.start;
        // Relaxed: who misses it searches for longer.
        let stop = limit.load(Relaxed) < start;
        // SAFETY: a loop gives out each index once.
        let mut block = unsafe { items.block(range) };
        if stop {
            return;
        }
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
