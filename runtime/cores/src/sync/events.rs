//! The event count. With it, a poster announces work to idle workers. The poster need not know which workers are idle,
//! and no wake-up is lost.

use super::sleepers::{AfterRmw, Sleepers};
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Futex, Ordering, Platform};
use std::time::Duration;

/// Counts announcements of work (posts), and the threads that sleep until the next post.
///
/// There are two cache lines. Every post writes `posted` and every spinner reads it: the transfer of this line *is*
/// the announcement. The count of [`Sleepers`] is written only when a thread falls asleep or wakes. So a post reads
/// that count from its own cache while workers stay awake.
///
/// No wake-up is lost, by the argument of [`Sleepers`]. A post publishes the new count. A sleeper reads `posted`
/// before it looks for work, and the futex compares `posted` with that value. The sleeper would miss a post only if
/// `posted` went through all 2^32 values in between.
pub struct EventCount<P: Platform> {
    posted: CachePadded<P::Futex>,
    sleepers: CachePadded<Sleepers<P, AfterRmw>>,
}

impl<P: Platform> EventCount<P> {
    #[expect(clippy::new_without_default, reason = "no caller wants a default one")]
    /// Makes a count of no events, without sleepers.
    pub fn new() -> Self {
        Self {
            posted: CachePadded::new(<P::Futex as Atomic<u32>>::new(0)),
            sleepers: CachePadded::new(Sleepers::new()),
        }
    }

    /// The number of posts so far. A sleeper reads it before it looks for work.
    ///
    /// Acquire pairs with [`post`](Self::post)'s release: a thread that reads the new count finds the work that was
    /// published before it.
    #[inline]
    pub fn seen(&self) -> u32 {
        self.posted.load(Ordering::Acquire)
    }

    /// Spins until a post after `seen`, or until the clock passes `until`. Returns whether there was a post.
    #[inline]
    pub fn spin(&self, seen: u32, until: u64) -> bool {
        P::spin_while(&self.posted, seen, until) != seen
    }

    /// Announces the work that the caller has published. Returns how many threads are asleep. The caller decides
    /// whether to [`wake`](Self::wake) any of them.
    ///
    /// Cost: one locked instruction on a line that the spinners share (one transfer if there is a spinner), and one
    /// read of a line that is written only when a thread falls asleep or wakes.
    #[inline]
    pub fn post(&self) -> u32 {
        // Release publishes the work to threads that read the count (`seen`).
        self.posted.fetch_add(1, Ordering::Release);
        self.sleepers.after_publishing()
    }

    /// Wakes up to `count` sleepers.
    pub fn wake(&self, count: u32) {
        self.posted.wake(count);
    }

    /// Sleeps unless there was a post after `seen`. May return spuriously.
    pub fn sleep(&self, seen: u32, timeout: Option<Duration>) {
        self.sleepers.sleep(|| self.posted.wait(seen, timeout));
    }
}
