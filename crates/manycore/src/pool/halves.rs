//! The partitioner `split`, on the crew: a loop halved by `join`.

use super::crew::{Crew, Worker};
use super::join::FnContext;
use super::worker::Context;
use crate::loops::{Body, Budget, NO_RANK};
use crate::sleep::Sleep;
use manycore_platform::Platform;
use std::ops::Range;

impl<P: Platform, S: Sleep<P>> Crew<P, S> {
    /// Runs `body` over `range`, halved where there is demand.
    pub(super) fn halve_all(&self, body: Body<'_>, range: Range<usize>) {
        let budget = Budget::new(self.shared.allowed());
        self.enter(|worker, migrated| {
            self.halve(worker, &FnContext::new(migrated), budget, body, range);
        });
    }

    fn halve(
        &self,
        worker: &Worker<P, S>,
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
        worker.join(
            false,
            |context| self.halve(worker, &context, budget, body, left),
            |context| {
                // On another thread if it has migrated.
                let worker = Context::worker_of(self).expect("jobs are run by workers");
                self.halve(worker, &context, budget, body, right);
            },
        );
    }
}
