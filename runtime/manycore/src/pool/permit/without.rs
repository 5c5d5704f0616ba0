//! How a worker gives its permit (its right to run jobs) away, sleeps without a permit, gets a permit again, and makes
//! way for other workers (`permits/mod.rs`).

use crate::pool::context::Context;
use crate::pool::naps::Naps;
use crate::pool::permits::{DISMISSED, GRANTED, LISTED, Listed};
use crate::pool::thread_set::Stay;
use crate::pool::worker::Worker;
use crate::sleep::Latch;
use manycore_cores::sync::Parker;
use manycore_platform::Platform;
use std::time::Duration;

/// A thread that has had no permit for this time ends, unless it is the last thread on the idle list or the pool
/// has no reserve. While jobs wait, many more threads may be started than the pool needs later.
const IDLE: Duration = Duration::from_secs(1);

impl<P: Platform> Worker<P> {
    pub(in crate::pool) fn wake_alone(&self, state: u32) {
        // This call publishes the permit, and all that the permit's last holder did while it had the permit.
        self.holding().alone.notify(state);
    }

    /// Rouses the worker if it sleeps without a permit. The caller then lists and wakes the worker. If several threads
    /// try, one succeeds.
    pub(in crate::pool) fn rouse_alone(&self) -> bool {
        self.holding().alone.rouse(LISTED)
    }

    /// Sleeps until this worker, which is on one of the lists, has a permit. Returns `false` if the worker was
    /// dismissed, or has left the idle list after [`IDLE`] without a permit.
    fn await_permit(&self) -> bool {
        let alone = &self.holding().alone;
        let now = P::now();
        let until = now + self.registry().shared().blocking_spin();
        let idle_until = now + P::duration_to_ticks(IDLE);
        let mut time = Some(IDLE);
        loop {
            let before = alone.state();
            let state = if before == Parker::<P>::AWAKE || before == LISTED {
                alone.spin(before, until)
            } else {
                before
            };
            match state {
                GRANTED | DISMISSED => {
                    // No other thread uses this parker until the worker is on a list again.
                    alone.reset();
                    self.follow_permit();
                    return state == GRANTED;
                }
                // The worker tries this once: if it is the last thread on the idle list, it stays and sleeps on.
                _ if time.is_some() && P::now() >= idle_until => {
                    if self.leave_idle_list() {
                        return false;
                    }
                    time = None;
                }
                _ => alone.sleep(state, time),
            }
        }
    }

    /// Leaves the idle list. Returns `false` if this worker is not on the list, or is alone there, or if the pool could
    /// start no other thread later.
    fn leave_idle_list(&self) -> bool {
        let registry = self.registry();
        registry.threads().are_replaced()
            && registry.change_permits(|permits| permits.leave_idle(self.id()))
    }

    /// Waits on the idle list for a permit. Returns `false` if the pool no longer needs this thread.
    pub(in crate::pool) fn wait_idle(&self) -> bool {
        let allowed = self.registry().shared().allowed();
        let joined =
            (self.registry()).change_permits(|permits| permits.join_idle(self.id(), allowed));
        joined.is_some_and(|listed| self.await_listed(&listed))
    }

    /// Takes the permit in `listed`. Without a permit there, waits as [`await_permit`](Self::await_permit) does.
    fn await_listed(&self, listed: &Listed) -> bool {
        let Listed::Placed(permit) = *listed else {
            return self.await_permit();
        };
        self.set_permit(permit);
        self.note_work();
        self.follow_permit();
        true
    }

    /// Gives this worker's permit away. Returns `false` if no thread can take it.
    pub(in crate::pool) fn give_permit(&self) -> bool {
        let permit = self.permit();
        let given = self.offer(permit);
        if !given {
            self.set_permit(permit);
        }
        given
    }

