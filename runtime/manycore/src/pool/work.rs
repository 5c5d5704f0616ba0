//! The life of a worker: look for work, do it, wait for more.

use super::board::Participation;
use super::job::Group;
use super::leapfrog::PATIENCE;
use super::permit::Help;
use super::search::{Found, Look, Waits};
use super::worker::Worker;
use crate::sleep::Latch;
use manycore_platform::Platform;

impl<P: Platform> Worker<P> {
    /// The life of a worker: look for work, do it, wait for more.
    pub(super) fn work(&self) {
        let registry = self.registry();
        let shared = registry.shared();
        let latch = &self.end();
        let scan = Look {
            worker: self,
            waits: Waits::Idle,
        };
        if !self.has_permit() && !self.wait_idle() {
            return;
        }
        // The slot of the last loop: most likely the next loop is there too. At first any slot will do.
        let mut last = self.index();
        let mut misses = 0;
        // Whether the last thing it did was to help with a loop.
        let mut helped = false;
        // The event count before a look that found no inviting loop. Each later loop is posted after that
        // look, so there is none until the count changes. So a worker with jobs of its own looks at one
        // word between two jobs, and not at the whole board.
        let mut loopless = None;
        // The slot of a loop that it has helped with until nothing was left, and the event count before:
        // it knows the gate to be closed until the count is another.
        let mut closed = None;
        let mut idle = self.start_looking();
        loop {
            // In a child that a job of this thread has forked there is no pool to work for.
            shared.check_wait();
            if registry.permits().has_ready() {
                self.found(idle);
                self.note_work();
                if self.make_way() == Some(false) {
                    return;
                }
                idle = self.start_looking();
                continue;
            }
            if self.must_stand_aside() {
                self.found(idle);
                self.leave_the_core();
                idle = self.start_looking();
                misses = 0;
                continue;
            }
            // Read before looking: a post after this cannot be slept through.
            self.note_posts();
            // Loops first, but not twice in a row while a caller waits outside.
            let seen = Some(self.seen());
            let help = if loopless == seen {
                Help::NotWanted
            } else if helped && !registry.injector().is_empty() {
                Help::Refused
            } else {
                let except = closed.filter(|&(_, before)| Some(before) == seen);
                self.help_any(last, except.map(|(slot, _)| slot), idle.woken())
            };
            if let Help::NotWanted = help {
                loopless = seen;
            }
            helped = false;
            if let Help::Given(slot, ended) = help {
                helped = true;
                last = slot;
                closed = seen
                    .filter(|_| ended == Participation::Done)
                    .map(|seen| (slot, seen));
                idle.helped();
                self.found(idle);
                idle = self.start_looking();
                idle.helped();
                misses = 0;
                continue;
            }
            if let Some(found) = self.find_any(misses < PATIENCE) {
                self.set_busy(true);
                self.note_work();
                self.found(idle);
                self.run(found);
                idle = self.start_looking();
                misses = 0;
                continue;
            }
            if shared.is_terminating() && !registry.has_detached() && self.leave_mail() {
                // Jobs that are left may spawn more: they are over, says the acquire,
                // which pairs with the release in `end_detached`.
                self.found(idle);
                return self.go_home();
            }
            misses += 1;
            if self.overstays() {
                self.found(idle);
                self.set_busy(true);
                self.note_work();
                if self.give_caller_slot_back() == Some(false) {
                    return;
                }
                idle = self.start_looking();
                continue;
            }
            self.set_busy(false);
            self.note_idle();
            self.no_work_found(&mut idle, latch, &scan);
        }
    }

    /// Waits for the end of a scope, running its jobs; if the pool is set so, also this worker's newest
    /// jobs in a scope around it.
    #[inline(never)]
    pub(super) fn wait_in_scope(&self, latch: &Latch<P>, group: *const Group) {
        if latch.is_set() {
            return;
        }
        // SAFETY: the scope's own, which waits here.
        let outermost = || unsafe { (*group).outermost() };
        let first = self
            .registry()
            .scopes_help_outer()
            .then(outermost)
            .unwrap_or(group);
        let own = |worker: &Self| {
            let job = worker.spawned().take_last_within(first)?;
            Some(Found::Queued(job, false))
        };
        let find = |worker: &Self, _| own(worker).or_else(|| worker.find_within(group));
        self.wait_for(latch, Waits::ForScope(group), find, own);
    }
}
