use manycore_platform::{Atomic, AtomicInteger, Futex, Ordering, Platform};

/// Counts the members that have opened their ports. A message reaches only ports that are open when it is
/// sent, so no member sends before all ports are open.
pub(super) struct Opening<P: Platform> {
    /// The number of members without an open port.
    missing: P::Futex,
}

impl<P: Platform> Opening<P> {
    pub(super) fn new(members: usize) -> Self {
        // Saturation is harmless, since there are fewer threads than `u32::MAX`.
        let members = u32::try_from(members).unwrap_or(u32::MAX);
        Self {
            missing: <P::Futex as Atomic<u32>>::new(members),
        }
    }

    /// Counts a member that has opened its port.
    pub(super) fn opened(&self) {
        // Release: a thread that sees 0 finds every port open.
        if self.missing.fetch_sub(1, Ordering::Release) == 1 {
            self.missing.wake(u32::MAX);
        }
    }

    /// Waits until all have opened their ports.
    pub(super) fn wait(&self) {
        loop {
            // Acquire pairs with `opened`. The subtractions are one release sequence of read-modify-writes.
            let missing = self.missing.load(Ordering::Acquire);
            if missing == 0 {
                return;
            }
            // The futex compares and sleeps in one step, so the wake-up is not lost.
            self.missing.wait(missing, None);
        }
    }
}
