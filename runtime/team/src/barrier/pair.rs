//! The barrier of two members.

use super::placement::Placement;
use super::waiting::Waiting;
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Futex, Ordering, Platform};

/// The bit of the word that says that the first member of the episode sleeps, or is about to.
const ASLEEP: u32 = 1;
/// One arrival in the word. The second arrival of an episode carries into the episode number, which
/// is in the bits above.
const ARRIVAL: u32 = 2;

/// One word, on one cache line. Each member adds to the word when it arrives. The second addition
/// opens the next episode. The member that arrived first waits for that.
///
/// An episode is two additions and one transfer of the line. The second member leaves at once, with
/// the line in its cache, so its next arrival costs no transfer. The first member looks at the word
/// by exchanges that change nothing ([`Waiting::own_while`]). The look that finds the second
/// addition also brings the line for the member's next arrival. With loads instead, an episode
/// costs two transfers, as in a barrier that has a count and a generation on one line. A barrier of
/// two lines, each with one writer and one reader (`DisseminationBarrier` in the crate
/// `manycore-programs`), costs two transfers too. Both of its members wait in every episode; here
/// only one member waits.
///
/// Nanoseconds an episode, on two idle cores of an EPYC VM with real-time priority, as medians of 61
/// rounds of 5,000 episodes: this barrier 109; with looks by loads 167; count and generation on one
/// line 167; two lines with a store and a load each 221; count and sense on a line each 346.
///
/// # No wake-up is lost
///
/// The first member sets ASLEEP. The futex lets that member sleep only if the word has not changed
/// since. The second member's addition comes before or after the setting of ASLEEP. If it comes
/// before, the first member finds the next episode in the word and does not sleep. If it comes
/// after, the addition returns ASLEEP, and the second member first clears the bit and then wakes
/// the first member. All this is in one word, so no fence is needed. A second member that clears
/// late may remove the ASLEEP of the next episode. Its wake-up follows that. A member that is woken
/// without reason, or that finds the word changed, sets the bit again before it sleeps again.
pub(super) struct Pair<P: Platform> {
    word: CachePadded<P::Futex>,
    waiting: Waiting<P>,
}

/// The number of the episode in `word`.
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

    /// Waits until both members have arrived. Members need no state: any thread may arrive as one.
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
        // The other member's addition changes the word. A late clearing of ASLEEP changes it too.
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
                // The bit stays set, so the next second arrival makes a needless system call. This
                // member must not clear it: the other member may have set it to sleep in the next
                // episode.
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
        // Relaxed: the clearing publishes nothing, and the word's modification order orders the
        // rest.
        self.word.fetch_and(!ASLEEP, Ordering::Relaxed);
        self.word.wake(1);
    }
}
