//! The place where workers sleep that have found nothing.

use manycore_cores::sync::{AfterRmw, Sleepers};
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Futex, Ordering, Platform};

/// Sleepers, and the word that wakes them: [`Sleepers`] has the argument that no wake-up is lost.
/// If a thread sleeps, a publisher changes `hints`. A sleeper reads `hints` once it is counted, and
/// looks for tasks after that.
///
/// If a woken worker finds nothing, another worker that was awake has been faster.
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

    /// Something was published, by an atomic read-modify-write just before.
    ///
    /// Cost while no worker sleeps: a load of a line without writers.
    #[inline]
    pub(super) fn published(&self) {
        if self.sleepers.after_publishing() > 0 {
            self.wake(1);
        }
    }

    #[cold]
    fn wake(&self, count: u32) {
        // Release: a thread that reads it finds the published tasks.
        self.hints.fetch_add(1, Ordering::Release);
        self.hints.wake(count);
    }

    /// Something was published that concerns all.
    pub(super) fn wake_all(&self) {
        self.wake(u32::MAX);
    }

    /// Sleeps unless `look` finds something, or something is published. May return for
    /// no reason.
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
