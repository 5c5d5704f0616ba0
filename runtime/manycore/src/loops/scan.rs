//! Prefix sums and other scans, in place.
//!
//! Reduce, then scan: the first pass reads every block but the last and keeps
//! its total, the second reads and writes every block, starting from the
//! totals before it. Two reads and one write an item; a slice of one block
//! needs the second pass only. Blocks depend on the length alone, so results
//! do not depend on the threads.

use super::Loop;
use manycore_platform::Platform;

/// Items in a block: enough to be worth two visits.
const MIN_BLOCK: usize = 2048;
/// Blocks at most: their totals are combined by one thread.
const MAX_BLOCKS: usize = 512;

impl<P: Platform> Loop<'_, P> {
    /// As [`Pool::inclusive_scan`](crate::Pool::inclusive_scan).
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

    /// As [`Pool::exclusive_scan`](crate::Pool::exclusive_scan).
    ///
    /// # Panics
    ///
    /// As that.
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

    /// The sum before each block: `first` and the totals of all earlier blocks, from the left.
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
