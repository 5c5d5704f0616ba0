//! A worker waits for a latch, and may sleep on it.

use manycore_platform::{Atomic, Ordering, Platform};

const OPEN: u32 = 0;
/// The owner sleeps, or is certain to look at its parking slot once more.
const AWAITED: u32 = 1;
const SET: u32 = 2;

/// A flag that one worker, its owner, waits for and another thread sets, once.
///
/// The owner says in the flag itself that it is going to sleep, so the setter learns
/// from the value that it replaces whether it must wake the owner:
///
/// * the setter came before [`announce_sleep`](Self::announce_sleep): that fails, and the
///   owner stays awake;
/// * the setter came after: [`set`](Self::set) returns `true`, and the setter wakes the owner.
///
/// Latches live in pool memory (a worker's, or a slot of its stack), so the setter may touch one
/// that its owner no longer uses, and no latch dies while a thread sets it.
#[repr(transparent)]
pub struct Latch<P: Platform> {
    state: P::AtomicU32,
}

impl<P: Platform> Latch<P> {
    /// A latch that is not set.
    #[expect(clippy::new_without_default, reason = "no caller wants a default one")]
    pub fn new() -> Self {
        Self {
            state: P::AtomicU32::new(OPEN),
        }
    }

    /// Whether it is set.
    #[inline]
    pub fn is_set(&self) -> bool {
        // Acquire pairs with `set`: what the setter did before is visible.
        self.state.load(Ordering::Acquire) == SET
    }

    /// The owner, in its parking slot, says that it will sleep; `false`: the latch is set, and it
    /// must not.
    #[must_use]
    pub fn announce_sleep(&self) -> bool {
        // Release: a thread that reads AWAITED in `set` finds the owner parked. Acquire when it
        // fails: an owner that stays awake because the latch is set sees the setter's earlier
        // writes, such as the pool's end.
        let announced =
            (self.state).compare_exchange(OPEN, AWAITED, Ordering::Release, Ordering::Acquire);
        announced.is_ok()
    }

    /// The owner is awake, by whatever cause.
    pub fn withdraw(&self) {
        // Relaxed: the setter only learns that no thread needs waking. If the latch is set it stays set,
        // and the owner's acquire is in `is_set`.
        let _ = (self.state).compare_exchange(AWAITED, OPEN, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Sets it; `true`: the owner sleeps, and the caller must wake it.
    #[inline]
    #[must_use]
    pub fn set(&self) -> bool {
        // Release publishes what the owner waits for; acquire pairs with `announce_sleep`.
        // Nothing of the waiting side but this word may be touched after it.
        self.state.swap(SET, Ordering::AcqRel) == AWAITED
    }

    /// The owner makes it ready for another use.
    #[inline]
    pub fn reset(&self) {
        // Relaxed: published with whatever hands the latch to its next setter.
        self.state.store(OPEN, Ordering::Relaxed);
    }
}
