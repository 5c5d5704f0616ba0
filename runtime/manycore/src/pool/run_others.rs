//! Others' jobs, run by a worker that waits and can give its permit to no other thread: the pool has no
//! [reserve](super::BuilderExt::reserve), or the system refuses one more thread.
//!
//! Mostly a worker that waits beside others' jobs gives its permit away (`permits/mod.rs`), and runs
//! only what came of the job that it waits for. If no thread takes the permit, and the worker only
//! waited, the pool would have one thread less; and if the job that it waits for needs one of the others, the program
//! would end never. So the worker runs them itself, on top of what it waits for, as rayon's
//! workers do. A job may then meet a lock that a frame below it holds.
//!
//! # What stays as it is
//!
//! * *Each wait ends.* A job that the worker takes on top of its wait returns before the wait does. If it blocks on
//!   something that only a frame below can give, the program hangs, as it does on rayon.
//! * *Leapfrogging.* A thief may find jobs of others above a stolen job's `base` (`leapfrog.rs`), and take them for
//!   descendants. They keep the stolen job from ending, which is all that the thief relies on.
//! * *Ranks.* The worker takes part in no loop of others while it is in a loop's body: it could meet the
//!   same loop again, where its rank would be in use twice.
//! * *Sleep.* If the worker finds nothing, since another thread was faster or the nesting is too deep, it naps,
//!   and keeps its permit. It learns of its own latch at once, and of others' jobs after the nap.

use super::context::Context;
use super::permit::Help;
use super::worker::Worker;
use crate::sleep::Latch;
use manycore_platform::Platform;
use std::time::Duration;

/// The most jobs of others that a worker runs on top of each other.
const DEEPEST: u32 = 128;
const FIRST_NAP: Duration = Duration::from_micros(50);
const LONGEST_NAP: Duration = Duration::from_millis(2);

/// The naps of one wait: each in vain is twice as long as the one before.
pub(super) struct Naps(Duration);

impl Naps {
    pub(super) fn new() -> Self {
        Self(FIRST_NAP)
    }

    /// How long the next nap is.
    pub(super) fn next(&mut self) -> Duration {
        let next = self.0;
        self.0 = (2 * next).min(LONGEST_NAP);
        next
    }
}

impl<P: Platform> Worker<P> {
    /// Runs a job of others if it finds one; if not, naps until `latch` is set, or for a while.
    pub(super) fn run_other_or_nap(&self, latch: &Latch<P>, naps: &mut Naps) {
        if self.run_other() {
            *naps = Naps::new();
        } else {
            self.set_busy(false);
            self.nap(latch, naps.next());
        }
    }

    /// Runs one job of others, or helps with one of their loops; `false`: it found none, or the nesting is
    /// too deep.
    pub(super) fn run_other(&self) -> bool {
        self.nested(DEEPEST, || {
            self.note_posts();
            if let Some(found) = self.find_any(false) {
                self.set_busy(true);
                self.note_work();
                self.run(found);
                return true;
            }
            !Context::is_in_any_loop(self.registry().shared())
                && matches!(self.help_any(0, None), Help::Given(_))
        })
    }
}
