//! One worker's share of a loop's iterations: a range in one word, claimed
//! from below by its owner and halved from above by thieves.

use manycore_platform::{Atomic, AtomicInteger, Ordering, Platform};
use std::ops::Range;

/// The most iterations (or units of several) a shard can hold.
pub(crate) const MAX_UNITS: u64 = (1 << 31) - 1;

/// Set by the owner's first claim.
const OWNED: u64 = 1 << 63;
const END_SHIFT: u32 = 32;
const LOW: u64 = u32::MAX as u64;

/// The range `next..end` and whether its owner has come, in one 64-bit word:
/// bits 0..32 `next`, bits 32..63 `end`, bit 63 owned.
///
/// * The owner claims with one fetch-and-add on `next`. It always succeeds: no loop, no branch on
///   contention. While no thread steals, the line stays in the owner's cache.
/// * A thief takes the upper half (all of it, if the owner never came) by
///   compare-and-swap of the whole word. The word holds everything that the
///   decision rests on, so a word that returns to an old value is harmless.
/// * Only the owner stores, and only while the shard is empty, when every
///   thief's compare-and-swap fails or is not tried.
///
/// The owner never claims more than it last saw left (thieves only shrink
/// that), so `next` stays at or below the largest `end` the shard has had,
/// which is below 2^31: it cannot carry into `end`.
///
/// All orderings are relaxed: the word hands out iterations, it publishes no data. The gate has
/// published the data that iterations read, and its `leave` publishes their writes.
pub(crate) struct Shard<P: Platform> {
    word: P::AtomicU64,
}

/// The result of an owner's claim.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ShardClaim {
    pub(crate) units: Range<u64>,
    /// The number of units in the shard after it.
    pub(crate) left: u64,
}

impl<P: Platform> Shard<P> {
    pub(crate) fn new() -> Self {
        Self {
            word: P::AtomicU64::new(0),
        }
    }

    /// Fills the shard before the loop is posted; `owned` if its owner calls this.
    #[inline]
    pub(crate) fn fill(&self, units: Range<u64>, owned: bool) {
        debug_assert!(units.start <= units.end && units.end <= MAX_UNITS);
        let owned = if owned { OWNED } else { 0 };
        self.word.store(
            owned | units.end << END_SHIFT | units.start,
            Ordering::Relaxed,
        );
    }

    /// The owner refills its empty shard with what it stole.
    #[inline]
    pub(crate) fn refill(&self, units: Range<u64>) {
        self.fill(units, true);
    }

    /// The owner arrives: thieves leave it half from now on. Returns what is
    /// left.
    #[inline]
    pub(crate) fn own(&self) -> u64 {
        left(self.word.fetch_or(OWNED, Ordering::Relaxed)).0
    }

    /// The owner leaves before the end: thieves may take all. It may come again, and
    /// [`own`](Self::own) what is left. Returns how much it leaves.
    #[inline]
    pub(crate) fn disown(&self) -> u64 {
        left(self.word.fetch_and(!OWNED, Ordering::Relaxed)).0
    }

    /// Claims up to `count` units from below. Only the owner calls this, with
    /// a `count` between 1 and what its last claim, fill or [`own`](Self::own)
    /// left.
    ///
    /// Cost: one locked instruction on the owner's own line.
    #[inline]
    pub(crate) fn claim(&self, count: u64) -> Option<ShardClaim> {
        debug_assert!((1..=MAX_UNITS).contains(&count));
        let before = self.word.fetch_add(count, Ordering::Relaxed);
        let (next, end) = (before & LOW, (before & !OWNED) >> END_SHIFT);
        debug_assert!(next + count <= MAX_UNITS);
        if next >= end {
            return None;
        }
        let stop = end.min(next + count);
        Some(ShardClaim {
            units: next..stop,
            left: end - stop,
        })
    }

    /// Units left, as a hint, and whether the owner has come.
    #[inline]
    pub(crate) fn left(&self) -> (u64, bool) {
        left(self.word.load(Ordering::Relaxed))
    }

    /// Takes the upper half, rounded up; all of it if the owner never came.
    #[inline]
    pub(crate) fn steal(&self) -> Option<Range<u64>> {
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            let (next, end) = (word & LOW, (word & !OWNED) >> END_SHIFT);
            if next >= end {
                return None;
            }
            let take = if word & OWNED == 0 {
                end - next
            } else {
                (end - next).div_ceil(2)
            };
            let middle = end - take;
            let rest = word & OWNED | middle << END_SHIFT | next;
            match self
                .word
                .compare_exchange(word, rest, Ordering::Relaxed, Ordering::Relaxed)
            {
                Ok(_) => return Some(middle..end),
                Err(now) => word = now,
            }
        }
    }
}

#[inline]
fn left(word: u64) -> (u64, bool) {
    let (next, end) = (word & LOW, (word & !OWNED) >> END_SHIFT);
    (end.saturating_sub(next), word & OWNED != 0)
}
