//! Visits. If a caller from outside finds the caller slot (the right to be worker 0) taken, and a worker asleep, it
//! *visits* the pool. A visiting caller runs its call itself, with the permit (the right to run jobs) of that worker.
//!
//! If the caller cannot visit, the call goes to the pool's queue. This costs two wake-ups: the wake-up of a worker
//! and, at the end, the wake-up of the caller. For the time of the call the visitor is a [`Worker`], so thieves find
//! the jobs that it pushes and spawns. When the visitor leaves, jobs that it has spawned may stay in its queue.

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
    /// Makes this thread a worker, with the permit of a worker that sleeps. Returns `None` if no worker sleeps,
    /// or if only the pool's threads run calls.
    #[cold]
    #[inline(never)]
    pub(super) fn visit(&self) -> Option<Visit<'_, P>> {
        if self.keeps_caller_slot() || self.is_adopted() || self.sleep().sleepers() == 0 {
            return None;
        }
        // A thread of the pool that holds permit 0 gives the permit back when no detached task is left. Visits count
        // as detached tasks, so they would keep that thread from giving the permit back.
        if !self.shared().caller_slot().word().has_caller() {
            return None;
        }
        // Since the call is a detached task, it keeps the pool's threads alive, and makes one of them ready for permit
        // 0.
        self.begin_detached();
        let id = self.spare_worker().ok();
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

    /// Ends the visit of worker `id`.
    #[inline(never)]
    pub(super) fn leave_visit(&self, id: usize) {
        // In a child of `fork`, a thread that does not exist there may hold the lock.
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
