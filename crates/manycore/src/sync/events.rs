//! The event count: how a poster tells idle workers that there is something
//! to find, without knowing which workers are idle and without losing one of them.

use manycore_platform::{Atomic, AtomicInteger, CachePadded, Futex, Ordering, Platform};
use std::time::Duration;

/// Announcements of work and the number of threads asleep waiting for one.
///
/// Two lines. `posted` is written by every post and read by every spinner: it
/// is the line whose transfer *is* the announcement. `sleepers` is written
/// only when a thread falls asleep or wakes, so a post reads it from its own
/// cache while workers stay awake.
///
/// # Why no wake-up is lost
///
/// A sleeper does  
///   S1 `seen = posted`; S2 look for work, find none; S3 `sleepers += 1`,
///   fence; S4 sleep if `posted == seen` (compared by the futex, atomically
///   with falling asleep).
///
/// A poster does  
///   P1 publish the work; P2 `posted += 1`, fence; P3 read `sleepers`; P4 if
///   it is not 0, wake.
///
/// The two fences order S3 and P2 one way or the other. If P2's fence comes
/// first, S4 reads the new `posted`, which differs from `seen` (unless S1 read
/// it already, and then S2, after it, found the work), and does not sleep. If
/// S3's comes first, P3 reads `sleepers >= 1` and P4 wakes: either the sleeper
/// is in the futex and is woken, or it has not compared yet and then sees the
/// new `posted`. `posted` would have to wrap all 2^32 values between S1 and S4
/// to deceive it. Checked by `sleep::checked` exhaustively, with each fence
/// removed as the broken variants.
pub struct EventCount<P: Platform> {
    posted: CachePadded<P::Futex>,
    sleepers: CachePadded<P::AtomicU32>,
}

impl<P: Platform> EventCount<P> {
    /// For a simulator's accounts.
    pub fn name(&self) {
        P::name(&self.posted, "pool: event count");
        P::name(&self.sleepers, "pool: sleepers");
    }

    #[expect(clippy::new_without_default, reason = "nobody asks for a default one")]
    pub fn new() -> Self {
        Self {
            posted: CachePadded::new(<P::Futex as Atomic<u32>>::new(0)),
            sleepers: CachePadded::new(P::AtomicU32::new(0)),
        }
    }

    /// The number of posts so far; read it before looking for work.
    ///
    /// Acquire pairs with [`post`](Self::post)'s release: who reads the new
    /// count finds the work that was published before it.
    #[inline]
    pub fn seen(&self) -> u32 {
        self.posted.load(Ordering::Acquire)
    }

    /// Spins until a post after `seen`, or until the clock passes `until`.
    #[inline]
    pub fn spin(&self, seen: u32, until: u64) -> bool {
        P::spin_while(&self.posted, seen, until) != seen
    }

    /// Announces work published before the call; returns how many threads
    /// are asleep. The caller decides whether to [`wake`](Self::wake) any.
    ///
    /// Cost: one locked instruction on a line the spinners share (one line
    /// transfer when there is a spinner, none when there is not), one read of
    /// a line that is written only when somebody sleeps or wakes.
    #[inline]
    pub fn post(&self) -> u32 {
        // Release publishes the work to those who read the count (`seen`).
        self.posted.fetch_add(1, Ordering::Release);
        // P2 before P3: see the type's argument.
        P::fence_after_rmw();
        // Relaxed: ordered by the fences on both sides, and carries no data.
        self.sleepers.load(Ordering::Relaxed)
    }

    /// Wakes up to `count` sleepers.
    pub fn wake(&self, count: u32) {
        self.posted.wake(count);
    }

    /// Sleeps unless something was posted after `seen`; may return for no
    /// reason.
    pub fn sleep(&self, seen: u32, timeout: Option<Duration>) {
        // Relaxed: the fence orders it before the futex's comparison (S3
        // before S4), and it publishes nothing.
        self.sleepers.fetch_add(1, Ordering::Relaxed);
        P::fence_after_rmw();
        self.posted.wait(seen, timeout);
        self.sleepers.fetch_sub(1, Ordering::Relaxed);
    }
}
