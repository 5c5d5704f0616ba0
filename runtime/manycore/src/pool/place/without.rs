//! A worker's own side of places (`places.rs`): how it gives its place away, sleeps without
//! one, returns, and makes way for others.

use crate::pool::context::Context;
use crate::pool::crew::Stay;
use crate::pool::places::{DISMISSED, GRANTED, LISTED, Listed};
use crate::pool::worker::Worker;
use crate::sleep::Latch;
use manycore_cores::sync::Parker;
use manycore_platform::Platform;

impl<P: Platform> Worker<P> {
    pub(in crate::pool) fn wake_alone(&self, state: u32) {
        // This publishes the place, and all that its last holder did in it.
        self.holding().alone.tell(state);
    }

    /// Takes the worker out of its sleep without a place, if it is in it: it is to be
    /// listed, and woken. If several try, one succeeds.
    pub(in crate::pool) fn rouse_alone(&self) -> bool {
        self.holding().alone.rouse(LISTED)
    }

    /// Sleeps until this worker, which is on one of the lists, has a place; `false`: it
    /// was dismissed.
    fn await_place(&self) -> bool {
        let alone = &self.holding().alone;
        let until = P::now() + self.registry().shared().told_spin();
        loop {
            let before = alone.state();
            let state = if before == Parker::<P>::AWAKE || before == LISTED {
                alone.spin(before, until)
            } else {
                before
            };
            match state {
                GRANTED | DISMISSED => {
                    // Nobody else looks until it is on a list again.
                    alone.reset();
                    return state == GRANTED;
                }
                _ => alone.sleep(state, None),
            }
        }
    }

    /// Waits, on the bench, for a place; `false`: the pool needs this thread no more.
    pub(in crate::pool) fn sit_on_bench(&self) -> bool {
        let sits = (self.registry()).change_places(|places| places.sit(self.id()));
        sits && self.await_place()
    }

    /// Gives this worker's place away. `false`: nobody can be had for it.
    pub(in crate::pool) fn give_place(&self) -> bool {
        let place = self.place();
        let given = self.offer(place);
        if !given {
            self.set_place(place);
        }
        given
    }

    /// Gives `place`, which this worker has, away. `false`: nobody can be had for it, or this
    /// worker was roused, and the place is in the caller's hands.
    fn offer(&self, place: usize) -> bool {
        #[cfg(test)]
        if crate::conserving::fault::is(crate::conserving::fault::Fault::NoReserve) {
            return false;
        }
        let registry = self.registry();
        Context::<P>::bar_loops(registry.shared(), place);
        let is_caller = self.id() == 0 && place == 0;
        let offered = registry.change_places(|places| {
            // Roused while it lay down: it is listed, or about to have another place, which
            // this must not overwrite. It is roused under the lock: this is exact.
            if self.holding().alone.glance() > Parker::<P>::ASLEEP {
                return None;
            }
            // Whoever lists this worker, and gives it another place, comes after this. The
            // heir is somebody else.
            self.holding().clear();
            Some(places.give(is_caller))
        });
        let Some(successor) = offered else {
            Context::<P>::unbar_loops(registry.shared(), place);
            return false;
        };
        let _stay = Stay::of(registry, &successor);
        if registry.pass_on(place, &successor).is_err() {
            if is_caller {
                registry.change_places(|places| places.regain());
            }
            Context::<P>::unbar_loops(registry.shared(), place);
            return false;
        }
        true
    }

    /// Gives the place away and sleeps until `latch` is set, then waits for a place. May
    /// return for no reason. `false`: it could not, and has not waited.
    ///
    /// It lies down first. So whoever sets the latch while the place is on its way to
    /// somebody else, or later, finds this worker asleep, and lists it.
    pub(in crate::pool) fn wait_without_place(&self, latch: &Latch<P>) -> bool {
        let (place, alone) = (self.place(), &self.holding().alone);
        // The thread that sets the latch sees there that this worker is asleep, and finds it here.
        alone.lie_down();
        if !(latch.announce_sleep()) {
            // Set.
            self.get_up_with(place);
            return true;
        }
        if !self.offer(place) {
            latch.withdraw();
            return self.get_up_with(place);
        }
        alone.sleep_out();
        latch.withdraw();
        let granted = self.await_place();
        debug_assert!(granted, "who returns is not dismissed");
        true
    }

