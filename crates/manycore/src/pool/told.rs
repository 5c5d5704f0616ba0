//! The event on which a thread blocks until a pool has done what the thread handed to it.

use manycore_platform::{Atomic, Futex, Ordering, Platform};
use std::time::Duration;

const WAITING: u32 = 0;
const TOLD: u32 = 1;

/// Set once, by another thread. Shared by both in an `Arc`, so that whoever tells may
/// touch it after the other one has gone on.
pub(super) struct Told<P: Platform>(P::Futex);

impl<P: Platform> Told<P> {
    pub(super) fn new() -> Self {
        Self(<P::Futex as Atomic<u32>>::new(WAITING))
    }

    pub(super) fn is_told(&self) -> bool {
        // Acquire pairs with `tell`.
        self.0.load(Ordering::Acquire) == TOLD
    }

    pub(super) fn tell(&self) {
        // Release publishes what was done.
        self.0.store(TOLD, Ordering::Release);
        self.0.wake(1);
    }

    /// Spins, until the clock passes `until` at the latest.
    pub(super) fn spin(&self, until: u64) -> bool {
        P::spin_while(&self.0, WAITING, until) == TOLD
    }

    /// Sleeps until told; for `time` at most, if given. Whether it was told.
    ///
    /// Comparing and sleeping are one step of the futex, so that a `tell` in between is
    /// not slept through.
    pub(super) fn sleep(&self, time: Option<Duration>) -> bool {
        while !self.is_told() {
            self.0.wait(WAITING, time);
            if time.is_some() {
                break;
            }
        }
        self.is_told()
    }
}
