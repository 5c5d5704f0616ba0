//! Waiting for a condition: awake at first, then asleep.

use super::Carried;
use super::spin::spin;
use manycore_cores::sync;
use manycore_platform::Native;

/// Workers that find no rank sleep at this bell. Each change that a rank may wait for rings it.
pub(crate) static WORKERS: sync::Bell<Native> = sync::Bell::native();

/// Wakes threads that wait for a condition. It also wakes workers, since a rank may wait for the condition.
pub(crate) struct Bell(sync::Bell<Native>);

impl Bell {
    pub(crate) const fn new() -> Self {
        Self(sync::Bell::native())
    }

    /// A condition may have come to hold.
    pub(crate) fn ring(&self) {
        self.0.ring();
        WORKERS.ring_after_fence();
    }

    /// The same where the change was a sequentially consistent read-modify-write.
    #[inline]
    pub(crate) fn ring_after_rmw(&self) {
        self.0.ring_after_rmw();
        WORKERS.ring_after_fence();
    }

    /// Returns when the condition has held. Other threads may look at the condition, many times: it must not depend on the
    /// thread that looks.
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
            self.0.sleep(|| condition().then_some(()), || None);
        }
    }
}
