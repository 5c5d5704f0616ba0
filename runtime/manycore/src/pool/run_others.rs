//! How a waiting worker runs unrelated jobs if no other thread can take its permit (its right to run jobs), because the
//! pool has no [reserve](super::BuilderExt::reserve) or the system refuses one more thread.
//!
//! A waiting worker runs only descendants of the job for which it waits. If unrelated jobs are pending, it normally
//! gives its permit away (`permits/mod.rs`). If no thread could take the permit, those jobs would not run. If the
//! awaited job needed one of them, the program would hang. So the worker runs unrelated jobs itself while it waits, as
//! rayon's workers do. Such a job may need a lock that a frame below it on the stack holds.
//!
//! # What still holds
//!
//! * *Each wait ends.* A job that the worker runs while it waits returns before the wait ends. If the job blocks until
//!   a frame below it acts, the program hangs, as it does on rayon.
//! * *Leapfrogging.* A waiting worker may find unrelated jobs on a thief's stack above the stolen job's own frames
//!   (above its `base`: `leapfrog.rs`), and treat them as descendants. This is sound, since they too keep the stolen
//!   job from ending.
//! * *Ranks.* The worker joins no loop while it is in the body of a loop. Otherwise it could join the same loop again,
//!   and its rank (its number in the loop) would be in use twice.
//! * *Sleep.* If the worker finds no job, or the nesting is too deep, it naps and keeps its permit. Its own
//!   latch wakes it at once. It finds other jobs after the nap.

use super::context::Context;
use super::naps::Naps;
use super::permit::Help;
use super::worker::Worker;
use crate::sleep::Latch;
use manycore_platform::Platform;

/// The largest number of unrelated jobs that a worker runs on top of each other.
const DEEPEST: u32 = 128;

impl<P: Platform> Worker<P> {
    /// Makes one step of a wait. The worker has permits, in this pool or in other pools, that no other thread takes.
    /// It runs a job of one of these pools. If it finds no job, it naps until `latch` is set, or for a while.
    ///
    /// If a thread of this pool has ended its wait and needs a permit, the worker hands over its own permit. It then
    /// joins the ready list (threads that want a permit) at once, instead of sleeping without a permit. During such a
    /// sleep no thread would find the jobs in other pools whose permits the worker has.
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

    /// Runs any job, or helps with a loop. Returns `false` if it found neither, or if the nesting is too deep.
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
