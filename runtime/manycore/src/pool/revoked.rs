//! Standing aside: how a worker parks when the allotment (the number of cores that the pool may use now) does not allow
//! it to run.
//!
//! # Where a worker stops
//!
//! A worker that helps with a loop stops at the edge of a block (`loops/launch.rs`). Any other worker stops
//! between two jobs in [`Worker::work`], with no job on its stack. A worker that waits within a job, for a
//! stolen job or for a scope, does not stop: the job that it waits for may wait for it in turn. Meanwhile it
//! takes only descendants of that job.
//!
//! # Why no job is left behind
//!
//! A worker that parks is in no job. All workers search the queue of the jobs that the parked worker has spawned. But
//! other workers may expect that the parking worker looks for jobs in other queues:
//!
//! * The worker was *called* for a job. Then `Sleep::work_found` calls the next sleeper.
//! * The worker was awake, so a poster saw no sleeper and called no worker. The other workers that are awake search
//!   once more before they sleep, as always. If all other workers sleep, the parking worker calls a sleeper if there
//!   is a job (`hand_on`).
//! * All other workers are parked, and the allotment has one core. Only the holder of permit 0 (the first right to run
//!   jobs), which may always run, is left. If permit 0 has no holder, the caller slot, the role of worker 0, is vacant
//!   (`caller_slot.rs`). A worker that then parks, or pushes a job, finds no sleeper and fills the caller slot.
//!
//! # Why a worker does not miss growth
//!
//! A worker that parks here sleeps in [`Allotment::await_turn`](manycore_cores::elastic::Allotment). Growth of the
//! allotment wakes the worker. A worker that waits within a job sleeps in its permit's parking slot. While the
//! allotment forbids this worker to run, the worker ignores unrelated jobs (`keeps_others_waiting`). When it may run
//! again and a job is pending, it must give its permit away. So [`Follower::may_run`] unparks the slots of all gained
//! permits. `may_run` makes a fence between the change of the allotment and the look at a slot. The worker makes a
//! fence between its entry into the slot and its last look at the allotment. So the worker sees the growth, or
//! `may_run` finds it parked. A push after the growth calls sleepers as always.
//!
//! # Why a thread that returns finds a permit
//!
//! Even if the allotment forbids a worker to run, the worker may give its permit away while it waits within a job. It
//! does so if it blocks in another pool, or so that the new holder reads the permit's mail (jobs that were sent). When
//! its wait is over, it must end its job, since another job, whose permit is allowed, may wait for that job. So the
//! returning worker joins the ready list, and then nudges the allotment. A parked worker gives its permit to the
//! returning worker, like any other worker.
//!
//! # Why mail is read
//!
//! A sender nudges the allotment, which wakes parked workers, after the push. The thread that ends the pool does so
//! too. [`Allotment::await_turn`](manycore_cores::elastic::Allotment) explains why a parked worker misses no nudge.

#[cfg(test)]
use super::context::Context;
use super::registry::Registry;
use super::search::Found;
use super::worker::Worker;
#[cfg(test)]
use crate::conserving::fault;
use manycore_cores::elastic::Follower;
use manycore_platform::{Ordering, Platform};
use std::ops::Range;

impl<P: Platform> Worker<P> {
    /// Whether this worker must stop looking for work.
    #[inline]
    pub(super) fn must_stand_aside(&self) -> bool {
        let shared = self.registry().shared();
        !self.is_allowed() && !shared.is_terminating()
    }

    /// Parks until the allotment allows this worker to run, a thread is on the ready list, or the pool ends.
    /// Meanwhile runs the jobs that are sent to the worker's permit.
    fn stand_aside(&self) {
        // These notes keep loops from counting on this worker.
        self.set_busy(true);
        self.note_idle();
        self.hand_on();
        while self.must_stand_aside() && !self.registry().permits().has_ready() {
            // The mail is looked up in each round, since this worker may change its permit while a job waits.
            match self.take_mail() {
                Some(job) => {
                    self.run(Found::Queued(job, true));
                    // The job may have spawned other jobs.
                    self.hand_on();
                }
                None => self.await_turn(),
            }
        }
    }

    /// Does what `stand_aside` does. This is a function of its own because it is rarely called.
    #[cold]
    pub(super) fn leave_the_core(&self) {
        #[cfg(test)]
        if crate::conserving::fault::is(crate::conserving::fault::Fault::StaleAside) {
            let shared = self.registry().shared();
            return Context::with_stale_permit(shared, || self.stand_aside());
        }
        self.stand_aside();
    }

    /// Makes other workers look for the jobs and loops for which this worker was expected to look.
    fn hand_on(&self) {
        let registry = self.registry();
        // `call_another` makes a fence. If no job is left, the called worker soon sleeps again.
        if registry.has_jobs() {
            self.call_another(false);
        }
        // A loop may have woken this worker so that the worker wakes other workers.
        if registry
            .shared()
            .board()
            .inviting(self.cluster(), 0, None)
            .next()
            .is_some()
            && registry.sleepers() > 0
        {
            self.wake_others(1, None);
        }
    }
}

impl<P: Platform> Follower for Registry<P> {
    fn may_run(&self, permits: Range<usize>) {
        #[cfg(test)]
        if fault::is(fault::Fault::UnheardGrowth) {
            return;
        }
        P::fence(Ordering::SeqCst);
        for permit in permits.start..permits.end.min(self.shared().threads()) {
            self.sleep().notify(permit);
        }
    }
}
