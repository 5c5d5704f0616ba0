//! Says which participants of a sharded loop still hold iterations, so that a thread need not read
//! each participant's shard to see that the loop is over.
//!
//! Without this module, a loop on 64 threads would write 64 shards before it is posted, and at the loop's end each
//! thread would read all other shards. These are 64 transfers of cache lines in a row, and no other work overlaps with
//! them. Instead, each cluster (a group of near threads) has one word. A participant changes its bits of that word
//! once: when it has claimed the last of its iterations.

use crate::clusters::{MOST, Member};
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Ordering, Platform};
use std::ops::Range;

/// Each participant has two bits, and holds iterations if one of them is set. `share`, in the lower half of a word, is
/// set before the loop is posted if the participant has a share. `refilled`, in the upper half, is set when the
/// participant has stolen iterations.
///
/// A thread that takes another participant's whole share (`Begun`) clears `share` some time later. Meanwhile the
/// participant may have refilled its shard, and only the participant changes `refilled`. So that thread hides nothing.
/// The bits may lag behind the shard. A thief may then look in vain, or leave early. If the thief leaves early, the
/// thread that holds the unseen iterations runs them, or leaves them and tells the caller.
///
/// # Clusters
///
/// So that a thief need not read the words of all clusters at the end of a loop, one cache line has a bit for each
/// cluster. This bit says whether a member of the cluster holds iterations:
///
/// * The caller sets the bits of the clusters that it invites.
/// * The thread that clears the last bit in a cluster's word clears the cluster's bit, and then reads the
///   word once more. If the word is no longer empty, the thread sets the bit again.
/// * A member that refills its shard sets the bit if it found the word empty.
///
/// Once these threads have finished, the bit is set if the word is not empty. Until then the bit may lag behind.
pub(super) struct Holders<P: Platform> {
    /// The word of each cluster's participants. Each has a cache line of its own, so that threads that look for
    /// iterations do not take away the line of the cluster's gate.
    words: Box<[CachePadded<P::AtomicU64>]>,
    /// The words with the clusters' bits. Each word has the bits of [`WORD`] clusters.
    clusters: Box<[CachePadded<P::AtomicU64>]>,
}

/// The number of clusters whose bits are in one word.
const WORD: usize = u64::BITS as usize;
/// The bits of one kind of all participants in a cluster's word.
const ALL: u64 = (1 << MOST) - 1;

/// Returns the bit that says that `member` has a share.
#[inline]
fn share(member: Member) -> u64 {
    1 << member.number
}

/// Returns the bit that says that `member` has stolen iterations.
#[inline]
fn refilled(member: Member) -> u64 {
    1 << (MOST as u32 + member.number)
}

/// Returns a bit for each participant that holds iterations.
#[inline]
fn holding(word: u64) -> u64 {
    (word | word >> MOST) & ALL
}

impl<P: Platform> Holders<P> {
    pub(super) fn new(clusters: usize) -> Self {
        let words = |count, name| {
            let word = |_| {
                let word = CachePadded::new(P::AtomicU64::new(0));
                P::name(&*word, name);
                word
            };
            (0..count).map(word).collect()
        };
        Self {
            words: words(clusters, "loop: which members hold iterations"),
            clusters: words(
                clusters.div_ceil(WORD),
                "loop: which clusters hold iterations",
            ),
        }
    }

    fn count(&self) -> usize {
        self.words.len()
    }

    /// Returns the word of the participants of `cluster`.
    #[inline]
    fn word(&self, cluster: usize) -> &P::AtomicU64 {
        &self.words[cluster]
    }

    #[inline]
    fn word_of(&self, member: Member) -> &P::AtomicU64 {
        self.word(member.cluster as usize)
    }

    /// Called before the cluster is invited. Records that the first `shares` members of `cluster`, and `caller` if it is
    /// in that cluster, have shares.
    ///
    /// Cost: one store to the cluster's line.
    #[inline]
    pub(super) fn fill(&self, cluster: usize, shares: usize, caller: Member) {
        let mut bits = (1_u64 << shares) - 1;
        if caller.cluster as usize == cluster {
            bits |= share(caller);
        }
        // Relaxed: the opening of the loop's gate publishes this store.
        self.word(cluster).store(bits, Ordering::Relaxed);
    }

    /// Called after `fill`, before the loop is posted. Records that the clusters in `invited`, and no other clusters,
    /// hold iterations.
    ///
    /// Cost: a store to each word of bits, or nothing if there is only one cluster.
    #[inline]
    pub(super) fn fill_clusters(&self, invited: Range<usize>) {
        if self.count() == 1 {
            return;
        }
        let below = |end: usize, first: usize| {
            let count = end.clamp(first, first + WORD) - first;
            u64::MAX.checked_shr((WORD - count) as u32).unwrap_or(0)
        };
        for (index, word) in self.clusters.iter().enumerate() {
            let first = index * WORD;
            let bits = below(invited.end, first) & !below(invited.start, first);
            // Relaxed: the opening of the loop's gate publishes this store.
            word.store(bits, Ordering::Relaxed);
        }
    }

