//! `sharded`: each thread owns a range of the iterations and claims blocks from that range. Once the range is
//! empty, the thread takes half of another thread's range.
//!
//! A claim costs one locked instruction on a cache line that usually only the range's owner writes: a few ns, and no
//! transfer of the line. So the block size hardly matters, and blocks can be small enough for all threads to end at
//! the same time. A steal moves a line twice: the victim's word goes to the thief and back. For each participant
//! another line also moves once: when the participant has claimed the last iterations of its share (`holders`).

use super::begun::{Begun, Share};
use super::holders::Holders;
use super::shard::{MAX_UNITS, Shard};
use super::{Claims, Partition};
use crate::clusters::{Clusters, Invited, MOST, Member};
use manycore_platform::{Atomic, CachePadded, Ordering, Platform};
use std::num::NonZeroUsize;
use std::ops::Range;

/// The claim words of one loop. The memory belongs to the pool, which reuses it for later loops.
pub(crate) struct Shards<P: Platform> {
    /// The words of each thread, on cache lines of their own.
    words: Box<[CachePadded<OwnWords<P>>]>,
    holders: Holders<P>,
    /// The number of loops so far. Only the thread that posts a loop here uses it, so helpers do not share its line.
    loops: CachePadded<P::AtomicU64>,
}

/// The words that usually only their owner writes.
struct OwnWords<P: Platform> {
    shard: Shard<P>,
    begun: Begun<P>,
}

impl<P: Platform> Shards<P> {
    /// Creates the words of the pool's threads, which are in `clusters` (groups of near threads).
    pub(crate) fn new(clusters: &Clusters) -> Self {
        let words = || OwnWords {
            shard: Shard::new(),
            begun: Begun::new(),
        };
        let words = (0..clusters.permits()).map(|_| CachePadded::new(words()));
        Self {
            words: words.collect(),
            holders: Holders::new(clusters.count()),
            loops: CachePadded::new(P::AtomicU64::new(0)),
        }
    }
}

/// The iterations `0..n` in the shards of a pool's threads.
///
/// A shard, which is one word with the range of one thread, counts to 2^31 - 1. A longer loop is divided into units of
/// several iterations: of at most 3 iterations if n is at most 2^32.
///
/// All participants read this when they begin, so it is small.
pub(crate) struct Ranges<'a, P: Platform> {
    words: &'a Shards<P>,
    clusters: &'a Clusters,
    n: usize,
    unit: u64,
    /// The loop's number. `Begun` compares it, so that words of earlier loops mean nothing in this loop.
    number: u64,
    /// The clusters that have shares.
    invited: Invited,
    /// In the invited clusters, the ranks (threads, by number) below this number have shares.
    allowed: u32,
    /// The number of these shares. If the caller's rank is not below `allowed`, the caller has one more share.
    shares: u32,
    /// The rank of the thread that posts the loop, which always has a share.
    caller: u32,
}

impl<'a, P: Platform> Ranges<'a, P> {
    /// Gives a share to each rank below `allowed` in the clusters `invited`, and to `caller`, which is the calling
    /// thread's rank and is in one of these clusters. A thread that is allowed to run later has no share, and steals.
    pub(crate) fn new(
        shards: &'a Shards<P>,
        clusters: &'a Clusters,
        n: usize,
        caller: usize,
        allowed: usize,
        invited: Invited,
    ) -> Self {
        // Relaxed: only the holder of the loop's slot uses this word, and the next holder acquires the slot.
        let number = shards.loops.load(Ordering::Relaxed) + 1;
        shards.loops.store(number, Ordering::Relaxed);
        let ranges = Self {
            words: shards,
            clusters,
            n,
            unit: (n as u64).div_ceil(MAX_UNITS).max(1),
            number,
            invited,
            allowed: allowed as u32,
            shares: clusters.allowed(invited.clusters(), allowed) as u32,
            caller: caller as u32,
        };
        // If there are fewer units than shares, the first ranks have one unit each.
        let mut left = ranges.units();
        for cluster in invited.clusters() {
            let shares = clusters.allowed(cluster..cluster + 1, allowed).min(left);
            left -= shares;
            shards.holders.fill(cluster, shares, clusters.of(caller));
        }
        shards.holders.fill_clusters(invited.clusters());
        let OwnWords { shard, begun } = &*shards.words[caller];
        shard.fill(ranges.share(caller), true);
        begun.fill_shard(number);
        ranges
    }

    /// Lets the clusters `more` take part as well. Threads of these clusters have no shares, and steal.
    pub(crate) fn admit(&self, more: Invited) {
        for cluster in more.clusters() {
            let caller = self.clusters.of(self.caller as usize);
            self.words.holders.fill(cluster, 0, caller);
        }
    }

    fn units(&self) -> usize {
        (self.n as u64).div_ceil(self.unit) as usize
    }

    /// Returns the units that `rank` has at first, which may be none. Neighbouring ranks have neighbouring units.
    fn share(&self, rank: usize) -> Range<u64> {
        let units = self.units();
        let (allowed, shares) = (self.allowed as usize, self.shares as usize);
        let all = shares + usize::from(self.caller >= self.allowed);
        let (member, invited) = (self.clusters.of(rank), self.invited.clusters());
        let index = if rank == self.caller as usize && rank >= allowed {
            // The caller's share is the last.
            shares
        } else if rank < allowed && invited.contains(&(member.cluster as usize)) {
            let before = invited.start..member.cluster as usize;
            self.clusters.allowed(before, allowed) + member.number as usize
        } else {
            return 0..0;
        };
        let share = share_of(units, all, index);
        share.start as u64..share.end as u64
    }

