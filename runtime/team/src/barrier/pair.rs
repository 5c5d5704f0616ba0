use super::placement::Placement;
use super::waiting::Waiting;
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Futex, Ordering, Platform};

/// Set in the word while the member that arrived first sleeps or is about to sleep.
const ASLEEP: u32 = 1;
/// An arrival. Every second arrival carries into the episode number, in the bits above.
const ARRIVAL: u32 = 2;

/// One word, on one cache line. Each member adds to the word when the member arrives. The second addition opens the
/// next episode (the time until the next meeting), and the first member waits for this.
///
/// An episode costs two additions and one transfer of the line. The second member leaves at once,
/// with the line in its cache, so its next arrival costs no transfer. The first member looks at the
/// word by exchanges that change nothing ([`Waiting::own_while`]). The look that finds the second
/// addition also brings the line for that member's next arrival. Looks by loads would cost a second
/// transfer, as in a barrier with a count and a generation on one line. Two lines, each with one
/// writer and one reader (`DisseminationBarrier` in the crate `manycore-programs`), also cost two
/// transfers, and both members wait in every episode. With this barrier only one member waits.
///
/// These are the nanoseconds for an episode on two idle cores of an EPYC VM, with real-time
/// priority, as medians of 61 rounds of 5,000 episodes. This barrier: 109. Looks by loads: 167.
/// Count and generation on one line: 167. Two lines, with a store and a load each: 221. Count and
/// sense on a line each: 346.
///
/// # No wake-up is lost
///
/// The first member sets ASLEEP, and the futex lets it sleep only if the word has not changed
/// since. If the second member's addition comes before ASLEEP is set, the first member finds the
/// next episode in the word. If the addition comes after that, it returns ASLEEP, and the second
/// member clears the bit and then wakes the first member. All this is in one word, so no fence is
/// needed. A late second member may clear the ASLEEP of the next episode, and then makes a wake-up
/// call. A member that is woken without reason, or finds the word changed, sets the bit again
/// before it sleeps again.
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

    /// Waits until both members have arrived. Members need no state: any thread may be one.
    #[inline]
    pub(super) fn wait(&self) {
        // Release publishes this member's work. Acquire makes the other member's work visible, if
        // that member has arrived.
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
            // Acquire makes the other member's work visible, if that member has arrived.
            let before = self.word.fetch_or(ASLEEP, Ordering::Acquire);
            if episode(before) != during {
                // The bit stays set, so the next second arrival makes a needless system call. The
                // bit must stay, because by now the other member may have set it in order to sleep
                // in the next episode.
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
        // Relaxed: this publishes nothing, and the word's modification order orders the rest.
        self.word.fetch_and(!ASLEEP, Ordering::Relaxed);
        self.word.wake(1);
    }
}
