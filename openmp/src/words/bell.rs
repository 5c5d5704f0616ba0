//! Waiting until something holds: awake at first, then asleep.

use super::Carried;
use super::spin::spin;
use manycore_cores::sync;
use manycore_platform::Native;

/// Where the workers sleep that find no rank which can go on. Whatever a rank may wait for, its change rings here as well.
pub(crate) static WORKERS: sync::Bell<Native> = sync::Bell::native();

/// Wakes threads that wait for a condition, and workers whose ranks do.
pub(crate) struct Bell(sync::Bell<Native>);

impl Bell {
    pub(crate) const fn new() -> Self {
        Self(sync::Bell::native())
    }

    /// What somebody may wait for has changed.
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

    /// Returns when the condition holds. It is looked at many times, perhaps by other threads,
    /// and must not depend on who looks.
    pub(crate) fn wait_until(&self, carried: &Carried, condition: &dyn Fn() -> bool) {
        if let Some(rank) = carried.get() {
            return rank.wait_until(condition);
        }
        if condition() || spin(condition) {
            return;
        }
        while !condition() {
            self.0.sleep(|| condition().then_some(()), || None);
        }
    }
}