    /// Returns the range of participant `rank`.
    #[inline]
    pub(crate) fn own(&self, rank: usize) -> OwnRange<'_, P> {
        let (words, member) = (&*self.words.words[rank], self.clusters.of(rank));
        OwnRange {
            ranges: self,
            shard: &words.shard,
            member,
            left: self.come(rank, words),
        }
    }

    /// The owner of a shard calls this when it joins the loop, for the first time or again. Returns how many units
    /// the owner has left.
    #[inline]
    fn come(&self, rank: usize, OwnWords { shard, begun }: &OwnWords<P>) -> u64 {
        if begun.share(self.number) == Share::InShard {
            return shard.own();
        }
        let share = self.share(rank);
        // If another thread has begun the share, or the rank has none, the owner begins with an empty shard.
        let share = match begun.begin(self.number) {
            true => share,
            false => 0..0,
        };
        let left = share.end - share.start;
        shard.fill(share, true);
        begun.fill_shard(self.number);
        left
    }
}

/// One participant's own range, and its access to the ranges of the other participants.
pub(crate) struct OwnRange<'a, P: Platform> {
    ranges: &'a Ranges<'a, P>,
    shard: &'a Shard<P>,
    member: Member,
    /// The units left in the own shard at the last look. Thieves may have taken some units since then, but they never
    /// add units.
    left: u64,
}

/// How often a thief looks at a small remainder, which its owner may soon finish, before the thief steals from the
/// remainder.
const PATIENCE: u32 = 32;

impl<P: Platform> OwnRange<'_, P> {
    /// The iterations left in the own range at the last look.
    #[inline]
    pub(crate) fn left(&self) -> usize {
        // The multiplication saturates, here and below, since the last unit may end behind the largest number.
        self.left.saturating_mul(self.ranges.unit) as usize
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
            // The member's bit is cleared before the last block runs, so no thief looks at this range in vain during
            // that run.
            self.ranges.words.holders.emptied(self.member);
        }
        claim.map(|claim| self.iterations(&claim.units))
    }

    /// Takes half of the range of another participant, the nearest neighbour first. Returns a block of the stolen
    /// iterations. `block` gets the number of stolen iterations and returns the length of the block. The rest of the
    /// iterations goes into the own range, which is empty. Returns `None` if no range has anything left.
    ///
    /// If a victim has at most `small` iterations left, the victim will finish them before a thief could fetch half of
    /// them. So the thief waits for a moment. If the iterations are still there, the victim may be in a long
    /// iteration, and the thief steals.
    pub(crate) fn steal(
        &mut self,
        small: usize,
        block: impl Fn(usize) -> usize,
    ) -> Option<Range<usize>> {
        // While a thief moves a range from a victim's shard to its own, the range is in neither. So if one sweep
        // finds nothing, some iterations may still be unclaimed. With two shards, only this thread can move a
        // range.
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
            // The own cluster comes first, and in it the next neighbours.
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

    /// Returns a block of the stolen `units`, and puts the rest into the own range.
    fn keep(&mut self, units: Range<u64>, block: impl Fn(usize) -> usize) -> Range<usize> {
        let all = units.end - units.start;
        let first = (block(all.saturating_mul(self.ranges.unit) as usize) as u64
            / self.ranges.unit)
            .clamp(1, all);
        let middle = units.start + first;
        self.left = all - first;
        if self.left > 0 {
            self.shard.refill(middle..units.end);
            self.ranges.words.holders.refilled(self.member);
        }
        self.iterations(&(units.start..middle))
    }

    /// Looks for the first member of `cluster`, with a number in `from..end`, that has more than `small` iterations
    /// left or has not joined. Takes half of the member's range, or the whole share of a member that has not joined.
    /// If there is no such member, returns an error, which says whether any member had iterations left.
    fn steal_from(
        &self,
        cluster: usize,
        mut from: u32,
        end: u32,
        small: usize,
    ) -> Result<Range<u64>, bool> {
        let Shards { words, holders, .. } = self.ranges.words;
        let number = self.ranges.number;
        let mut seen = false;
        while let Some(member) = holders.first_in(cluster, from, end) {
            let victim = self.ranges.clusters.members(cluster)[member.number as usize];
            let OwnWords { shard, begun } = &*words[victim];
            from = member.number + 1;
            match begun.share(number) {
                Share::Whole => {
                    seen = true;
                    if begun.begin(number) {
                        holders.taken(member);
                        return Ok(self.ranges.share(victim));
                    }
                    // The share's owner or another thief has begun the share.
                    continue;
                }
                Share::Begun => {
                    seen = true;
                    continue;
                }
                Share::InShard => {}
            }
            let (left, owned) = shard.left();
            if left == 0 {
                continue;
            }
            seen = true;
            if owned && left.saturating_mul(self.ranges.unit) <= small as u64 {
                continue;
            }
            if let Some(units) = shard.steal() {
                return Ok(units);
            }
        }
        Err(seen)
    }

    /// Leaves the own range to the other participants. Returns true: even if the range is empty, others may have looked
    /// in vain. While this thread changed the bit of its cluster (`Holders`), it hid what other members have left.
    pub(crate) fn abandon(self) -> bool {
        self.shard.disown();
        true
    }

    fn iterations(&self, units: &Range<u64>) -> Range<usize> {
        let unit = self.ranges.unit;
        let end = (u128::from(units.end) * u128::from(unit)).min(self.ranges.n as u128);
        (units.start * unit) as usize..end as usize
    }
}

/// Cuts `0..n` into `shares` pieces whose lengths differ by at most one, and returns piece `index`.
fn share_of(n: usize, shares: usize, index: usize) -> Range<usize> {
    let (each, longer) = (n / shares, n % shares);
    let start = index * each + index.min(longer);
    start..start + each + usize::from(index < longer)
}

/// The `sharded` partition with blocks of a given size.
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
