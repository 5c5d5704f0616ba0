//! The barrier of two.

use super::placement::Placement;
use super::waiting::Waiting;
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Futex, Ordering, Platform};

/// In the word: the member that has arrived sleeps, or is about to.
const ASLEEP: u32 = 1;
/// In the word: one has come. One more carries into the number of the episode above.
const ARRIVAL: u32 = 2;

/// One word, on one line. Each member adds to it when it arrives. The second addition opens the
/// next episode, which the first member awaits.
///
/// An episode is two additions and one transfer of the line. The second member leaves at once, with
/// the line in its cache, so its next arrival costs no transfer. The first member looks by
/// exchanges that change nothing ([`Waiting::own_while`]): the look that finds the second addition
/// has also brought the line for the next arrival. With loads it would be two transfers, as in a
/// barrier with a count and a generation on one line. With two lines, each with one writer and one
/// reader (`DisseminationBarrier` in the crate `manycore-programs`), it is two transfers, and both
/// members wait in every episode, where here one waits.
///
/// Measured alone, two cores of an EPYC VM, real-time priority, medians of 61 rounds of 5,000
/// episodes, ns: this 109; looks by loads 167; count and generation on one line 167; two lines, a
/// store and a load each, 221; count and sense on a line each 346.
///
/// # No wake-up is lost
///
/// The first member sets ASLEEP, and the futex puts it to bed only if the word is still what that
/// made of it. The second's addition comes before, and then the word shows the next episode;
/// or it comes after, and returns ASLEEP: then the second clears that and wakes, in this order.
/// All is one word, so there is nothing to fence. A second that is slow to clear may take away the
/// ASLEEP of the next episode: its wake-up follows, and a member that is woken for nothing, or finds the word
/// changed, sets the bit again before it sleeps again.
pub(super) struct Pair<P: Platform> {
    word: CachePadded<P::Futex>,
    waiting: Waiting<P>,
}

/// The number of the episode.
fn episode(word: u32) -> u32 {
    word / (2 * ARRIVAL)
}

impl<P: Platform> Pair<P> {
    pub(super) fn new(placement: &Placement) -> Self {
        Self {
            word: CachePadded::new(<P::Futex as Atomic<u32>>::new(0)),
            waiting: Waiting::new(placement),
        }
    }

    /// Waits until both have arrived. Members keep nothing: whoever comes is one.
    #[inline]
    pub(super) fn wait(&self) {
        // Release: this member's work. Acquire: the other member's work, if it has arrived.
        let before = self.word.fetch_add(ARRIVAL, Ordering::AcqRel);
        if before & ARRIVAL == 0 {
            self.wait_for_other(before.wrapping_add(ARRIVAL));
        } else if before & ASLEEP != 0 {
            self.wake();
        }
    }

    #[inline]
    fn wait_for_other(&self, arrived: u32) {
        // The other member's addition changes the word, and so does a late clearing of ASLEEP.
        let seen = self.waiting.own_while(&self.word, arrived);
        if episode(seen) == episode(arrived) {
            self.wait_long(seen);
        }
    }

    #[cold]
    #[inline(never)]
    fn wait_long(&self, seen: u32) {
        let now = self.waiting.stay_awake_while(&self.word, seen);
        if episode(now) == episode(seen) {
            self.sleep(episode(seen));
        }
    }

    fn sleep(&self, during: u32) {
        loop {
            // Acquire: the other member's work, if it has arrived.
            let before = self.word.fetch_or(ASLEEP, Ordering::Acquire);
            if episode(before) != during {
                // The bit stays set, and costs the next second arrival a wake-up call in vain. It
                // must stay: by now the other member may have set it, to sleep in the next episode.
                return;
            }
            self.word.wait(before | ASLEEP, None);
            // Acquire: as above.
            if episode(self.word.load(Ordering::Acquire)) != during {
                return;
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn wake(&self) {
        // Relaxed: it publishes nothing, and the word's modification order orders the rest.
        self.word.fetch_and(!ASLEEP, Ordering::Relaxed);
        self.word.wake(1);
    }
}
