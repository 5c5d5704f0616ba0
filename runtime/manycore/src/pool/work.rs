//! The main function of a worker. It looks for work, does the work, and waits for more.

use super::board::Participation;
use super::job::Group;
use super::leapfrog::PATIENCE;
use super::permit::Help;
use super::search::{Found, Look, Waits};
use super::worker::Worker;
use crate::sleep::Latch;
use manycore_platform::Platform;

impl<P: Platform> Worker<P> {
    /// The main function of a worker. It ends when the pool has ended, or when the worker has given its permit (its
    /// right to run jobs) away.
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
        // The slot of the last loop. The next loop is most likely in the same slot. At first any slot would do.
        let mut last = self.index();
        let mut misses = 0;
        // Whether the worker's last action was to help with a loop.
        let mut helped = false;
        // The event count (each post changes it) from before the last look, if that look found no inviting loop. Later
        // loops are posted after that look, so no loop invites the worker until the count changes. Between two jobs of
        // its own, the worker reads only the count, not the whole board (the list of posted loops).
        let mut loopless = None;
        // The slot of a loop that the worker has helped with until no iteration was left, and the event count before
        // the worker helped. Until the count changes, the worker knows that the loop is closed to helpers.
        let mut closed = None;
        let mut idle = self.start_looking();
        loop {
            // If a job of this thread has forked, the child has no pool to work for.
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
            // The event count is noted before the search, so that a later post keeps the worker from sleeping.
            self.note_posts();
            // The worker looks for loops first, but not twice in a row while a caller from outside waits.
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
                // No detached job is left that could spawn more. The acquire in `has_detached` pairs with the
                // release in `end_detached`.
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

    /// Waits for the end of a scope, and runs its jobs meanwhile. If the pool is set to help outer scopes, also runs
    /// this worker's newest jobs of the scopes around it.
    #[inline(never)]
    pub(super) fn wait_in_scope(&self, latch: &Latch<P>, group: *const Group) {
        if latch.is_set() {
            return;
        }
        // SAFETY: the group belongs to the scope that waits here.
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
