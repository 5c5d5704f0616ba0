//! Says which participants of a sharded loop still hold iterations, so that nobody has to look into
//! the shard of each other participant to see that the loop is over.
//!
//! A loop on 64 threads used to write 64 shards before it was posted, and each of the 64 read the
//! others' at its end: 64 transfers in a row that no work hides. Now there is a word for 32
//! participants, and each participant changes it twice: when it begins its share, and when it has
//! claimed the last of its iterations.

use manycore_platform::{Atomic, AtomicInteger, CachePadded, Ordering, Platform};
use std::ops::Range;

/// Participants in a word.
const RANKS: usize = 32;

/// Two bits a participant: whether it holds iterations (the lower half of a word), and whether
/// these are its whole share, in no shard yet (the upper half).
///
/// | whole | holds | |
/// |---|---|---|
/// | 1 | 1 | its share, which nobody has begun |
/// | 0 | 1 | what is in its shard, if anything |
/// | 0 | 0 | nothing |
///
/// A share is begun once: by its owner, which clears `whole`, or by a thief, which clears both
/// bits. Each is one read-modify-write of the word, so only one of them finds `whole` set.
/// Thereafter `holds` is its owner's alone to change. It may lag behind the shard; then a thief
/// looks in vain, or leaves early, and iterations that it did not see are run by who has them.
pub(super) struct Holders<P: Platform>(Box<[CachePadded<P::AtomicU64>]>);

/// What a participant holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holding {
    /// Its whole share, which nobody has begun.
    Share,
    /// What its shard says.
    Shard,
    Nothing,
}

/// The bit that says that `rank` holds something, in its word.
#[inline]
fn holds(rank: usize) -> u64 {
    1 << (rank % RANKS)
}

/// The bit that says that this is its whole share.
#[inline]
fn whole(rank: usize) -> u64 {
    1 << (RANKS + rank % RANKS)
}

impl<P: Platform> Holders<P> {
    pub(super) fn new(threads: usize) -> Self {
        let word = || {
            let word = CachePadded::new(P::AtomicU64::new(0));
            P::name(&*word, "loop: who holds iterations");
            word
        };
        Self((0..threads.div_ceil(RANKS)).map(|_| word()).collect())
    }

    /// Begins to fetch the word of `rank`.
    #[inline]
    pub(super) fn prefetch(&self, rank: usize) {
        P::prefetch_write(std::ptr::from_ref(self.word(rank)).cast());
    }

    #[inline]
    fn word(&self, rank: usize) -> &P::AtomicU64 {
        &self.0[rank / RANKS]
    }

    /// Before the loop is posted: each of the ranks below `allowed` has its share, and the
    /// `caller` has begun its own.
    ///
    /// Cost: a store to the line of each 32 threads.
    #[inline]
    pub(super) fn fill(&self, allowed: usize, caller: usize) {
        for (number, word) in self.0.iter().enumerate() {
            let ranks = allowed.saturating_sub(number * RANKS).min(RANKS);
            let mut bits = (1_u64 << ranks) - 1;
            bits |= bits << RANKS;
            if caller / RANKS == number {
                bits = (bits | holds(caller)) & !whole(caller);
            }
            // Relaxed: the gate publishes it.
            word.store(bits, Ordering::Relaxed);
        }
    }

    #[inline]
    pub(super) fn of(&self, rank: usize) -> Holding {
        // Acquire: a shard that is in use is read next, also by its owner, which may be another
        // thread with the same permit.
        holding(self.word(rank).load(Ordering::Acquire), rank)
    }

    /// The owner begins its share, which it has put into its shard; `false`: somebody else has.
    ///
    /// Cost: one locked instruction on a line that the participants share.
    #[inline]
    pub(super) fn begin(&self, rank: usize) -> bool {
        // Release pairs with the acquire in `first_in`: who sees that the shard is in use sees what
        // is in it, and not what an earlier loop has left there.
        let before = (self.word(rank)).fetch_and(!whole(rank), Ordering::Release);
        before & whole(rank) != 0
    }

    /// A thief begins the share of `victim`; `false`: somebody else has.
    pub(super) fn take(&self, victim: usize) -> bool {
        let word = self.word(victim);
        let mut before = word.load(Ordering::Relaxed);
        while before & whole(victim) != 0 {
            let after = before & !whole(victim) & !holds(victim);
            // Relaxed: the share is known to all, nothing is published.
            match word.compare_exchange(before, after, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now) => before = now,
            }
        }
        false
    }

    /// The owner has claimed the last of its shard.
    ///
    /// Cost: as [`begin`](Self::begin).
    #[inline]
    pub(super) fn emptied(&self, rank: usize) {
        // Relaxed: who still looks finds the shard empty.
        self.word(rank).fetch_and(!holds(rank), Ordering::Relaxed);
    }

    /// The owner has filled its shard again.
    #[inline]
    pub(super) fn refilled(&self, rank: usize) {
        // Release: as in `begin`.
        self.word(rank).fetch_or(holds(rank), Ordering::Release);
    }

    /// The first of `ranks` that holds something now, as a hint, and whether this is a share that
    /// nobody has begun.
    #[inline]
    pub(super) fn first_in(&self, ranks: Range<usize>) -> Option<(usize, Holding)> {
        let mut from = ranks.start;
        while from < ranks.end {
            let base = from / RANKS * RANKS;
            // Acquire pairs with the releases in `begin` and `refilled`.
            let bits = self.word(from).load(Ordering::Acquire);
            let later = (bits as u32) >> (from - base) << (from - base);
            if later != 0 {
                let rank = base + later.trailing_zeros() as usize;
                return (rank < ranks.end).then(|| (rank, holding(bits, rank)));
            }
            from = base + RANKS;
        }
        None
    }
}

#[inline]
fn holding(bits: u64, rank: usize) -> Holding {
    match (bits & whole(rank) != 0, bits & holds(rank) != 0) {
        (true, _) => Holding::Share,
        (false, true) => Holding::Shard,
        (false, false) => Holding::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use manycore_platform::Native;

    #[test]
    fn holders_are_found_in_order_and_across_words() {
        let holders = Holders::<Native>::new(70);
        holders.fill(66, 68);
        let mut found = Vec::new();
        let mut from = 30;
        while let Some((rank, holding)) = holders.first_in(from..70) {
            found.push((rank, holding == Holding::Share));
            from = rank + 1;
        }
        let mut expected: Vec<_> = (30..66).map(|rank| (rank, true)).collect();
        expected.push((68, false));
        assert_eq!(found, expected);
        assert_eq!(holders.first_in(0..0), None);
        assert_eq!(holders.first_in(66..68), None);
    }

    #[test]
    fn a_share_is_begun_once() {
        let holders = Holders::<Native>::new(3);
        holders.fill(3, 0);
        assert!(holders.begin(1) && !holders.take(1) && !holders.begin(1));
        assert!(holders.take(2) && !holders.begin(2) && !holders.take(2));
        let held = [0, 1, 2].map(|rank| holders.of(rank));
        assert_eq!(held, [Holding::Shard, Holding::Shard, Holding::Nothing]);
        holders.emptied(1);
        holders.refilled(2);
        let held = [0, 1, 2].map(|rank| holders.of(rank));
        assert_eq!(held, [Holding::Shard, Holding::Nothing, Holding::Shard]);
    }
}
