//! The word on which workers without tasks sleep.

use manycore_cores::sync::{AfterRmw, Sleepers};
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Futex, Ordering, Platform};

/// Sleepers, and the word that wakes them. [`Sleepers`] argues that no wake-up is lost. If a thread sleeps, a thread
/// that publishes tasks changes `hints`. A sleeper reads `hints` once it is counted, and then looks for tasks.
///
/// If a woken worker finds no task, an awake worker has been faster.
pub(super) struct Parking<P: Platform> {
    sleepers: Sleepers<P, AfterRmw>,
    hints: CachePadded<P::Futex>,
}

impl<P: Platform> Parking<P> {
    pub(super) fn new() -> Self {
        let rest = Self {
            sleepers: Sleepers::new(),
            hints: CachePadded::new(<P::Futex as Atomic<u32>>::new(0)),
        };
        rest.sleepers.name("pile: sleepers");
        P::name(&rest.hints, "pile: news");
        rest
    }

    /// A worker calls this just after an atomic read-modify-write has published an item.
    ///
    /// While no worker sleeps, this costs a load of a line without writers.
    #[inline]
    pub(super) fn published(&self) {
        if self.sleepers.after_publishing() > 0 {
            self.wake(1);
        }
    }

    #[cold]
    fn wake(&self, count: u32) {
        // Release: a thread that reads this value finds the published items.
        self.hints.fetch_add(1, Ordering::Release);
        self.hints.wake(count);
    }

    /// Wakes all sleepers for an event that concerns all.
    pub(super) fn wake_all(&self) {
        self.wake(u32::MAX);
    }

    /// Sleeps until an item is published, unless `look` finds one. May return for no reason.
    pub(super) fn sleep<T>(&self, look: impl FnOnce() -> Option<T>) -> Option<T> {
        self.sleepers.sleep(|| {
            let hints = self.hints.load(Ordering::Acquire);
            let found = look();
            if found.is_none() {
                self.hints.wait(hints, None);
            }
            found
        })
    }
}
