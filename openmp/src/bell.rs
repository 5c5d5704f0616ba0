//! Waiting until something holds: awake at first, then asleep.

use crate::context::Context;
use crate::spin::spin;
use manycore_platform::{Futex, Native, Platform};
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::SeqCst;

/// Wakes threads that wait for a condition.
///
/// # No wake-up is lost
///
/// A sleeper adds itself to `sleepers`, then reads `word`, then looks at its condition, then sleeps
/// while `word` is as it was. A thread that makes a condition true does that first, then reads
/// `sleepers`, and changes `word` if `sleepers` is not 0. All of these are sequentially consistent, or come after a
/// full fence. If the ringer reads 0, its change comes before the sleeper's look. Otherwise the
/// word changes, either before the sleeper's reading of it, whose look then comes after the
/// change too, or after it, and the futex compares.
pub(crate) struct Bell {
    word: AtomicU32,
    sleepers: AtomicU32,
}

impl Bell {
    pub(crate) const fn new() -> Self {
        Self {
            word: AtomicU32::new(0),
            sleepers: AtomicU32::new(0),
        }
    }

    /// What somebody may wait for has changed.
    pub(crate) fn ring(&self) {
        std::sync::atomic::fence(SeqCst);
        self.ring_after_rmw();
    }

    /// The same where the change was a sequentially consistent read-modify-write.
    #[inline]
    pub(crate) fn ring_after_rmw(&self) {
        Native::fence_after_rmw();
        if self.sleepers.load(SeqCst) != 0 {
            self.wake();
        }
        crate::carry::notify();
    }

    #[cold]
    fn wake(&self) {
        self.word.fetch_add(1, SeqCst);
        Futex::wake(&self.word, u32::MAX);
    }

    /// Returns when the condition holds. It is looked at many times, perhaps by other threads,
    /// and must not depend on who looks.
    pub(crate) fn wait_until(&self, context: &Context, condition: &dyn Fn() -> bool) {
        if let Some(rank) = context.carried.get() {
            return rank.wait_until(condition);
        }
        if condition() || spin(condition) {
            return;
        }
        self.sleep_until(condition);
    }

    #[cold]
    fn sleep_until(&self, condition: &dyn Fn() -> bool) {
        loop {
            self.sleepers.fetch_add(1, SeqCst);
            let word = self.word.load(SeqCst);
            let holds = condition();
            if !holds {
                Futex::wait(&self.word, word, None);
            }
            self.sleepers.fetch_sub(1, SeqCst);
            if holds || condition() {
                return;
            }
        }
    }
}
