//! A caller from outside that finds the caller slot taken, and a worker asleep: it runs its call itself, with
//! that worker's permit.
//!
//! Otherwise the call goes to the pool's queue, and costs two wake-ups: the worker's, and at the end the
//! caller's. The visitor is a worker without a thread of the pool's ([`Worker`]): its joins' jobs and
//! its spawned jobs lie where thieves find them. When it leaves, jobs that it has spawned may stay there.

use super::context::Context;
use super::registry::Registry;
use super::worker::Worker;
use manycore_platform::Platform;

/// A caller that is worker `id` for the time of its call.
pub(super) struct Visit<'a, P: Platform> {
    registry: &'a Registry<P>,
    id: usize,
}

impl<P: Platform> Registry<P> {
    /// Makes this thread a worker, with the permit of a worker that sleeps. `None`: no worker sleeps, or calls
    /// are run by the pool's threads only.
    #[cold]
    #[inline(never)]
    pub(super) fn visit(&self) -> Option<Visit<'_, P>> {
        if self.keeps_caller_slot() || self.is_adopted() || self.sleep().sleepers() == 0 {
            return None;
        }
        // A thread of the pool that has permit 0 alone gives it back when no detached task is left. Visits, which
        // are detached tasks, would keep it from that.
        if !self.shared().caller_slot().word().has_caller() {
            return None;
        }
        // As a detached task the call keeps the threads, and has one ready for permit 0.
        self.begin_detached();
        let spare = self.change_permits(|permits| permits.take_spare());
        let make = || (self.workers()).push(|id| Worker::new(id, self.stack_capacity(), self));
        let id = spare.or_else(|| make().ok());
        match (id, id.and_then(|_| self.sleep().borrow())) {
            (Some(id), Some(permit)) => {
                self.worker(id).begin_visit(permit);
                self.shared().idle().caller_waits();
                Some(Visit { registry: self, id })
            }
            (id, _) => {
                self.end_visit(id);
                None
            }
        }
    }

    /// Worker `id`'s visit is over.
    #[inline(never)]
    pub(super) fn leave_visit(&self, id: usize) {
        // In a child of `fork` a thread that does not exist there may have the lock.
        if !self.shared().is_forked() {
            self.shared().idle().caller_runs();
            self.worker(id).end_visit();
            self.end_visit(Some(id));
        }
        Context::<P>::come_back();
    }

    fn end_visit(&self, id: Option<usize>) {
        if let Some(id) = id {
            self.change_permits(|permits| permits.keep_spare(id));
        }
        self.end_detached();
    }
}

impl<P: Platform> Visit<'_, P> {
    /// Runs `op` as this worker.
    pub(super) fn run<R>(self, op: impl FnOnce(&Worker<P>) -> R) -> R {
        let worker = self.registry.worker(self.id);
        Context::of_worker(worker).enter(|| op(worker))
    }
}

impl<P: Platform> Drop for Visit<'_, P> {
    fn drop(&mut self) {
        self.registry.leave_visit(self.id);
    }
}
