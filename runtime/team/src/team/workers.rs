//! The threads of a team between runs.

use super::run::Run;
use super::worker_run::{Leave, WorkerRun};
use manycore_cores::elastic::Allotment;
use manycore_cores::sync::EventCount;
use manycore_cores::sync::Lock;
use manycore_platform::{Atomic, Ordering, Platform};
use std::sync::Arc;

/// The data that a team and its workers share.
pub(super) struct Workers<P: Platform> {
    allotment: Allotment<P>,
    /// The current run, if there is one.
    run: Lock<P, Option<Arc<Run<P>>>>,
    /// Announces runs, and the end of the team, to sleeping workers.
    calls: EventCount<P>,
    is_ending: P::AtomicBool,
    /// How long a worker stays awake between runs, in ticks.
    patience: u64,
}

impl<P: Platform> Workers<P> {
    pub(super) fn new(allotment: Allotment<P>, patience: u64) -> Self {
        Self {
            allotment,
            run: Lock::new(None),
            calls: EventCount::new(),
            is_ending: P::AtomicBool::new(false),
            patience,
        }
    }

    pub(super) fn allotment(&self) -> &Allotment<P> {
        &self.allotment
    }

    pub(super) fn call(&self, run: &Arc<Run<P>>) {
        self.run.with(|place| *place = Some(Arc::clone(run)));
        self.announce();
    }

    /// Forgets the run, which is over.
    pub(super) fn dismiss(&self) {
        drop(self.run.with(Option::take));
    }

    fn announce(&self) {
        // This looks for sleepers after the post. `EventCount` argues why no wake-up is lost.
        if self.calls.post() > 0 {
            self.calls.wake(u32::MAX);
        }
    }

    pub(super) fn end(&self) {
        // No data needs this release: a worker that ends reads nothing else.
        self.is_ending.store(true, Ordering::Release);
        self.announce();
        self.allotment.nudge();
    }

    /// The main loop of worker `worker`.
    pub(super) fn work(&self, worker: usize) {
        loop {
            // The order matters. The worker first reads the two words that it may sleep on. Then it
            // reads the end, its core and the run, which these words announce. A later change of
            // these three also changes a word, so the worker does not sleep on the old word. `seen`
            // acquires, so a worker that sees the word of a nudge (a wake-up by the allotment) also
            // sees the reason for the nudge.
            let cores = self.allotment.seen();
            let call = self.calls.seen();
            if self.is_ending.load(Ordering::Acquire) {
                return;
            }
            if worker >= cores.cores() {
                self.allotment.wait_while(cores);
                continue;
            }
            let run = self.run.with(|run| run.clone());
            if let Some(run) = run.filter(|run| worker < run.workers() && !run.is_over()) {
                match WorkerRun::new(&run, worker).take_part() {
                    Leave::Over | Leave::Revoked => continue,
                }
            }
            // A worker that loses its core during this spin does not notice it. This does no harm,
            // because the worker soon sleeps.
            if !self.calls.spin(call, P::now() + self.patience) {
                self.calls.sleep(call, None);
            }
        }
    }
}
