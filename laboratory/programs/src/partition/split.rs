//! `split`: halves a loop recursively through `join`, on demand.

use manycore::seam::Divided;
use manycore::{FnContext, Pool};
use manycore_platform::Platform;
use std::ops::Range;

pub(super) fn run<P: Platform>(divided: &Divided<'_, P>, pool: &Pool<P>) {
    let budget = Budget::new(divided.allowed());
    halve(divided, pool, false, budget, 0..divided.iterations());
}

fn halve<P: Platform>(
    divided: &Divided<'_, P>,
    pool: &Pool<P>,
    migrated: bool,
    budget: Budget,
    range: Range<usize>,
) {
    let halves = if range.len() > 1 {
        budget.halve(migrated)
    } else {
        None
    };
    let Some(budget) = halves else {
        return divided.run(range);
    };
    let middle = range.start.midpoint(range.end);
    let (left, right) = (range.start..middle, middle..range.end);
    let half =
        |range| move |context: FnContext| halve(divided, pool, context.migrated(), budget, range);
    pool.join_context(half(left), half(right));
}

/// How often a range may still be halved.
///
/// At first there are enough halvings to give each thread a part. A stolen part shows that a thread was idle, so the
/// part's budget begins again. So a range is divided on demand, and otherwise into hardly more parts than threads
/// (demand-driven splitting, as in TBB's `auto_partitioner` and rayon).
#[derive(Clone, Copy, Debug)]
struct Budget {
    threads: usize,
    left: usize,
}

impl Budget {
    fn new(threads: usize) -> Self {
        Self {
            threads,
            left: threads,
        }
    }

    /// The budget of each half, or `None` if the range must not be halved.
    fn halve(self, migrated: bool) -> Option<Self> {
        let left = if migrated {
            self.threads.max(self.left / 2)
        } else if self.left > 0 {
            self.left / 2
        } else {
            return None;
        };
        Some(Self { left, ..self })
    }
}
