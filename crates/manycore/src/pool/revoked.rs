//! Standing aside: how a worker parks that the allotment does not allow to run.
//!
//! # Where a worker stops
//!
//! At the edge of a block, if it helps with a loop (`loops/launch.rs`), and in
//! [`Worker::work`], with nothing on its stack: between jobs. A worker that waits within
//! a job, for a stolen one or for a scope, does not stop there: what it waits for may be
//! waiting for it in turn. It takes only what came of that job meanwhile.
//!
//! # Why no job is left behind
//!
//! A worker that parks has no job begun. What it has spawned is in a queue that all
//! look into; what is in other queues it may have been expected to look for:
//!
//! * It was *called* for a job: `Sleep::work_found` calls the next one.
//! * It was awake, so that a poster saw nobody asleep and called nobody. Then the
//!   others that are awake search once more before they sleep, as always; and if all
//!   others sleep the parking worker calls one if there is a job (`hand_on`).
//! * All others are parked, and the allotment is of one core: nobody is left but the
//!   holder of place 0, which is always allowed. If there is none, the caller slot is vacant
//!   (`caller_slot.rs`): a worker that parks then, or pushes, finds no sleeper and fills the caller slot.
//!
//! # Why mail is read
//!
//! A sender nudges the allotment after the push, and so does the thread that ends the pool;
//! [`Allotment::await_turn`](crate::elastic::Allotment) says why a nudge is not slept through.

use super::search::Found;
use super::worker::Worker;
use crate::World;

impl<W: World> Worker<W> {
    /// Whether this worker must stop looking for work.
    #[inline]
    pub(super) fn must_stand_aside(&self) -> bool {
        let shared = self.registry().shared();
        !shared.allows(self.place()) && !shared.is_terminating()
    }

    /// Parks until the allotment allows this worker, or the pool ends. Runs what is
    /// sent to it.
    #[cold]
    pub(super) fn stand_aside(&self) {
        let (registry, me) = (self.registry(), self.place());
        let Some(allotment) = registry.shared().allotment() else {
            return;
        };
        // Nobody should count on it.
        registry.shared().ranks().set_busy(me, true);
        registry.shared().ranks().note_idle(me);
        self.hand_on();
        while self.must_stand_aside() {
            if let Some(job) = registry.mail()[me].take_first() {
                self.run(Found::Queued(job, true));
                // It may have spawned some.
                self.hand_on();
                continue;
            }
            allotment.await_turn(me, || {
                !registry.mail()[me].is_empty() || registry.shared().is_terminating()
            });
        }
    }

    /// Sees to it that what this worker was expected to look for is looked for.
    fn hand_on(&self) {
        let registry = self.registry();
        // With a fence. If there is nothing, who is called soon sleeps again.
        if registry.has_jobs() {
            registry.call_for(self.place(), false);
        }
        // A loop that woke this worker, to have others woken by it.
        if registry.shared().board().inviting(0).next().is_some() && registry.sleepers() > 0 {
            registry.wake(self.place(), 1);
        }
    }
}
