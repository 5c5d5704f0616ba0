//! The bell wakes threads that wait for conditions of any kind.

use super::sleepers::{AfterRmw, Sleepers};
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Futex, Native, Ordering, Platform};
use std::sync::atomic;
use std::time::Duration;

/// Each waiting thread sleeps on this bell until its own condition holds. A thread that makes a condition true rings
/// the bell.
///
/// While no thread sleeps, a ring only reads the count of sleepers. (An [`EventCount`](super::EventCount) writes at
/// each post, so that its spinners see the post.)
///
/// No wake-up is lost, by the argument of [`Sleepers`]. The ringer publishes the condition, and the sleeper looks at
/// it. Before its look, the sleeper reads `word`, and it sleeps only while `word` has the value that it read. If the
/// ringer finds the sleeper counted, the ringer changes `word`, with release. If the sleeper has read the change, with
/// acquire, its look finds the condition. Otherwise the futex finds `word` changed, or the ringer wakes the sleeper.
/// `sync::checked` checks this.
pub struct Bell<P: Platform> {
    word: P::Futex,
    sleepers: CachePadded<Sleepers<P, AfterRmw>>,
}

impl<P: Platform> Bell<P> {
    #[expect(clippy::new_without_default, reason = "no caller wants a default one")]
    /// Makes a bell at which no thread sleeps.
    pub fn new() -> Self {
        Self {
            word: <P::Futex as Atomic<u32>>::new(0),
            sleepers: CachePadded::new(Sleepers::new()),
        }
    }

    /// Wakes the sleepers. The caller has made a condition true.
    #[inline]
    pub fn ring(&self) {
        P::fence(Ordering::SeqCst);
        self.ring_after_fence();
    }

    /// As [`ring`](Self::ring), if an atomic read-modify-write of the caller has made the condition true.
    #[inline(always)]
    pub fn ring_after_rmw(&self) {
        P::fence_after_rmw();
        self.ring_after_fence();
    }

    /// As [`ring`](Self::ring), if the caller has made a full fence after it made the condition true.
    #[inline(always)]
    pub fn ring_after_fence(&self) {
        if self.sleepers.after_fence() != 0 {
            self.wake();
        }
    }

    #[cold]
    fn wake(&self) {
        // Release publishes the caller's condition.
        self.word.fetch_add(1, Ordering::Release);
        self.word.wake(u32::MAX);
    }

    /// Looks once. If the look finds nothing, the caller sleeps until a ring, but at most for the time that `timeout`
    /// returns. `timeout` is called after the look. Returns what the look has found. May return spuriously.
    pub fn sleep<R>(
        &self,
        look: impl FnOnce() -> Option<R>,
        timeout: impl FnOnce() -> Option<Duration>,
    ) -> Option<R> {
        self.sleepers.sleep(|| {
            // Acquire pairs with the release in `wake`, and keeps the look after this load.
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
            sleepers: CachePadded::new(Sleepers::native()),
        }
    }

    /// Forgets the sleepers. The only thread of a child after `fork` calls this, since the sleepers are threads of the
    /// parent.
    pub fn forget_sleepers(&self) {
        self.sleepers.forget();
    }
}
