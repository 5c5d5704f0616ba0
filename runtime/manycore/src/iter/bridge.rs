//! Shares an ordinary iterator among threads.

use super::ParallelIterator;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Makes a parallel iterator from an ordinary iterator.
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
    /// Returns a parallel iterator over the items, in no order. After each item, a thread takes the next item under a
    /// lock, which takes about 20 ns. Use this if the iterator cannot be divided and the work for each item takes
    /// longer than the lock. Otherwise collect the items into a vector first.
    ///
    /// If the iterator's `next` makes a parallel call, the thread runs only descendants of that call, so
    /// `next` never runs inside itself. After a panic of `next`, it is not called again. A wrong
    /// `size_hint` loses no item.
    fn par_bridge(self) -> Bridge<Self>;
}

impl<I: Iterator<Item: Send> + Send> ParallelBridge for I {
    fn par_bridge(self) -> Bridge<I> {
        Bridge {
            // At most as many threads as indices share the source. There is at least one index, so that a block asks
            // the source even if its hint is wrong.
            indices: self.size_hint().1.unwrap_or(MANY).clamp(1, MANY),
            items: Mutex::new(self),
            over: AtomicBool::new(false),
        }
    }
}

/// The largest number of indices that a loop can count one by one.
const MANY: usize = (1 << 31) - 1;

/// See [`ParallelBridge::par_bridge`].
///
/// The number of indices is the upper bound of the source's `size_hint`, at least 1 and at most
/// 2,147,483,647. A block takes at most as many items as it has indices. The block with the last index
/// takes all items that are left. Blocks that run after the last item are empty.
#[derive(Debug)]
pub struct Bridge<I> {
    items: Mutex<I>,
    indices: usize,
    /// Whether the iterator has returned `None`, or panicked.
    over: AtomicBool,
}

impl<I: Iterator<Item: Send> + Send> Bridge<I> {
    fn next(&self) -> Option<I::Item> {
        // Relaxed: a thread that does not see the store yet finds out under the lock.
        if self.over.load(Relaxed) {
            return None;
        }
        let end = || self.over.store(true, Relaxed);
        // If the lock is poisoned, the iterator has panicked.
        let Ok(mut items) = self.items.lock() else {
            end();
            return None;
        };
        // Another thread may have reached the end while this thread waited for the lock.
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
