//! An event that happens once: the end of a call that an external thread has handed in, and since
//! when it is over.

use manycore_cores::sync::Parker;
use manycore_platform::{Atomic, Ordering, Platform};
use std::time::Duration;

/// The event that a thread which is no worker waits for.
pub(super) struct Oneshot<P: Platform> {
    parker: Parker<P>,
    /// When it was notified, in ticks.
    at: P::AtomicU64,
}

impl<P: Platform> Oneshot<P> {
    pub(super) fn new() -> Self {
        Self {
            parker: Parker::asleep(),
            at: P::AtomicU64::new(0),
        }
    }

    /// Says that it is over, and wakes the thread.
    pub(super) fn notify(&self) {
        // Relaxed: published by the word, whose store comes after it.
        self.at.store(P::now(), Ordering::Relaxed);
        self.parker.tell(Parker::<P>::AWAKE);
    }

    /// Since when it is over, in ticks, for the thread itself.
    pub(super) fn since(&self) -> Option<u64> {
        // The word's state acquires what `notify` has released.
        (self.parker.state() != Parker::<P>::ASLEEP).then(|| self.at.load(Ordering::Relaxed))
    }

    /// Spins until it is over, or the clock passes `until`.
    pub(super) fn spin(&self, until: u64) {
        self.parker.spin(Parker::<P>::ASLEEP, until);
    }

    /// Sleeps until it is over.
    pub(super) fn sleep(&self) {
        self.parker.sleep_out();
    }

    /// Sleeps until it is over, for `time` at most; may return for no reason.
    pub(super) fn sleep_for(&self, time: Duration) {
        self.parker.sleep(Parker::<P>::ASLEEP, Some(time));
    }
}
