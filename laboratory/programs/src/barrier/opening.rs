use manycore_platform::{Atomic, AtomicInteger, Futex, Ordering, Platform};

/// Members that have opened their ports: a message goes to those that are open
/// when it is sent, so nobody sends before all are.
pub(super) struct Opening<P: Platform> {
    /// Members that have yet to open.
    missing: P::Futex,
}

impl<P: Platform> Opening<P> {
    /// For so many members.
    pub(super) fn new(members: usize) -> Self {
        // More members than fit are more than there are threads.
        let members = u32::try_from(members).unwrap_or(u32::MAX);
        Self {
            missing: <P::Futex as Atomic<u32>>::new(members),
        }
    }

    /// One has opened.
    pub(super) fn opened(&self) {
        // Release: who sees 0 finds every port open.
        if self.missing.fetch_sub(1, Ordering::Release) == 1 {
            self.missing.wake(u32::MAX);
        }
    }

    /// Waits until all have.
    pub(super) fn wait(&self) {
        loop {
            // Acquire pairs with `opened`; the counts between are one release
            // sequence of read-modify-writes.
            let missing = self.missing.load(Ordering::Acquire);
            if missing == 0 {
                return;
            }
            // Compared and slept in one step: the last one's wake-up, which
            // follows its change of the word, is not lost.
            self.missing.wait(missing, None);
        }
    }
}
