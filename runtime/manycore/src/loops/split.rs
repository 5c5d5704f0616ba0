//! `split`: recursive halving through `join`, as deep as there is demand.

use crate::partition::{Body, NO_RANK};
use crate::pool::{Context, FnContext, Registry, Worker};
use manycore_platform::Platform;
use std::ops::Range;

/// Runs `body` over `range`, halved where there is demand.
pub(super) fn run<P: Platform>(pool: &Registry<P>, body: Body<'_>, range: Range<usize>) {
    let budget = Budget::new(pool.shared().allowed());
    pool.enter(|worker, migrated| {
        halve(worker, &FnContext::new(migrated), budget, body, range);
    });
}

fn halve<P: Platform>(
    worker: &Worker<P>,
    context: &FnContext,
    budget: Budget,
    body: Body<'_>,
    range: Range<usize>,
) {
    let halves = if range.len() > 1 {
        budget.halve(context)
    } else {
        None
    };
    let Some(budget) = halves else {
        return body.run(NO_RANK, range);
    };
    let middle = range.start.midpoint(range.end);
    let (left, right) = (range.start..middle, middle..range.end);
    let pool = worker.registry();
    worker.join(
        false,
        |context| halve(worker, &context, budget, body, left),
        |context| {
            // On another thread if it has migrated.
            let worker = Context::worker_of(pool).expect("jobs are run by workers");
            halve(worker, &context, budget, body, right);
        },
    );
}

/// How often a range may still be halved.
///
/// It begins with as many halvings as give each thread a part; a part that was
/// stolen begins anew, since somebody was idle. So a range is divided where
/// there is demand, and otherwise hardly more often than there are threads
/// (demand-driven splitting, as TBB's `auto_partitioner` and rayon have it).
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

    /// The budget of each half, if there is to be one.
    fn halve(self, context: &FnContext) -> Option<Self> {
        let left = if context.migrated() {
            self.threads.max(self.left / 2)
        } else if self.left > 0 {
            self.left / 2
        } else {
            return None;
        };
        Some(Self { left, ..self })
    }
}
