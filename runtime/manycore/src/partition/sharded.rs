//! `sharded`: each thread owns a range of the iterations, claims blocks from
//! it, and takes half of another's when it is empty.
//!
//! The price of a claim is one locked instruction on a line that only its
//! owner writes, a few ns without a transfer; so the block size hardly
//! matters, and blocks can be small enough to end the loop evenly. Lines move
//! for a steal (the victim's word to the thief and back), and twice for each participant: when it
//! begins its share, and when it has claimed the last of it (`holders`).

use super::holders::{Holders, HoldersWord, Holding};
use super::shard::{MAX_UNITS, Shard};
use super::{Claims, Partition};
use crate::clusters::{Clusters, Invited, MOST, Member};
use manycore_platform::{CachePadded, Platform};
use std::num::NonZeroUsize;
use std::ops::Range;

/// The words of one loop: pool memory, reused.
pub(crate) struct Shards<'a, P: Platform> {
    /// The claim words, a line (pair) each.
    words: Box<[CachePadded<Shard<P>>]>,
    holders: Holders<'a, P>,
}

impl<'a, P: Platform> Shards<'a, P> {
    /// For all permits in `clusters`. Each of the `elements`, one for each cluster, contains a word
    /// that says which members hold iterations: `word` finds it.
    pub(crate) fn new<T>(
        clusters: &Clusters,
        elements: &'a [T],
        word: impl Fn(&T) -> &HoldersWord<P>,
    ) -> Self {
        debug_assert_eq!(elements.len(), clusters.count());
        let shards = (0..clusters.permits()).map(|_| CachePadded::new(Shard::new()));
        Self {
            words: shards.collect(),
            holders: Holders::new(elements, word),
        }
    }
}

/// The iterations `0..n` in the shards of a pool's threads.
///
/// A shard counts to 2^31 - 1; longer loops are handed out in units of several
/// iterations, no more than 3 up to n = 2^32.
///
/// It is part of what all participants read first, and so it is small.
pub(crate) struct Ranges<'a, P: Platform> {
    words: &'a Shards<'a, P>,
    clusters: &'a Clusters,
    n: usize,
    unit: u64,
    /// The clusters that have shares.
    invited: Invited,
    /// The ranks in these clusters that are below this have shares.
    allowed: u32,
    /// The number of these shares. The caller's is one more if its rank is not below.
    shares: u32,
    /// The thread that posts the loop, which has one too.
    caller: u32,
}

impl<'a, P: Platform> Ranges<'a, P> {
    /// Gives a share to each of the ranks below `allowed` in the clusters `invited`, and to
    /// `caller`, the calling thread's rank, which is in one of them; a thread that is allowed later
    /// steals.
    pub(crate) fn new(
        shards: &'a Shards<'a, P>,
        clusters: &'a Clusters,
        n: usize,
        caller: usize,
        allowed: usize,
        invited: Invited,
    ) -> Self {
        let ranges = Self {
            words: shards,
            clusters,
            n,
            unit: (n as u64).div_ceil(MAX_UNITS).max(1),
            invited,
            allowed: allowed as u32,
            shares: clusters.allowed(invited.clusters(), allowed) as u32,
            caller: caller as u32,
        };
        // Fewer units than shares: the first have one each.
        let mut left = ranges.units();
        for cluster in invited.clusters() {
            let shares = clusters.allowed(cluster..cluster + 1, allowed).min(left);
            left -= shares;
            shards.holders.fill(cluster, shares, clusters.of(caller));
        }
        shards.holders.fill_clusters(invited.clusters());
        shards.words[caller].fill(ranges.share(caller), true);
        ranges
    }

    /// The clusters `more` take part as well; they have no shares, and steal.
    pub(crate) fn admit(&self, more: Invited) {
        for cluster in more.clusters() {
            let caller = self.clusters.of(self.caller as usize);
            self.words.holders.fill(cluster, 0, caller);
        }
    }

    fn units(&self) -> usize {
        (self.n as u64).div_ceil(self.unit) as usize
    }

    /// The units that `rank` has at first: neighbours' are next to one another.
    fn share(&self, rank: usize) -> Range<u64> {
        let units = self.units();
        let (allowed, shares) = (self.allowed as usize, self.shares as usize);
        let all = shares + usize::from(self.caller >= self.allowed);
        let index = if rank < allowed {
            let member = self.clusters.of(rank);
            let before = self.invited.clusters().start..member.cluster as usize;
            self.clusters.allowed(before, allowed) + member.number as usize
        } else {
            // The caller's is the last.
            shares
        };
        let share = share_of(units, all, index);
        share.start as u64..share.end as u64
    }

    /// Participant `rank`'s own range.
    #[inline]
    pub(crate) fn own(&self, rank: usize) -> OwnRange<'_, P> {
        let (shard, member) = (&*self.words.words[rank], self.clusters.of(rank));
        OwnRange {
            ranges: self,
            shard,
            member,
            left: self.come(rank, shard, member),
        }
    }

    /// The owner of a shard comes, for the first time or again; what is left for it.
    #[inline]
    fn come(&self, rank: usize, shard: &Shard<P>, member: Member) -> u64 {
        let holders = &self.words.holders;
        match holders.of(member) {
            Holding::Share => {
                let share = self.share(rank);
                let left = share.end - share.start;
                // No thread reads it before `begin`.
                shard.fill(share, true);
                if holders.begin(member) {
                    return left;
                }
            }
            Holding::Shard => return shard.own(),
            Holding::Nothing => {}
        }
        // Nor afterwards, before it is refilled.
        shard.fill(0..0, true);
        0
    }
}

