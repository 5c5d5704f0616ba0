//! A bell: threads that wait for a change sleep at it, and the thread that makes the change wakes them. If no thread
//! sleeps, this thread only reads a word.

use manycore_platform::{Atomic, AtomicInteger, Futex, Ordering, Platform};
use std::time::Duration;

/// How long a thread spins before it sleeps: about the time of falling asleep and waking up.
const SPIN: Duration = Duration::from_micros(20);

/// Set while a thread sleeps or is about to sleep.
const AWAITED: u32 = 1;

/// A word that is odd while a thread may sleep on it. Ringing the bell adds one to an odd word.
///
/// The thread that rings takes these steps. R1 publishes the change. R2 executes a light fence. R3 reads the word and,
/// if the word is odd, makes it even by compare-and-swap and wakes all sleepers. The thread that sleeps takes these
/// steps. S1 makes the word odd. S2 executes a heavy fence. S3 looks for the change once more. S4 sleeps while the word
/// is as S1 left it.
///
/// *No wake-up is lost.* If R2 comes before S2, S3 finds the change. If S2 comes before R2, R3
/// reads the word that S1 left or a later value. If that word is odd, this ringer makes it even, or
/// another ringer has just done so. If it is even, a ringer has made it even since S1. The ringer
/// that made it even wakes all sleepers afterwards. The word does not return to the value that S1
/// left (except after 2^31 rings while the sleeper is held up between S1 and S4). The futex
/// compares and falls asleep in one step. So the sleeper is woken, or does not fall asleep.
///
/// A ring makes a system call only if a thread has gone to sleep since the last ring that made one. So a thread that
/// sends a thousand messages while one sleeper wakes up makes one system call.
pub(super) struct Bell<P: Platform> {
    word: P::Futex,
}

impl<P: Platform> Bell<P> {
    pub(super) fn new() -> Self {
        Self {
            word: <P::Futex as Atomic<u32>>::new(0),
        }
    }

    /// Wakes the threads that wait for a change, which the caller has published.
    #[inline(always)]
    pub(super) fn ring(&self) {
        P::light_fence();
        // Relaxed: the fence orders this load after the published change.
        if self.word.load(Ordering::Relaxed) & AWAITED != 0 {
            self.wake();
        }
    }

    #[cold]
    #[inline(never)]
    fn wake(&self) {
        let mut word = self.word.load(Ordering::Relaxed);
        while word & AWAITED != 0 {
            // Relaxed, as all accesses in this file: a thread that wakes up checks its condition
            // again, and executes a fence before it sleeps again.
            let rung = word.wrapping_add(AWAITED);
            match (self.word).compare_exchange(word, rung, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => {
                    self.word.wake(u32::MAX);
                    return;
                }
                Err(now) => word = now,
            }
        }
    }

    /// If `look` finds nothing, sleeps until the bell rings. May return before that, with `None`.
    pub(super) fn sleep_unless<T>(&self, look: impl FnOnce() -> Option<T>) -> Option<T> {
        let left = self.word.fetch_or(AWAITED, Ordering::Relaxed) | AWAITED;
        P::heavy_fence();
        let found = look();
        if found.is_none() {
            self.word.wait(left, None);
        }
        found
    }
}

/// Waits until `look` finds something: spins for a while, then sleeps.
pub(super) fn wait_for<P: Platform, T>(bell: &Bell<P>, mut look: impl FnMut() -> Option<T>) -> T {
    loop {
        let began = P::now();
        let until = began + P::duration_to_ticks(SPIN);
        loop {
            if let Some(found) = look() {
                return found;
            }
            let now = P::now();
            // A clock that jumps back (see `Platform::now`) ends the spinning.
            if now >= until || now < began {
                break;
            }
            P::relax();
        }
        if let Some(found) = bell.sleep_unless(&mut look) {
            return found;
        }
    }
}
