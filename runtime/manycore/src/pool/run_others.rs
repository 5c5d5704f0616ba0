//! Others' jobs, which a worker runs while it waits if it can give its permit to no other thread: the pool
//! has no [reserve](super::BuilderExt::reserve), or the system refuses one more thread.
//!
//! A worker that waits while others' jobs are pending normally gives its permit away (`permits/mod.rs`), and runs only
//! descendants of the job for which it waits. If no thread took the permit, the pool would have a thread
//! less. If the job for which the worker waits needs another job, the program would hang. So the worker
//! runs other jobs itself, on top of its wait, as rayon's workers do. A job may then meet a lock that a
//! frame below it holds.
//!
//! # What stays as it is
//!
//! * *Each wait ends.* A job that the worker runs on top of its wait returns before the wait does. If the
//!   job blocks until a frame below it acts, the program hangs, as it does on rayon.
//! * *Leapfrogging.* A thief may find other jobs above the `base` of a stolen job (`leapfrog.rs`) and treat
//!   them as descendants. They keep the stolen job from ending. The thief relies on nothing else.
//! * *Ranks.* The worker joins no loop while it is in the body of a loop: it could meet the
//!   same loop again, and its rank would be in use twice.
//! * *Sleep.* If the worker finds no job, or the nesting is too deep, it naps
//!   and keeps its permit. It hears of its own latch at once, and of other jobs after the nap.

use super::context::Context;
use super::naps::Naps;
use super::permit::Help;
use super::worker::Worker;
use crate::sleep::Latch;
use manycore_platform::Platform;

/// The most jobs that a worker runs on top of each other.
const DEEPEST: u32 = 128;

impl<P: Platform> Worker<P> {
    /// One step of the wait of a worker that has permits, here or in other pools, which no other thread takes.
    /// The worker runs a job of one of these pools. If it finds none, it naps until `latch` is set, or for a while.
    ///
    /// If a thread of this pool has ended its wait and needs a permit, the worker hands over its own. Then it
    /// joins the ready list at once. If it slept without a permit instead, its other pools would have no thread
    /// that finds their jobs.
    pub(super) fn serve_or_nap(&self, latch: &Latch<P>, naps: &mut Naps) {
        let registry = self.registry();
        if registry.permits().has_ready() && self.give_permit() {
            self.regain_permit();
        } else if (self.keeps_others_waiting() && self.run_other())
            || Context::run_other_elsewhere(registry.shared())
        {
            *naps = Naps::new();
        } else {
            self.set_busy(false);
            self.nap(latch, naps.next());
        }
    }

    /// Runs another job, or helps with a loop. `false`: it found none, or the nesting is too deep.
    pub(super) fn run_other(&self) -> bool {
        let run = || {
            self.note_posts();
            if let Some(found) = self.find_any(false) {
                self.set_busy(true);
                self.note_work();
                self.run(found);
                return true;
            }
            !Context::is_in_any_loop(self.registry().shared())
                && matches!(self.help_any(0, None, None), Help::Given(..))
        };
        self.nested(DEEPEST, || Context::outside_calls(self).enter(run))
    }
}