    /// Returns the word with the bit of `cluster`, and the bit.
    #[inline]
    fn of_cluster(&self, cluster: usize) -> (&P::AtomicU64, u64) {
        (&self.clusters[cluster / WORD], 1 << (cluster % WORD))
    }

    /// Returns the clusters other than `own` with a member that holds iterations, as a hint. The clusters after
    /// `own` come first.
    #[inline]
    pub(super) fn others(&self, own: usize) -> impl Iterator<Item = usize> + '_ {
        (own + 1..self.count()).chain(0..own).filter(|&cluster| {
            let (word, bit) = self.of_cluster(cluster);
            // Acquire pairs with the release in `refilled`: if a cluster was invited after the loop was posted,
            // this thread sees the cluster's word as this loop has filled it.
            word.load(Ordering::Acquire) & bit != 0
        })
    }

    /// Clears these bits of `member`.
    ///
    /// Cost: one locked instruction on a line that the participants of the cluster share.
    #[inline]
    fn clear(&self, member: Member, bits: u64) {
        // Relaxed: a thief that still sees the bit finds that the share has begun, or what is in the shard.
        let before = self.word_of(member).fetch_and(!bits, Ordering::Relaxed);
        if holding(before) != 0 && holding(before & !bits) == 0 && self.count() > 1 {
            self.cleared_cluster(member);
        }
    }

    /// Called if the bits of `member` were the last of its cluster.
    #[inline(never)]
    fn cleared_cluster(&self, member: Member) {
        let (word, bit) = self.of_cluster(member.cluster as usize);
        // Acquire pairs with the release in `refilled`: if `refilled` set the bit before this, the load below sees
        // the word that `refilled` wrote.
        word.fetch_and(!bit, Ordering::AcqRel);
        if self.word_of(member).load(Ordering::Relaxed) != 0 {
            word.fetch_or(bit, Ordering::Release);
        }
    }

    /// A thread calls this after it has begun the share of `victim`.
    pub(super) fn taken(&self, victim: Member) {
        self.clear(victim, share(victim));
    }

    /// The owner calls this when it has claimed the last iterations of its shard.
    #[inline]
    pub(super) fn emptied(&self, member: Member) {
        self.clear(member, share(member) | refilled(member));
    }

    /// The owner calls this when it has filled its shard again.
    #[inline]
    pub(super) fn refilled(&self, member: Member) {
        // Release pairs with the acquire in `first_in`: a thread that sees the bit sees the shard's new content.
        let before = (self.word_of(member)).fetch_or(refilled(member), Ordering::Release);
        if holding(before) == 0 && self.count() > 1 {
            let (word, bit) = self.of_cluster(member.cluster as usize);
            // Release pairs with the acquire in `cleared_cluster` and in `others`.
            word.fetch_or(bit, Ordering::Release);
        }
    }

    /// Returns the first member of `cluster` with a number in `from..end` that holds iterations, as a hint.
    #[inline]
    pub(super) fn first_in(&self, cluster: usize, from: u32, end: u32) -> Option<Member> {
        // Acquire pairs with the release in `refilled`.
        let bits = holding(self.word(cluster).load(Ordering::Acquire));
        let later = bits & ((1 << end) - 1) & (u64::MAX << from);
        (later != 0).then(|| Member {
            cluster: cluster as u32,
            number: later.trailing_zeros(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use manycore_platform::Native;

    fn member(cluster: u32, number: u32) -> Member {
        Member { cluster, number }
    }

    #[test]
    fn first_in_finds_holders_in_order_in_one_cluster() {
        let holders = Holders::<Native>::new(3);
        let caller = member(1, 31);
        holders.fill(0, 32, caller);
        holders.fill(1, 2, caller);
        let found = |cluster, mut from, end| {
            let mut found = Vec::new();
            while let Some(member) = holders.first_in(cluster, from, end) {
                found.push(member.number);
                from = member.number + 1;
            }
            found
        };
        assert_eq!(found(0, 5, 32), Vec::from_iter(5..32));
        assert_eq!(found(1, 0, 32), [0, 1, 31]);
        assert_eq!(found(1, 1, 31), [1]);
        assert!(found(2, 0, 32).is_empty());
    }

    /// A thread takes the share of a member, which then steals, and only then clears the share's bit.
    #[test]
    fn a_late_taker_does_not_hide_stolen_iterations() {
        let holders = Holders::<Native>::new(1);
        let [one, two] = [0, 1].map(|number| member(0, number));
        holders.fill(0, 2, one);
        holders.refilled(two);
        holders.taken(two);
        assert_eq!(holders.first_in(0, 1, 32), Some(two));
        holders.emptied(two);
        assert_eq!(holders.first_in(0, 1, 32), None);
        assert_eq!(holders.first_in(0, 0, 32), Some(one));
    }
}