/// One participant's own range, and its access to the others' ranges.
pub(crate) struct OwnRange<'a, P: Platform> {
    ranges: &'a Ranges<'a, P>,
    shard: &'a Shard<P>,
    member: Member,
    /// Units left in the own shard when last seen; thieves may have taken
    /// some since, never added any.
    left: u64,
}

/// The number of looks at a remainder that others may still finish, before it is stolen.
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
        let claim = self.shard.claim(units);
        self.left = claim.as_ref().map_or(0, |claim| claim.left);
        if self.left == 0 {
            // Before the last block is run: no thief looks here in vain meanwhile.
            self.ranges.words.holders.emptied(self.member);
        }
        claim.map(|claim| self.iterations(&claim.units))
    }

    /// Takes half of another's range, the next neighbour's first. The result is a block of it, as
    /// long as `block` says for this number of iterations, and the rest goes into the empty own
    /// range. `None`: no range has anything left.
    ///
    /// A victim with no more than `small` iterations left will be done with
    /// them before a thief has fetched half. It is left alone for a moment,
    /// and stolen from if they are still there then: its owner may be held up
    /// in a long iteration.
    pub(crate) fn steal(
        &mut self,
        small: usize,
        block: impl Fn(usize) -> usize,
    ) -> Option<Range<usize>> {
        // A range on its way from a victim's shard into a thief's is in
        // neither, so one empty sweep does not mean that all is claimed.
        // With two shards nothing can be on its way but to this thread.
        let sweeps = if self.ranges.words.words.len() > 2 {
            2
        } else {
            1
        };
        let mut empty_sweeps = 0;
        for patience in (0..=PATIENCE).rev() {
            let small = if patience > 0 { small } else { 0 };
            let mut seen = false;
            let Member { cluster, number } = self.member;
            let own = cluster as usize;
            // The own cluster's first, and in it the next neighbours'.
            let near = [(own, number + 1, MOST as u32), (own, 0, number)];
            let far = self.ranges.words.holders.others(own);
            let far = far.map(|cluster| (cluster, 0, MOST as u32));
            for (cluster, from, end) in near.into_iter().chain(far) {
                match self.steal_from(cluster, from, end, small) {
                    Ok(units) => return Some(self.keep(units, block)),
                    Err(holders) => seen |= holders,
                }
            }
            if !seen {
                empty_sweeps += 1;
                if empty_sweeps == sweeps {
                    return None;
                }
            }
            P::relax();
        }
        None
    }

    /// A block of the stolen `units`; the own range keeps the rest.
    fn keep(&mut self, units: Range<u64>, block: impl Fn(usize) -> usize) -> Range<usize> {
        let all = units.end - units.start;
        let first =
            (block((all * self.ranges.unit) as usize) as u64 / self.ranges.unit).clamp(1, all);
        let middle = units.start + first;
        self.left = all - first;
        if self.left > 0 {
            self.shard.refill(middle..units.end);
            self.ranges.words.holders.refilled(self.member);
        }
        self.iterations(&(units.start..middle))
    }

    /// Takes half of the range of the first member of `cluster`, from number `from` on and below
    /// `end`, that has more than `small` iterations left, or the whole share of a member that has
    /// not come; `Err`: whether a member had iterations left.
    fn steal_from(
        &self,
        cluster: usize,
        mut from: u32,
        end: u32,
        small: usize,
    ) -> Result<Range<u64>, bool> {
        let Shards { words, holders } = self.ranges.words;
        let mut seen = false;
        while let Some((member, holding)) = holders.first_in(cluster, from, end) {
            let victim = self.ranges.clusters.members(cluster)[member.number as usize];
            if holding == Holding::Share {
                seen = true;
                if holders.take(member) {
                    return Ok(self.ranges.share(victim));
                }
                // Its owner has come, or another thief: it is looked at again.
                continue;
            }
            from = member.number + 1;
            let (left, owned) = words[victim].left();
            if left == 0 {
                continue;
            }
            seen = true;
            if owned && left * self.ranges.unit <= small as u64 {
                continue;
            }
            if let Some(units) = words[victim].steal() {
                return Ok(units);
            }
        }
        Err(seen)
    }

    /// Leaves the own range to the others; whether there is something in it.
    pub(crate) fn abandon(self) -> bool {
        self.shard.disown() > 0
    }

    fn iterations(&self, units: &Range<u64>) -> Range<usize> {
        let unit = self.ranges.unit;
        let end = (u128::from(units.end) * u128::from(unit)).min(self.ranges.n as u128);
        (units.start * unit) as usize..end as usize
    }
}

/// Share `index` of `0..n` cut into `shares` pieces that differ by at most one.
fn share_of(n: usize, shares: usize, index: usize) -> Range<usize> {
    let (each, longer) = (n / shares, n % shares);
    let start = index * each + index.min(longer);
    start..start + each + usize::from(index < longer)
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

    fn admit(&self, more: Invited) {
        self.ranges.admit(more);
    }
}

impl<P: Platform> Claims for ShardedClaims<'_, P> {
    fn next(&mut self) -> Option<Range<usize>> {
        let block = self.block;
        self.own
            .claim(block)
            .or_else(|| self.own.steal(0, |_| block))
    }

    fn abandon(self) -> bool {
        self.own.abandon()
    }
}
