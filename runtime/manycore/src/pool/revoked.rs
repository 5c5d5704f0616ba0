//! Standing aside: how a worker parks when the allotment does not allow it to run.
//!
//! # Where a worker stops
//!
//! At the edge of a block, if it helps with a loop (`loops/launch.rs`), and in [`Worker::work`], with
//! nothing on its stack: between jobs. A worker that waits within a job, for a stolen job or for a scope,
//! does not stop there: the job that it waits for may wait for it in turn. Meanwhile it takes only
//! descendants of that job.
//!
//! # Why no job is left behind
//!
//! A worker that parks has begun no job. Jobs that it has spawned are in a queue that all workers search.
//! Other workers may have expected it to look for jobs in other queues:
//!
//! * It was *called* for a job: `Sleep::work_found` calls the next one.
//! * It was awake, so that a poster saw no sleeper and called none. Then the other workers that are awake
//!   search once more before they sleep, as always. If all others sleep, the parking worker calls a sleeper
//!   if there is a job (`hand_on`).
//! * All others are parked, and the allotment is of one core: only the holder of permit 0 is left, which is
//!   always allowed. If there is none, the caller slot is vacant (`caller_slot.rs`): a worker that parks
//!   then, or pushes, finds no sleeper and fills the caller slot.
//!
//! # Why growth is heard
//!
//! A worker that parks here sleeps in [`Allotment::await_turn`](manycore_cores::elastic::Allotment), which
//! growth wakes. A worker that waits within a job sleeps in its permit's parking slot. While it may not run
//! it leaves others' jobs alone (`keeps_others_waiting`), so a job may be pending for which this worker
//! must give its permit away as soon as it may run. [`Follower::may_run`] therefore unparks the slots of
//! all permits that are gained. It fences between the change of the allotment and the look at a slot; the
//! worker fences between lying down and its last look at the allotment. So the worker sees the growth, or
//! it is found parked. A push after the growth calls sleepers as always.
//!
//! # Why a thread that returns finds a permit
//!
//! A worker that waits within a job may give its permit away though it may not run: to a holder that reads
//! the permit's mail, or because it blocks in another pool. When its wait is over it must end its job,
//! since another job, with an allowed permit, may wait for that. So a parked worker makes way for it, like
//! any other worker. The returning thread joins the ready list, and then nudges the allotment.
//!
//! # Why mail is read
//!
//! A sender nudges the allotment after the push, and so does the thread that ends the pool;
//! [`Allotment::await_turn`](manycore_cores::elastic::Allotment) says why a nudge is not slept
//! through.

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

    /// Parks until the allotment allows this worker, or a thread is on the ready list, or the
    /// pool ends. Runs what is sent to it.
    fn stand_aside(&self) {
        // No other worker should rely on this one.
        self.set_busy(true);
        self.note_idle();
        self.hand_on();
        while self.must_stand_aside() && !self.registry().permits().has_ready() {
            // A job may wait, and come back to another permit.
            match self.take_mail() {
                Some(job) => {
                    self.run(Found::Queued(job, true));
                    // It may have spawned some.
                    self.hand_on();
                }
                None => self.await_turn(),
            }
        }
    }

    /// As `stand_aside`.
    #[cold]
    pub(super) fn leave_the_core(&self) {
        #[cfg(test)]
        if crate::conserving::fault::is(crate::conserving::fault::Fault::StaleAside) {
            let shared = self.registry().shared();
            return Context::with_stale_permit(shared, || self.stand_aside());
        }
        self.stand_aside();
    }

    /// Sees to it that what this worker was expected to look for is looked for.
    fn hand_on(&self) {
        let registry = self.registry();
        // With a fence. If there is no job, the called worker soon sleeps again.
        if registry.has_jobs() {
            self.call_another(false);
        }
        // A loop that woke this worker, to have others woken by it.
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
