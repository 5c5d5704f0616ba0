//! Ordinary iterators, which several threads share.

use super::ParallelIterator;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Makes a parallel iterator of an ordinary one.
///
/// ```
/// use manycore::prelude::*;
///
/// let (send, receive) = std::sync::mpsc::channel();
/// (0..10).for_each(|i| send.send(i).unwrap());
/// drop(send);
/// assert_eq!(receive.into_iter().par_bridge().map(|i| i * i).sum::<i32>(), 285);
/// ```
pub trait ParallelBridge: Iterator<Item: Send> + Send + Sized {
    /// A parallel iterator over the items, in no order: a thread takes the next one, under a lock,
    /// when it has done with the one before. For iterators that cannot be divided, and items that
    /// take longer than a lock, some 20 ns. Others are collected first, and then shared.
    ///
    /// If the iterator's `next` makes parallel calls, these run no descendants of other items, so
    /// `next` never runs inside itself. After its first panic no thread asks it. A wrong
    /// `size_hint` loses no item.
    fn par_bridge(self) -> Bridge<Self>;
}

impl<I: Iterator<Item: Send> + Send> ParallelBridge for I {
    fn par_bridge(self) -> Bridge<I> {
        Bridge {
            // A source with few items is not shared among more threads than items. The hint may be
            // wrong: at least one block asks the source.
            indices: self.size_hint().1.unwrap_or(MANY).clamp(1, MANY),
            items: Mutex::new(self),
            over: AtomicBool::new(false),
        }
    }
}

/// As many indices as a loop counts one by one.
const MANY: usize = (1 << 31) - 1;

/// See [`ParallelBridge::par_bridge`].
///
/// It has as many indices as the source may have items, and at least one. A block takes as many items as it has indices
/// from the iterator; the one with the last index takes all that are left. So blocks after the
/// last item are empty.
#[derive(Debug)]
pub struct Bridge<I> {
    items: Mutex<I>,
    indices: usize,
    /// The iterator has said that there is no more.
    over: AtomicBool,
}

impl<I: Iterator<Item: Send> + Send> Bridge<I> {
    fn next(&self) -> Option<I::Item> {
        // Relaxed: a thread that misses it asks under the lock.
        if self.over.load(Relaxed) {
            return None;
        }
        let end = || self.over.store(true, Relaxed);
        // It has panicked.
        let Ok(mut items) = self.items.lock() else {
            end();
            return None;
        };
        // Others may have come to the end while this thread waited.
        if self.over.load(Relaxed) {
            return None;
        }
        let item = items.next();
        if item.is_none() {
            end();
        }
        item
    }
}

impl<I: Iterator<Item: Send> + Send> ParallelIterator for Bridge<I> {
    type Item = I::Item;
    const EXACT: bool = false;
    const OWNS: bool = false;

    fn indices(&self) -> usize {
        self.indices
    }

    unsafe fn block(&self, block: Range<usize>) -> impl Iterator<Item = I::Item> {
        let left = match block.end == self.indices {
            true => usize::MAX,
            false => block.len(),
        };
        std::iter::from_fn(|| self.next()).take(left)
    }

    unsafe fn discard(&self, _: Range<usize>) {}
}
