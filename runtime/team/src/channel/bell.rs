//! How threads that wait in their sleep are woken by threads that do not look for
//! sleepers.

use manycore_platform::{Atomic, AtomicInteger, Futex, Ordering, Platform};
use std::time::Duration;

/// How long a thread spins before it sleeps: about what falling asleep and being woken
/// costs.
const SPIN: Duration = Duration::from_micros(20);

/// Set while a thread may be asleep.
const AWAITED: u32 = 1;

/// A word that is odd while a thread may sleep on it, and counts its rings in twos.
///
/// The side that rings: R1 publishes what is waited for; R2 light fence; R3 reads the word; if it is
/// odd, makes it even by compare-and-swap, and wakes all. The side that sleeps: S1 makes the
/// word odd; S2 heavy fence; S3 looks once more; S4 sleeps while the word is as it
/// left it.
///
/// *No wake-up is lost.* Either R2 or S2 comes first. If R2 does, S3 finds what was published. If
/// S2 does, R3 reads what S1 left or something later. If that is odd, R makes it even, or another
/// ringer just did; if it is even, a ringer has made it so since S1. The ringer that did wakes all
/// sleepers afterwards. The word does not return to what S1 left (except after 2^31 rings, while S
/// is held up between S1 and S4). The futex compares and falls asleep in one step, so S is woken,
/// or does not fall asleep.
///
/// A bell rings once for each time that a thread lies down: a sender of a thousand
/// messages makes one system call while a sleeper gets up.
pub(super) struct Bell<P: Platform> {
    word: P::Futex,
}

impl<P: Platform> Bell<P> {
    pub(super) fn new() -> Self {
        Self {
            word: <P::Futex as Atomic<u32>>::new(0),
        }
    }

    /// The awaited change has been published.
    #[inline(always)]
    pub(super) fn ring(&self) {
        P::light_fence();
        // Relaxed: the fence orders it after what was published.
        if self.word.load(Ordering::Relaxed) & AWAITED != 0 {
            self.wake();
        }
    }

    #[cold]
    #[inline(never)]
    fn wake(&self) {
        let mut word = self.word.load(Ordering::Relaxed);
        while word & AWAITED != 0 {
            // Relaxed, as everywhere here: a thread that wakes up checks its condition anew, and
            // fences before it sleeps again.
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

    /// Sleeps until the bell rings if `look` finds nothing; may return spuriously.
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

/// Waits for what `look` finds: spinning for a while, then asleep.
pub(super) fn wait_for<P: Platform, T>(bell: &Bell<P>, mut look: impl FnMut() -> Option<T>) -> T {
    loop {
        let until = P::now() + P::duration_to_ticks(SPIN);
        loop {
            if let Some(found) = look() {
                return found;
            }
            if P::now() >= until {
                break;
            }
            P::relax();
        }
        if let Some(found) = bell.sleep_unless(&mut look) {
            return found;
        }
    }
}