    /// Gives away `permit`, which this worker has. Returns `false` if no thread can take the permit, or if this worker
    /// was roused. In both cases the worker still has the permit.
    fn offer(&self, permit: usize) -> bool {
        #[cfg(test)]
        if crate::conserving::fault::is(crate::conserving::fault::Fault::NoReserve) {
            return false;
        }
        let registry = self.registry();
        Context::<P>::bar_loops(registry.shared(), permit);
        let is_caller = self.id() == 0 && permit == 0;
        let offered = registry.change_permits(|permits| {
            // If this worker was roused since it lay down, it is on the ready list, or is about to
            // get another permit. `clear` must not overwrite that permit. Workers are roused under
            // the lock, so this look is exact.
            if self.holding().alone.glance() > Parker::<P>::ASLEEP {
                return None;
            }
            // A thread that lists this worker, and gives it another permit, takes the lock after this. The successor is
            // another worker.
            self.holding().clear();
            let lent = self.take_borrowed(permit);
            Some((!lent).then(|| permits.give(is_caller)))
        });
        let Some(successor) = offered else {
            Context::<P>::unbar_loops(registry.shared(), permit);
            return false;
        };
        let Some(successor) = successor else {
            self.sleep().give_back(permit);
            return true;
        };
        let _stay = Stay::of(registry, &successor);
        if registry.pass_on(permit, &successor).is_err() {
            if is_caller {
                registry.change_permits(|permits| permits.regain());
            }
            Context::<P>::unbar_loops(registry.shared(), permit);
            return false;
        }
        true
    }

    /// Gives the permit away, sleeps until `latch` is set, and then waits for a permit. May return spuriously. Returns
    /// `false` if the worker could not give the permit away, and so has not waited.
    ///
    /// The worker lies down first. So a thread that sets the latch while the permit is on its way to another worker,
    /// or later, finds this worker asleep, and puts it on the ready list.
    pub(in crate::pool) fn wait_without_permit(&self, latch: &Latch<P>) -> bool {
        let (permit, alone) = (self.permit(), &self.holding().alone);
        // The thread that sets the latch sees in the latch that this worker is asleep, and finds it in `alone`.
        alone.lie_down();
        if !(latch.announce_sleep()) {
            // The latch is set.
            self.get_up_with(permit);
            return true;
        }
        if !self.offer(permit) {
            latch.withdraw();
            return self.get_up_with(permit);
        }
        alone.sleep_out();
        latch.withdraw();
        let granted = self.await_permit();
        debug_assert!(granted, "a worker that returns is not dismissed");
        true
    }

    /// Sleeps with the permit until `latch` is set, for `time` at most. May return spuriously.
    pub(in crate::pool) fn nap(&self, latch: &Latch<P>, time: Duration) {
        let (permit, alone) = (self.permit(), &self.holding().alone);
        // The same steps as in `wait_without_permit` when its offer fails.
        alone.lie_down();
        if latch.announce_sleep() {
            alone.sleep(Parker::<P>::ASLEEP, Some(time));
            latch.withdraw();
        }
        self.get_up_with(permit);
    }

    /// Gets up with `permit`, which the worker has not given away after all. Returns `true` if another thread has
    /// listed the worker meanwhile: the thread that set the latch, or the late setter of an older latch.
    fn get_up_with(&self, permit: usize) -> bool {
        let (registry, alone) = (self.registry(), &self.holding().alone);
        let roused = !alone.rise_unroused();
        // Threads rouse and list this worker under the lock.
        let struck = roused && registry.change_permits(|permits| permits.strike(self.id()));
        let mut lost = None;
        if struck {
            // No other thread uses this parker until the worker is on a list again.
            alone.reset();
        } else if roused {
            // Another thread grants this worker a second permit now, which the worker passes on.
            let granted = self.await_permit();
            debug_assert!(granted, "a worker that returns is not dismissed");
            let second = self.permit();
            lost = (!self.offer(second)).then_some(second);
        }
        self.set_permit(permit);
        if roused && !struck {
            // The worker was bound to the CPUs of the second permit.
            self.follow_permit();
        }
        if let Some(second) = lost {
            registry.lose(second);
        }
        roused
    }

    /// Waits until this worker has a permit, if it has none.
    #[inline(never)]
    pub(in crate::pool) fn regain_permit(&self) {
        if self.has_permit() {
            return;
        }
        // While this thread waits, another thread may need the permits that this thread has in other pools.
        Context::leave_others(self.registry().shared());
        if self.joins_ready_list() && self.await_turn_beside_others() {
            let granted = self.await_permit();
            debug_assert!(granted, "a worker that returns is not dismissed");
        }
        self.note_work();
    }

    /// Joins the ready list. Returns `false` if the worker has a permit at once.
    fn joins_ready_list(&self) -> bool {
        let (registry, me) = (self.registry(), self.id());
        if let Listed::Placed(permit) = registry.change_permits(|permits| permits.list(me)) {
            self.set_permit(permit);
            self.follow_permit();
            return false;
        }
        registry.call_for_permit();
        true
    }

