//! Where one worker sleeps.

use manycore_platform::{Atomic, Futex, Ordering, Platform};
use std::time::Duration;

const AWAKE: u32 = 0;
const ASLEEP: u32 = 1;
/// Roused for a job that was posted.
const CALLED: u32 = 2;

/// One worker's bed: it lies down before it tells anybody, so that whoever
/// hears of a sleeper finds one.
///
/// A worker may get up by itself ([`rise`](Self::rise)) while others wake it
/// ([`rouse`](Self::rouse)). Exactly one of them succeeds for each time it lies
/// down: the one whose exchange finds ASLEEP.
pub(crate) struct Parker<P: Platform> {
    word: P::Futex,
}

impl<P: Platform> Parker<P> {
    pub(crate) fn new() -> Self {
        Self {
            word: <P::Futex as Atomic<u32>>::new(AWAKE),
        }
    }

    /// The worker lies down; it is counted among the sleepers next.
    pub(crate) fn lie_down(&self) {
        // Release: a waker that learns of the sleeper otherwise than by the
        // count (a latch) must find it lying.
        self.word.store(ASLEEP, Ordering::Release);
    }

    /// The worker gets up; whether it was roused for a job.
    pub(crate) fn rise(&self) -> bool {
        // Acquire pairs with `rouse`: what the waker did before it is visible.
        self.word.swap(AWAKE, Ordering::AcqRel) == CALLED
    }

    /// Whether the worker was not roused yet; a hint to others.
    pub(crate) fn is_occupied(&self) -> bool {
        // Relaxed: the worker's acquire is in `rise`.
        self.word.load(Ordering::Relaxed) == ASLEEP
    }

    /// Sleeps until roused, or until `timeout` has passed; may return for no
    /// reason. The futex compares and falls asleep in one step, so a `rouse`
    /// before it is not slept through.
    pub(crate) fn sleep(&self, timeout: Option<Duration>) {
        self.word.wait(ASLEEP, timeout);
    }

    /// Takes the worker out of bed, if it is `called` for a job; `true`: it lay
    /// there, nobody else has taken it, and the caller [`wake`](Self::wake)s it
    /// next.
    pub(crate) fn rouse(&self, called: bool) -> bool {
        let to = if called { CALLED } else { AWAKE };
        // Acquire pairs with `lie_down`, release with `rise`. Relaxed if it was not in
        // bed: whether the caller may rely on that is a matter of its fences.
        let rouse = (self.word).compare_exchange(ASLEEP, to, Ordering::AcqRel, Ordering::Relaxed);
        rouse.is_ok()
    }

    /// Has the system run it.
    pub(crate) fn wake(&self) {
        self.word.wake(1);
    }
}
