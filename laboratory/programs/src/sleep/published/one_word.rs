//! All three counters in one word. A post reads all of them at once. One step checks that the JEC (jobs event counter)
//! has not changed, and counts a sleeper.

use super::counters::{Counters, Line, Seen, is_sleepy};
use manycore_platform::{Atomic, AtomicInteger, Ordering::SeqCst, Platform};

/// Bits of a count of threads; a pool has fewer than 2^16.
const BITS: u32 = 16;
const COUNT: u64 = (1 << BITS) - 1;

const ONE_SLEEPING: u64 = 1;
const ONE_INACTIVE: u64 = 1 << BITS;
/// The JEC is in the top bits, where it wraps without touching the other counters.
const ONE_EVENT: u64 = 1 << (2 * BITS);

/// The word has, from the lowest bit: sleeping, inactive, JEC.
pub struct OneWord<P: Platform, L: Line> {
    pub(super) word: L::Of<P::AtomicU64>,
}

#[inline(always)]
fn sleeping(word: u64) -> u32 {
    (word & COUNT) as u32
}

#[inline(always)]
fn inactive(word: u64) -> u32 {
    (word >> BITS & COUNT) as u32
}

#[inline(always)]
pub(super) fn jec(word: u64) -> u32 {
    (word >> (2 * BITS)) as u32
}

impl<P: Platform, L: Line> OneWord<P, L> {
    /// Counts an event if `wanted` accepts the JEC. Returns the new word.
    #[inline(always)]
    fn event_if(&self, wanted: impl Fn(u32) -> bool) -> u64 {
        let word = self.word.load(SeqCst);
        if wanted(jec(word)) {
            self.event(word, wanted)
        } else {
            word
        }
    }

    #[cold]
    fn event(&self, mut word: u64, wanted: impl Fn(u32) -> bool) -> u64 {
        while wanted(jec(word)) {
            let next = word.wrapping_add(ONE_EVENT);
            match self.word.compare_exchange(word, next, SeqCst, SeqCst) {
                Ok(_) => return next,
                Err(now) => word = now,
            }
        }
        word
    }
}

impl<P: Platform, L: Line> Counters<P> for OneWord<P, L> {
    fn new() -> Self {
        Self {
            word: P::AtomicU64::new(0).into(),
        }
    }

    fn name(&self) {
        P::name(&*self.word, "sleep: packed word");
    }

    fn enter(&self) {
        self.word.fetch_add(ONE_INACTIVE, SeqCst);
    }

    fn leave(&self) -> u32 {
        sleeping(self.word.fetch_sub(ONE_INACTIVE, SeqCst))
    }

    fn announce(&self) -> u32 {
        jec(self.event_if(|jec| !is_sleepy(jec)))
    }

    fn lie_down(&self, announced: u32) -> bool {
        let mut word = self.word.load(SeqCst);
        while jec(word) == announced {
            let next = word + ONE_SLEEPING;
            match self.word.compare_exchange(word, next, SeqCst, SeqCst) {
                Ok(_) => return true,
                Err(now) => word = now,
            }
        }
        false
    }

    fn get_up(&self) {
        self.word.fetch_sub(ONE_SLEEPING, SeqCst);
    }

    fn sleeping(&self) -> u32 {
        sleeping(self.word.load(SeqCst))
    }

    #[inline(always)]
    fn post(&self) -> Seen {
        let word = self.event_if(is_sleepy);
        Seen {
            sleeping: sleeping(word),
            inactive: inactive(word),
        }
    }

    fn inactive(&self, seen: Seen) -> Option<u32> {
        Some(seen.inactive)
    }
}
