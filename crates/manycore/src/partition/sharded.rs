//! `sharded`: each thread owns a range of the iterations, claims blocks from
//! it, and takes half of another's when it is empty.
//!
//! The price of a claim is one locked instruction on a line that only its
//! owner writes, a few ns without a transfer; so the block size hardly
//! matters, and blocks can be small enough to end the loop evenly. Lines move
//! only for a steal: the victim's word to the thief and back.

use super::shard::{MAX_UNITS, Shard};
use super::r#static::share_of;
use super::{Claims, Partition};
use manycore_platform::{CachePadded, Platform};
use std::num::NonZeroUsize;
use std::ops::Range;

/// The claim words of one loop, a line (pair) each: pool memory, reused.
pub(crate) struct Shards<P: Platform>(Box<[CachePadded<Shard<P>>]>);

impl<P: Platform> Shards<P> {
    pub(crate) fn new(count: usize) -> Self {
        Self((0..count).map(|_| CachePadded::new(Shard::new())).collect())
    }

    /// Begins to fetch the word of `rank`.
    #[inline]
    pub(crate) fn prefetch(&self, rank: usize) {
        P::prefetch_write(std::ptr::from_ref(&self.0[rank]).cast());
    }
}

/// The iterations `0..n` in the shards of a pool's threads.
///
/// A shard counts to 2^31 - 1; longer loops are handed out in units of several
/// iterations, no more than 3 up to n = 2^32.
pub(crate) struct Ranges<'a, P: Platform> {
    shards: &'a [CachePadded<Shard<P>>],
    n: usize,
    unit: u64,
}

impl<'a, P: Platform> Ranges<'a, P> {
    /// Fills the shards of the ranks below `allowed`, and that of the `caller`, the
    /// rank of the thread that does; who is allowed later steals.
    pub(crate) fn new(shards: &'a Shards<P>, n: usize, caller: usize, allowed: usize) -> Self {
        let unit = (n as u64).div_ceil(MAX_UNITS).max(1);
        let units = (n as u64).div_ceil(unit) as usize;
        let shares = allowed + usize::from(caller >= allowed);
        for (rank, shard) in shards.0.iter().enumerate() {
            let index = if rank == caller {
                rank.min(allowed)
            } else {
                rank
            };
            if index < allowed || rank == caller {
                let share = share_of(units, shares, index);
                shard.fill(share.start as u64..share.end as u64, rank == caller);
            } else if !shard.is_empty() {
                // Left by a loop that a panic has ended.
                shard.fill(0..0, false);
            }
        }
        Self {
            shards: &shards.0,
            n,
            unit,
        }
    }

    /// Participant `rank`'s own range.
    pub(crate) fn own(&self, rank: usize) -> OwnRange<'_, P> {
        OwnRange {
            ranges: self,
            rank,
            left: self.shards[rank].own(),
        }
    }
}

/// One participant's own range, and its way to those of others.
pub(crate) struct OwnRange<'a, P: Platform> {
    ranges: &'a Ranges<'a, P>,
    rank: usize,
    /// Units left in the own shard when last seen; thieves may have taken
    /// some since, never added any.
    left: u64,
}

/// How long to let others finish a remainder before it is stolen all the same.
const PATIENCE: u32 = 32;

impl<P: Platform> OwnRange<'_, P> {
    /// Iterations left in the own range when last seen.
    #[inline]
    pub(crate) fn left(&self) -> usize {
        (self.left * self.ranges.unit) as usize
    }

    /// Claims about `count` iterations of the own range.
    #[inline]
    pub(crate) fn claim(&mut self, count: usize) -> Option<Range<usize>> {
        if self.left == 0 {
            return None;
        }
        let units = (count as u64 / self.ranges.unit).clamp(1, self.left);
        match self.ranges.shards[self.rank].claim(units) {
            Some(claim) => {
                self.left = claim.left;
                Some(self.iterations(&claim.units))
            }
            None => {
                self.left = 0;
                None
            }
        }
    }

    /// Moves half of another's range into the empty own one, the next
    /// neighbour's first; `false` when nobody has anything left.
    ///
    /// A victim with no more than `small` iterations left will be done with
    /// them before a thief has fetched half. It is left alone for a moment,
    /// and stolen from if they are still there then: its owner may be held up
    /// in a long iteration.
    pub(crate) fn steal(&mut self, small: usize) -> bool {
        let shards = self.ranges.shards;
        // A range on its way from a victim's shard into a thief's is in
        // neither, so one empty sweep does not mean that all is claimed.
        // With two shards nothing can be on its way but to this thread.
        let sweeps = if shards.len() > 2 { 2 } else { 1 };
        let mut empty_sweeps = 0;
        for patience in (0..=PATIENCE).rev() {
            let mut seen = false;
            for victim in (1..shards.len()).map(|i| (self.rank + i) % shards.len()) {
                let (left, owned) = shards[victim].left();
                if left == 0 {
                    continue;
                }
                seen = true;
                if patience > 0 && owned && left * self.ranges.unit <= small as u64 {
                    continue;
                }
                if let Some(units) = shards[victim].steal() {
                    self.left = units.end - units.start;
                    shards[self.rank].refill(units);
                    return true;
                }
            }
            if !seen {
                empty_sweeps += 1;
                if empty_sweeps == sweeps {
                    return false;
                }
            }
            P::relax();
        }
        false
    }

    /// Leaves the own range to the others; whether there is something in it.
    pub(crate) fn abandon(self) -> bool {
        self.ranges.shards[self.rank].disown() > 0
    }

    fn iterations(&self, units: &Range<u64>) -> Range<usize> {
        let unit = self.ranges.unit;
        let end = (u128::from(units.end) * u128::from(unit)).min(self.ranges.n as u128);
        (units.start * unit) as usize..end as usize
    }
}

/// `sharded` with a given block.
pub(crate) struct Sharded<'a, P: Platform> {
    pub(crate) ranges: Ranges<'a, P>,
    pub(crate) block: NonZeroUsize,
}

pub(crate) struct ShardedClaims<'a, P: Platform> {
    own: OwnRange<'a, P>,
    block: usize,
}

impl<P: Platform> Partition for Sharded<'_, P> {
    type Claims<'a>
        = ShardedClaims<'a, P>
    where
        Self: 'a;

    fn claims(&self, rank: usize) -> ShardedClaims<'_, P> {
        ShardedClaims {
            own: self.ranges.own(rank),
            block: self.block.get(),
        }
    }
}

impl<P: Platform> Claims for ShardedClaims<'_, P> {
    fn next(&mut self) -> Option<Range<usize>> {
        loop {
            if let Some(block) = self.own.claim(self.block) {
                return Some(block);
            }
            if !self.own.steal(0) {
                return None;
            }
        }
    }

    fn abandon(self) -> bool {
        self.own.abandon()
    }
}