    /// Waits on the ready list while this thread has permits in other pools that no other thread takes. Meanwhile the
    /// thread runs jobs of those pools, since the holder of a permit of this pool may wait for such a job. Returns
    /// `false` if the worker has a permit.
    ///
    /// The worker leaves the list before it runs a job. Otherwise the worker could get a permit of this pool, which
    /// would lie unused until the job ends.
    fn await_turn_beside_others(&self) -> bool {
        let (registry, alone) = (self.registry(), &self.holding().alone);
        let shared = registry.shared();
        let mut naps = Naps::new();
        while Context::holds_others(shared) && alone.glance() == Parker::<P>::AWAKE {
            alone.sleep(Parker::<P>::AWAKE, Some(naps.next()));
            Context::leave_others(shared);
            if Context::keeps_others_waiting(shared)
                && registry.change_permits(|permits| permits.strike(self.id()))
            {
                if Context::run_other_elsewhere(shared) {
                    naps = Naps::new();
                }
                // Within the job the thread may have come back to this pool and got a permit.
                if self.has_permit() || !self.joins_ready_list() {
                    return false;
                }
            }
        }
        true
    }

    /// Hands this worker's permit to the first thread of the ready list, and waits for another permit. Returns `None`
    /// if the list is empty, and `false` if the pool no longer needs this thread.
    pub(in crate::pool) fn make_way(&self) -> Option<bool> {
        let (registry, me, permit) = (self.registry(), self.id(), self.permit());
        if !registry.permits().has_ready() {
            return None;
        }
        let (next, stays) = registry.change_permits(|permits| {
            // The permit is cleared before the worker is listed: the thread that takes the worker off the list sets its
            // permit. An adopted thread (a thread of the program, which is always worker 0) cannot join the idle list,
            // so it joins the ready list.
            permits.make_way(me, me == 0, || self.holding().clear())
        })?;
        registry.grant(permit, next);
        Some(stays && self.await_permit())
    }

    /// Called when the pool has ended and this worker works no more. Its permit becomes free for an exit handler that
    /// uses the pool, or for an adopted thread on the ready list.
    pub(in crate::pool) fn go_home(&self) {
        let (registry, permit) = (self.registry(), self.permit());
        let successor = registry.change_permits(|permits| permits.go_home(permit));
        if self.id() != 0 || !registry.is_adopted() {
            // The adopted thread, which outlives the pool and never works for it again, keeps its permit's number.
            self.holding().clear();
        }
        if let Some(successor) = successor {
            registry.grant(permit, successor);
        }
    }

    /// Called when the worker's thread ends, after the exit handler. If the handler has used the pool, the worker has
    /// a permit.
    pub(in crate::pool) fn leave_for_good(&self) {
        if !self.has_permit() {
            return;
        }
        if self.registry().shared().is_terminating() {
            // The permit may come from a worker that made way and has not read the permit's mail (jobs that were sent)
            // since.
            while !self.leave_mail() {
                self.read_mail();
            }
            return self.go_home();
        }
        let permit = self.permit();
        if !self.offer(permit) {
            self.holding().clear();
            self.registry().lose(permit);
        }
    }

    /// Gives the caller slot (the role of worker 0) back if the pool has no detached tasks any more, and waits on the
    /// idle list. Returns `None` if the worker keeps the slot, and `false` if the pool no longer needs this thread.
    pub(in crate::pool) fn give_caller_slot_back(&self) -> Option<bool> {
        let (registry, me) = (self.registry(), self.id());
        if me == 0
            || self.permit() != 0
            || registry.keeps_caller_slot()
            || registry.shared().is_terminating()
        {
            return None;
        }
        let listed = registry.change_permits(|permits| {
            if registry.has_detached() || !registry.mailboxes()[0].is_empty() {
                return None;
            }
            permits.give_back(me, registry.shared().allowed(), || self.holding().clear())
        })?;
        Some(self.await_listed(&listed))
    }

    /// Whether this worker holds the caller slot and should give the slot back.
    pub(in crate::pool) fn overstays(&self) -> bool {
        let registry = self.registry();
        self.id() != 0
            && self.permit() == 0
            && !registry.keeps_caller_slot()
            && registry.shared().caller_slot().word().is_held_alone()
            && !registry.has_detached()
            && !registry.shared().is_terminating()
    }
}
