//! A latch: a flag for which a worker waits, awake or asleep.

use manycore_platform::{Atomic, Ordering, Platform};

const OPEN: u32 = 0;
/// The owner sleeps, or will look at its parking slot before it sleeps.
const AWAITED: u32 = 1;
const SET: u32 = 2;

/// A flag. One worker, the flag's owner, waits until another thread sets the flag, which happens once.
///
/// The owner announces its sleep in the flag itself. So the setter learns from the value that it
/// replaces whether to wake the owner:
///
/// * If the setter comes before [`announce_sleep`](Self::announce_sleep), `announce_sleep` fails,
///   and the owner stays awake.
/// * If the setter comes after `announce_sleep`, [`set`](Self::set) returns `true`, and the setter wakes the owner.
///
/// A latch lives in pool memory, in a worker or a slot of its stack, or in a scope, which may be gone
/// as soon as the latch is set. So [`set`](Self::set) is one exchange, and its caller does not touch
/// the latch afterwards.
#[repr(transparent)]
pub struct Latch<P: Platform> {
    state: P::AtomicU32,
}

impl<P: Platform> Latch<P> {
    /// Makes a latch that is not set.
    #[expect(clippy::new_without_default, reason = "no caller wants a default one")]
    pub fn new() -> Self {
        Self {
            state: P::AtomicU32::new(OPEN),
        }
    }

    /// Whether the latch is set.
    #[inline]
    pub fn is_set(&self) -> bool {
        // Acquire pairs with `set`: the setter's earlier writes are visible.
        self.state.load(Ordering::Acquire) == SET
    }

    /// The owner, in its parking slot, announces that it will sleep. Returns `false` if the latch is set. In that case
    /// the owner must not sleep.
    #[must_use]
    pub fn announce_sleep(&self) -> bool {
        // Release: a thread that reads AWAITED in `set` finds the owner parked. Acquire on failure: an
        // owner that stays awake because the latch is set sees the setter's earlier writes, such as the
        // pool's end.
        let announced =
            (self.state).compare_exchange(OPEN, AWAITED, Ordering::Release, Ordering::Acquire);
        announced.is_ok()
    }

    /// The owner withdraws its announcement, because it is awake.
    pub fn withdraw(&self) {
        // Relaxed: the setter only learns that it need not wake the owner. A set latch stays set, and the
        // owner's acquire is in `is_set`.
        let _ = (self.state).compare_exchange(AWAITED, OPEN, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Sets the latch. Returns `true` if the owner sleeps. The caller must then wake the owner.
    #[inline]
    #[must_use]
    pub fn set(&self) -> bool {
        // Release publishes the result to the owner. Acquire pairs with `announce_sleep`. After this
        // exchange the setter must not touch any data of the waiting side, nor this word.
        self.state.swap(SET, Ordering::AcqRel) == AWAITED
    }

    /// The owner prepares the latch for another use.
    #[inline]
    pub fn reset(&self) {
        // Relaxed: the write that passes the latch to its next setter publishes this store.
        self.state.store(OPEN, Ordering::Relaxed);
    }
}
