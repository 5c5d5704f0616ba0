//! Standing aside: what a worker does that the allotment does not allow.
//!
//! # Where a worker stops
//!
//! At the edge of a block, if it helps with a loop (`loops/launch.rs`), and in
//! [`Worker::work`], with nothing on its stack: between jobs. A worker that waits within
//! a job, for a stolen one or for a scope, does not stop there: what it waits for may be
//! waiting for it in turn. It takes only what came of that job meanwhile.
//!
//! # Why no job is left to nobody
//!
//! A worker that parks has no job begun. What it has spawned is in a queue that all
//! look into; what is in other queues it may have been expected to look for:
//!
//! * It was *called* for a job: `Policy::work_found` calls the next one.
//! * It was awake, so that a poster saw nobody asleep and called nobody. Then the
//!   others that are awake search once more before they sleep, as always; and if all
//!   others sleep the parking worker calls one if there is a job (`hand_on`).
//! * All others are parked, and the allotment is of one core: nobody is left but worker
//!   0, who may not be there. Then somebody must start the pool's own thread for that
//!   seat, as in a pool of one. A worker that has pushed jobs itself, and parks, sees
//!   them. A thread from outside, or one that leaves the seat, does
//!
//!   O1 push, fence; O2 read the allotment, and start the thread if it is of one core;
//!
//!   and who parks
//!
//!   A1 read the allotment, fence; A2 look at the queues, and start the thread if it is
//!   of one core and there is a job.
//!
//!   If O1's fence comes first, A2 sees the job. If A1's does, O2 reads no older
//!   allotment than A1 did. If that has grown by then, whoever it allows is woken, and
//!   does A1 and A2 again, even if it has shrunk once more: they are part of what
//!   [`Allotment::await_turn`] looks at each time.
//!
//! # Why mail is read
//!
//! Who sends nudges the allotment after the push, and so does who ends the pool;
//! [`Allotment::await_turn`] says why a nudge is not slept through.

use super::Shared;
use super::crew::{Crew, Worker};
use crate::elastic::Allotment;
use crate::sleep::Sleep;
use manycore_platform::{Ordering, Platform};

impl<P: Platform> Shared<P> {
    /// What a helper looks at between blocks.
    #[inline]
    pub(crate) fn allotment(&self) -> Option<&Allotment<P>> {
        self.allotment.as_ref()
    }

    /// Whether the thread of this rank may run now. Cost: one load of a line that is
    /// only read, and one of the allotment's if the pool follows one.
    #[inline]
    pub(crate) fn allows(&self, rank: usize) -> bool {
        (self.allotment.as_ref()).is_none_or(|allotment| allotment.allows(rank))
    }

    /// The threads that may run now; at least one.
    #[inline]
    pub(crate) fn allowed(&self) -> usize {
        match &self.allotment {
            Some(allotment) => self.threads.min(allotment.cores()),
            None => self.threads,
        }
    }

    /// Has workers that stand aside look for what else they wait for.
    pub(super) fn nudge(&self) {
        if let Some(allotment) = &self.allotment {
            allotment.nudge();
        }
    }
}

impl<P: Platform, S: Sleep<P>> Crew<P, S> {
    /// Whether nobody but worker 0 may run jobs, now and until somebody is woken. To be
    /// asked after the push of what needs a worker, and a fence.
    pub(super) fn has_one_worker(&self) -> bool {
        self.workers.len() == 1 || self.shared.allowed() == 1
    }

    /// Whether there are jobs that only worker 0 might begin, and no thread that is
    /// that in its own right. (Calls that were handed in are not among them: their
    /// callers take the seat themselves if it is free.)
    fn needs_own(&self, allotment: &Allotment<P>) -> bool {
        // A1 before A2.
        let alone = allotment.cores() == 1;
        P::fence(Ordering::SeqCst);
        alone && !self.adopted && self.has_jobs() && !self.seat.has_own()
    }

    /// Whether there are jobs that no worker has begun.
    fn has_jobs(&self) -> bool {
        !self.injector.is_empty() || self.workers.iter().any(|worker| !worker.spawned.is_empty())
    }
}

impl<P: Platform, S: Sleep<P>> Worker<P, S> {
    /// Whether this worker must stop looking for work.
    #[inline]
    pub(super) fn must_stand_aside(&self) -> bool {
        let shared = &self.crew().shared;
        !shared.allows(self.known.index) && !shared.is_terminating()
    }

    /// Parks until the allotment allows this worker, or the pool ends. Runs what is
    /// sent to it.
    #[cold]
    pub(super) fn stand_aside(&self) {
        let (crew, me) = (self.crew(), self.known.index);
        let Some(allotment) = &crew.shared.allotment else {
            return;
        };
        // Nobody should count on it.
        crew.shared.set_busy(me, true);
        self.hand_on();
        while self.must_stand_aside() {
            if let Some(job) = self.mailbox.take_first() {
                job.run(true);
                // It may have spawned some.
                self.hand_on();
            } else if crew.needs_own(allotment) {
                if crew.start_own().is_err() {
                    // Nobody else can be had: this one does it, allowed or not.
                    while let Some(found) = self.find_any(false) {
                        self.run(found);
                    }
                }
            } else {
                allotment.await_turn(me, || {
                    !self.mailbox.is_empty()
                        || crew.shared.is_terminating()
                        || crew.needs_own(allotment)
                });
            }
        }
    }

    /// Sees to it that what this worker was expected to look for is looked for.
    fn hand_on(&self) {
        let crew = self.crew();
        // With a fence. If there is nothing, who is called soon sleeps again.
        if crew.has_jobs() {
            self.sleep().injected(self.known.index, 1, false);
        }
        // A loop that woke this worker, to have others woken by it.
        if crew.shared.board.inviting(0).next().is_some() && self.sleep().sleepers() > 0 {
            crew.shared.wake(self.known.index, 1);
        }
    }
}
