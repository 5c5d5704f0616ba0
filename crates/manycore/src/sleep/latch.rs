//! What a worker waits for, and may sleep on.

use manycore_platform::{Atomic, Ordering, Platform};

const UNSET: u32 = 0;
/// The owner is about to sleep.
const SLEEPY: u32 = 1;
/// The owner sleeps, or is certain to look at its parking place once more.
const SLEEPING: u32 = 2;
const SET: u32 = 3;

/// A flag that one worker waits for and another sets, once.
///
/// The owner announces in the flag itself that it is going to sleep, so that
/// the setter, whose exchange is ordered with these announcements in the word's
/// history, learns from what it replaced whether it must wake anybody:
///
/// * the exchange came before [`fall_asleep`](Self::fall_asleep): that fails,
///   and the owner stays awake;
/// * it came after: it returned SLEEPING, and the setter wakes the owner.
///
/// Latches live in pool memory (a worker's, or a slot of its stack), so the
/// setter may touch one that the owner has done with, and no latch dies while
/// it is being set.
#[repr(transparent)]
pub struct Latch<P: Platform> {
    state: P::AtomicU32,
}

impl<P: Platform> Latch<P> {
    /// One that is not set.
    #[expect(clippy::new_without_default, reason = "nobody asks for a default one")]
    pub fn new() -> Self {
        Self {
            state: P::AtomicU32::new(UNSET),
        }
    }

    /// Whether it is set.
    #[inline]
    pub fn probe(&self) -> bool {
        // Acquire pairs with `set`: what the setter did before is visible.
        self.state.load(Ordering::Acquire) == SET
    }

    /// The owner announces that it may sleep soon; `false`: the latch is set.
    pub fn get_sleepy(&self) -> bool {
        self.step(UNSET, SLEEPY)
    }

    /// The owner announces that it will sleep; `false`: the latch is set, and
    /// it must not.
    pub fn fall_asleep(&self) -> bool {
        self.step(SLEEPY, SLEEPING)
    }

    /// The owner is awake, by whatever cause.
    pub fn wake_up(&self) {
        if !self.step(SLEEPING, UNSET) {
            self.step(SLEEPY, UNSET);
        }
    }

    fn step(&self, from: u32, to: u32) -> bool {
        // Release: who reads SLEEPING in `set` finds the owner in bed. Acquire when
        // it fails: an owner that stays awake because the latch is set sees what the
        // setter did before, the pool's end for one.
        let step = (self.state).compare_exchange(from, to, Ordering::Release, Ordering::Acquire);
        step.is_ok()
    }

    /// Sets it; `true`: the owner sleeps, and the caller must wake it.
    #[inline]
    #[must_use]
    pub fn set(&self) -> bool {
        // Release publishes what the owner waits for. Nothing of the waiting
        // side but this word may be touched after it.
        self.state.swap(SET, Ordering::AcqRel) == SLEEPING
    }

    /// The owner makes it ready for another use.
    #[inline]
    pub fn reset(&self) {
        // Relaxed: published with whatever hands the latch to its next setter.
        self.state.store(UNSET, Ordering::Relaxed);
    }
}
