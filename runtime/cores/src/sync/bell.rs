//! The bell: wakes threads that wait for conditions of any kind.

use super::sleepers::{AfterRmw, Sleepers};
use manycore_platform::{Atomic, AtomicInteger, Futex, Native, Ordering, Platform};
use std::sync::atomic;
use std::time::Duration;

/// Threads that sleep, each until a condition of its own holds. A thread that makes such a condition true rings.
///
/// To ring is a read while nobody sleeps. (An [`EventCount`](super::EventCount) writes at each post, which
/// is what its spinners see.)
///
/// No wake-up is lost, by the argument of [`Sleepers`]: what a ringer publishes is the condition, and what a sleeper looks at
/// is its own condition. Before that look the sleeper reads `word`, on which it sleeps. If a
/// ringer finds the sleeper counted, it changes `word`, by a release. If the sleeper has read that change, by an acquire, its
/// look finds the condition. Otherwise the futex compares. Checked by `sync::checked`.
pub struct Bell<P: Platform> {
    word: P::Futex,
    sleepers: Sleepers<P, AfterRmw>,
}

impl<P: Platform> Bell<P> {
    #[expect(clippy::new_without_default, reason = "nobody asks for a default one")]
    /// Nobody sleeps.
    pub fn new() -> Self {
        Self {
            word: <P::Futex as Atomic<u32>>::new(0),
            sleepers: Sleepers::new(),
        }
    }

    /// Some condition may hold now. The caller has made it so before.
    #[inline]
    pub fn ring(&self) {
        P::fence(Ordering::SeqCst);
        self.ring_after_fence();
    }

    /// The same, if the caller has made it so by an atomic read-modify-write.
    #[inline(always)]
    pub fn ring_after_rmw(&self) {
        P::fence_after_rmw();
        self.ring_after_fence();
    }

    /// The same, if the caller has made it so before a full fence.
    #[inline(always)]
    pub fn ring_after_fence(&self) {
        if self.sleepers.after_fence() != 0 {
            self.wake();
        }
    }

    #[cold]
    fn wake(&self) {
        // Release: what the caller has published.
        self.word.fetch_add(1, Ordering::Release);
        self.word.wake(u32::MAX);
    }

    /// Looks, and sleeps until a ring if there was nothing, for a time that is asked for after the look. Returns what
    /// the look has found. May return for no reason.
    pub fn sleep<R>(
        &self,
        look: impl FnOnce() -> Option<R>,
        timeout: impl FnOnce() -> Option<Duration>,
    ) -> Option<R> {
        self.sleepers.sleep(|| {
            // Acquire: what was published before a ring that changed it; and the look comes after it.
            let word = self.word.load(Ordering::Acquire);
            let found = look();
            if found.is_none() {
                self.word.wait(word, timeout());
            }
            found
        })
    }
}

impl Bell<Native> {
    /// As [`new`](Self::new), for statics.
    #[must_use]
    pub const fn native() -> Self {
        Self {
            word: atomic::AtomicU32::new(0),
            sleepers: Sleepers::native(),
        }
    }
}
