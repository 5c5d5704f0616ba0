//! Waiting for a condition: a thread first spins, then sleeps at a bell.

use super::Carried;
use super::spin::spin;
use crate::system::shared_core;
use manycore_cores::sync;
use manycore_platform::Native;

/// The bell at which workers (kernel threads: see `carry`) sleep while they find no rank (a thread) that can run. Each
/// change that a rank may wait for rings this bell.
pub(crate) static WORKERS: sync::Bell<Native> = sync::Bell::native();

/// Wakes threads that wait for a condition. A ring also wakes workers, since a rank may wait for the condition.
pub(crate) struct Bell(sync::Bell<Native>);

impl Bell {
    pub(crate) const fn new() -> Self {
        Self(sync::Bell::native())
    }

    /// Wakes the waiting threads. The caller has made a change, so that a condition may hold now.
    pub(crate) fn ring(&self) {
        self.0.ring();
        WORKERS.ring_after_fence();
    }

    /// Like [`ring`](Self::ring), if the change was a sequentially consistent read-modify-write.
    #[inline]
    pub(crate) fn ring_after_rmw(&self) {
        self.0.ring_after_rmw();
        WORKERS.ring_after_fence();
    }

    /// Returns when the condition has held. Other threads may evaluate the condition, many times. So it must not depend
    /// on the thread that evaluates it.
    #[inline(always)]
    pub(crate) fn wait_until(&self, carried: &Carried, condition: &dyn Fn() -> bool) {
        if condition() {
            return;
        }
        match carried.waits() {
            Some(rank) => rank.wait_until(condition),
            None => self.wait(condition),
        }
    }

    fn wait(&self, condition: &dyn Fn() -> bool) {
        if spin(condition) {
            return;
        }
        while !condition() {
            shared_core::forget();
            let found = self.0.sleep(|| condition().then_some(()), || None);
            match found {
                Some(()) => shared_core::note(),
                // The kernel may have woken the thread on any core.
                None => _ = shared_core::is_shared(true),
            }
        }
    }
}
