//! A shard: one worker's share of a loop's iterations, as a range in one word. The owner claims from the lower end, and
//! thieves take the upper half.

use manycore_platform::{Atomic, AtomicInteger, Ordering, Platform};
use std::ops::Range;

/// The most iterations, or units of several iterations, that a shard can hold.
pub(crate) const MAX_UNITS: u64 = (1 << 31) - 1;

/// Set while the owner takes part in the loop.
const OWNED: u64 = 1 << 63;
const END_SHIFT: u32 = 32;
const LOW: u64 = u32::MAX as u64;

/// The range `next..end` and whether its owner takes part, in one 64-bit word. Bits 0..32 are `next`, bits 32..63
/// are `end`, and bit 63 is `OWNED`.
///
/// * The owner claims with one fetch-and-add on `next`, which always succeeds. So there is no loop, and no branch on
///   contention. While no thread steals, the line stays in the owner's cache.
/// * A thief takes the upper half by a compare-and-swap of the whole word. If the owner does not take part, the thief
///   takes all. The thief computes its part from the word alone, so a word that returns to an old value does no harm.
/// * Only the owner stores, and only while the shard is empty or no thief reads it (`Begun`). Then a thief's
///   compare-and-swap fails, or the thief does not try.
///
/// The owner never claims more units than it last saw left, and thieves only reduce the number of units left. So
/// `next` never exceeds the largest `end` that the shard has had. That is below 2^31, so `next` cannot carry into
/// `end`.
///
/// All orderings are relaxed, since the word hands out iterations and publishes no data. The gate of the loop
/// (`pool/gate.rs`) has published the data that iterations read, and its `leave` publishes the data that they write.
pub(crate) struct Shard<P: Platform> {
    word: P::AtomicU64,
}

/// The result of an owner's claim.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ShardClaim {
    pub(crate) units: Range<u64>,
    /// The number of units in the shard after the claim.
    pub(crate) left: u64,
}

impl<P: Platform> Shard<P> {
    pub(crate) fn new() -> Self {
        Self {
            word: P::AtomicU64::new(0),
        }
    }

    /// Fills the shard, which is empty, or which no thief reads yet. `owned` says whether the owner takes part
    /// already.
    #[inline]
    pub(crate) fn fill(&self, units: Range<u64>, owned: bool) {
        debug_assert!(units.start <= units.end && units.end <= MAX_UNITS);
        let owned = if owned { OWNED } else { 0 };
        self.word.store(
            owned | units.end << END_SHIFT | units.start,
            Ordering::Relaxed,
        );
    }

    /// The owner calls this to refill its empty shard with units that it stole.
    #[inline]
    pub(crate) fn refill(&self, units: Range<u64>) {
        self.fill(units, true);
    }

    /// The owner calls this when it joins the loop. From then on, thieves leave half of the units to the owner.
    /// Returns the number of units left.
    #[inline]
    pub(crate) fn own(&self) -> u64 {
        left(self.word.fetch_or(OWNED, Ordering::Relaxed)).0
    }

    /// The owner calls this when it leaves before the end. From then on, thieves may take all units. The owner may
    /// join again and call [`own`](Self::own). Returns the number of units left.
    #[inline]
    pub(crate) fn disown(&self) -> u64 {
        left(self.word.fetch_and(!OWNED, Ordering::Relaxed)).0
    }

    /// Claims up to `count` units from the lower end. Only the owner calls this. `count` is at least 1, and at most
    /// the number of units left after the owner's last claim, fill or [`own`](Self::own).
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

    /// Returns the number of units left, as a hint, and whether the owner takes part.
    #[inline]
    pub(crate) fn left(&self) -> (u64, bool) {
        left(self.word.load(Ordering::Relaxed))
    }

    /// Takes the upper half, rounded up, or all units if the owner does not take part.
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
