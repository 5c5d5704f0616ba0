//! Prefix sums and other scans, in place.
//!
//! There are two passes. The first reads every block except the last, and keeps each block's total. The second reads
//! and writes every block, and starts each from the total of all blocks before it. That is two reads and one write for
//! each item. A slice of one block needs only the second pass. Blocks depend only on the slice's length, so results do
//! not depend on the threads.

use super::Loop;
use manycore_platform::Platform;

/// The fewest items in a block. With fewer items, two visits to a block would cost more than they save.
const MIN_BLOCK: usize = 2048;
/// The largest number of blocks. It is limited since one thread combines their totals.
const MAX_BLOCKS: usize = 512;

impl<P: Platform> Loop<'_, P> {
    /// Like [`Pool::inclusive_scan`](crate::Pool::inclusive_scan).
    pub fn inclusive_scan<T: Clone + Send + Sync>(
        &self,
        items: &mut [T],
        op: impl Fn(&T, &T) -> T + Sync,
    ) {
        let block = block(items.len());
        let before = self.prefixes(items, block, None, &op);
        self.chunks_mut(items, block, |index, items| {
            let mut sum = before[index].clone();
            for item in items {
                let next = sum
                    .as_ref()
                    .map_or_else(|| item.clone(), |sum| op(sum, item));
                item.clone_from(&next);
                sum = Some(next);
            }
        });
    }

    /// Like [`Pool::exclusive_scan`](crate::Pool::exclusive_scan).
    ///
    /// # Panics
    ///
    /// Like [`Pool::exclusive_scan`](crate::Pool::exclusive_scan).
    pub fn exclusive_scan<T: Clone + Send + Sync>(
        &self,
        items: &mut [T],
        identity: T,
        op: impl Fn(&T, &T) -> T + Sync,
    ) -> T {
        let Some(last) = items.last().cloned() else {
            return identity;
        };
        let block = block(items.len());
        let before = self.prefixes(items, block, Some(identity), &op);
        self.chunks_mut(items, block, |index, items| {
            let mut sum = before[index].clone().expect("every block has a prefix");
            for item in items {
                let next = op(&sum, item);
                *item = std::mem::replace(&mut sum, next);
            }
        });
        op(&items[items.len() - 1], &last)
    }

    /// Returns the sum before each block: `first` and the totals of all earlier blocks, combined from the left.
    fn prefixes<T: Clone + Send + Sync>(
        &self,
        items: &[T],
        block: usize,
        first: Option<T>,
        op: &(impl Fn(&T, &T) -> T + Sync),
    ) -> Vec<Option<T>> {
        let mut before = vec![None; items.len().div_ceil(block)];
        if let [_, rest @ ..] = &mut *before {
            self.chunks_mut(rest, 1, |index, total| {
                let items = &items[index * block..(index + 1) * block];
                let sum = items[1..]
                    .iter()
                    .fold(items[0].clone(), |sum, item| op(&sum, item));
                total[0] = Some(sum);
            });
        }
        let mut sum = first;
        for total in &mut before {
            // The first entry has no total: nothing comes before its block.
            sum = match (&sum, &*total) {
                (Some(sum), Some(total)) => Some(op(sum, total)),
                (None, total) => total.clone(),
                (Some(sum), None) => Some(sum.clone()),
            };
            total.clone_from(&sum);
        }
        before
    }
}

fn block(n: usize) -> usize {
    n.div_ceil(MAX_BLOCKS).max(MIN_BLOCK)
}