    /// Gets up with `place`, which it has not given away after all; `true`: it was listed
    /// meanwhile, by who has set the latch, or by who has set an older one, late.
    fn get_up_with(&self, place: usize) -> bool {
        let (registry, alone) = (self.registry(), &self.holding().alone);
        let roused = !alone.rise_unroused();
        // It is roused and listed under the lock.
        let struck = roused && registry.change_places(|places| places.strike(self.id()));
        if struck {
            // Nobody else looks until it is on a list again.
            alone.reset();
        } else if roused {
            // Somebody grants it a second place, now. That is passed on.
            let granted = self.await_place();
            debug_assert!(granted, "who returns is not dismissed");
            let second = self.place();
            if !self.offer(second) {
                registry.change_places(|places| places.lose(second));
            }
        }
        self.set_place(place);
        roused
    }

    /// Waits until this worker has a place, if it has none.
    #[inline(never)]
    pub(in crate::pool) fn regain_place(&self) {
        if self.has_place() {
            return;
        }
        let (registry, me) = (self.registry(), self.id());
        // Whoever waits for a place holds none.
        Context::leave_others(registry.shared());
        if let Listed::Placed(place) = registry.change_places(|places| places.list(me)) {
            self.set_place(place);
        } else {
            registry.call_for_place();
            let granted = self.await_place();
            debug_assert!(granted, "who returns is not dismissed");
        }
        self.note_work();
    }

    /// Hands this worker's place to somebody who wants to return, if anybody does, and
    /// waits for another. `None`: there was nobody; `false`: the pool needs this thread
    /// no more.
    pub(in crate::pool) fn make_way(&self) -> Option<bool> {
        let (registry, me, place) = (self.registry(), self.id(), self.place());
        if !registry.places().is_awaited() {
            return None;
        }
        let (next, stays) = registry.change_places(|places| {
            // Before it is listed: the thread that takes it off the list sets its place. An adopted
            // thread has nowhere to go: it wants to return in its turn.
            places.make_way(me, me == 0, || self.holding().clear())
        })?;
        registry.grant(place, next);
        Some(stays && self.await_place())
    }

    /// The pool has ended, and this thread goes home: its place is free, for an adopted
    /// thread that wants to return.
    pub(in crate::pool) fn go_home(&self) {
        let (registry, place) = (self.registry(), self.place());
        if self.id() == 0 {
            return; // It is adopted, or the caller slot's: the place stays with it.
        }
        let heir = registry.change_places(|places| places.go_home(place));
        self.holding().clear();
        if let Some(heir) = heir {
            registry.grant(place, heir);
        }
    }

    /// Gives the caller slot back if the pool has no jobs of its own any more, and waits on
    /// the bench. `None`: it keeps it; `false`: the pool needs this thread no more.
    pub(in crate::pool) fn give_caller_slot_back(&self) -> Option<bool> {
        let (registry, me) = (self.registry(), self.id());
        if me == 0
            || self.place() != 0
            || registry.keeps_caller_slot()
            || registry.shared().is_terminating()
        {
            return None;
        }
        let given = registry.change_places(|places| {
            !registry.has_roots()
                && registry.mail()[0].is_empty()
                && places.give_back(me, || self.holding().clear())
        });
        given.then(|| self.await_place())
    }

    /// Whether this worker holds the caller slot that it should give back.
    pub(in crate::pool) fn overstays(&self) -> bool {
        let registry = self.registry();
        self.id() != 0
            && self.place() == 0
            && !registry.keeps_caller_slot()
            && registry.shared().caller_slot().word().is_held_alone()
            && !registry.has_roots()
            && !registry.shared().is_terminating()
    }
}
