//! Says which participants of a sharded loop still hold iterations, so that a thread need not read
//! each participant's shard to see that the loop is over.
//!
//! Without this module, a loop on 64 threads would write 64 shards before it is posted, and at the loop's end each
//! thread would read all other shards. These are 64 transfers of cache lines in a row, and no other work overlaps with
//! them. Instead, each cluster (a group of near threads) has one word. A participant changes its bits of that word
//! twice: when it begins its share, and when it has claimed the last of its iterations.

use crate::clusters::{MOST, Member};
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Ordering, Platform};
use std::marker::PhantomData;
use std::ops::Range;

/// Each participant has two bits. `holds`, in the lower half of a word, says whether the participant holds iterations.
/// `whole`, in the upper half, says whether the participant holds its whole share, which is in no shard (a range in
/// one word) yet.
///
/// | whole | holds | |
/// |---|---|---|
/// | 1 | 1 | the participant holds its share, which no thread has begun |
/// | 0 | 1 | the participant holds the range in its shard, which may be empty |
/// | 0 | 0 | the participant holds nothing |
///
/// A share begins once: either its owner clears `whole`, or a thief clears both bits. Both do this by a
/// read-modify-write of the word, so only one thread finds `whole` set. Thereafter only the owner may change `holds`.
/// This bit may lag behind the shard. A thief may then look in vain, or leave early. If the thief leaves early, the
/// thread that holds the unseen iterations runs them.
///
/// # Clusters
///
/// So that a thief need not read the words of all clusters at the end of a loop, one cache line has a bit for each
/// cluster. This bit says whether a member of the cluster holds iterations:
///
/// * The caller sets the bits of the clusters that it invites.
/// * The member that clears the last `holds` in its cluster's word clears the cluster's bit, and then reads the
///   word once more. If the word is no longer empty, the member sets the bit again.
/// * A member that refills its shard sets the bit if it found the word empty.
///
/// Once these members have finished, the bit is set if the word is not empty. Until then the bit may lag behind,
/// like `holds`.
pub(super) struct Holders<'a, P: Platform> {
    /// The elements that contain the participants' words, one element for each cluster. Their type is erased.
    elements: *const u8,
    count: usize,
    /// The bytes from an element to the next.
    stride: usize,
    /// The bytes from an element to the word in it.
    offset: usize,
    /// The words with the clusters' bits. Each word has the bits of [`WORD`] clusters.
    clusters: Box<[CachePadded<P::AtomicU64>]>,
    words: PhantomData<&'a HoldersWord<P>>,
}

// SAFETY: the pointer stands for a shared reference to the elements. `Holders` only uses the words in them, which
// are atomics.
unsafe impl<P: Platform> Sync for Holders<'_, P> {}
// SAFETY: the same argument holds.
unsafe impl<P: Platform> Send for Holders<'_, P> {}

/// The word of one cluster's participants. It is on the same cache line as the other data that these participants
/// write when they join and leave.
pub(crate) struct HoldersWord<P: Platform>(P::AtomicU64);

impl<P: Platform> HoldersWord<P> {
    /// Creates a word in which no participant holds iterations yet.
    pub(crate) fn new() -> Self {
        Self(P::AtomicU64::new(0))
    }
}

/// The number of clusters whose bits are in one word.
const WORD: usize = u64::BITS as usize;
/// The `holds` bits of all participants in a cluster's word.
const HOLD: u64 = (1 << MOST) - 1;

/// The state of a participant's share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holding {
    /// The participant holds its whole share, which no thread has begun.
    Share,
    /// The participant may hold a range in its shard.
    Shard,
    /// The participant holds nothing.
    Nothing,
}

/// Returns the bit that says that `member` holds iterations.
#[inline]
fn holds(member: Member) -> u64 {
    1 << member.number
}

/// Returns the bit that says that `member` holds its whole share.
#[inline]
fn whole(member: Member) -> u64 {
    1 << (MOST as u32 + member.number)
}

impl<'a, P: Platform> Holders<'a, P> {
    /// `elements` has one element for each cluster. `word` finds the word in an element.
    pub(super) fn new<T>(elements: &'a [T], word: impl Fn(&T) -> &HoldersWord<P>) -> Self {
        let offset =
            |element| std::ptr::from_ref(word(element)).addr() - std::ptr::from_ref(element).addr();
        let count = elements.len();
        let of_all = |_| {
            let word = CachePadded::new(P::AtomicU64::new(0));
            P::name(&*word, "loop: which clusters hold iterations");
            word
        };
        let offset = offset(&elements[0]);
        assert!(
            offset + size_of::<HoldersWord<P>>() <= size_of::<T>(),
            "the word must lie within its element"
        );
        Self {
            elements: elements.as_ptr().cast(),
            count,
            stride: size_of::<T>(),
            offset,
            clusters: (0..count.div_ceil(WORD)).map(of_all).collect(),
            words: PhantomData,
        }
    }

    /// Returns the word of the participants of `cluster`.
    #[inline]
    fn word(&self, cluster: usize) -> &P::AtomicU64 {
        assert!(cluster < self.count);
        // SAFETY: the address is within the elements, which are borrowed for as long as `self`. A word is a field,
        // so it is at the same place in each element.
        let word = unsafe {
            &*(self.elements.add(cluster * self.stride + self.offset)).cast::<HoldersWord<P>>()
        };
        &word.0
    }

    #[inline]
    fn word_of(&self, member: Member) -> &P::AtomicU64 {
        self.word(member.cluster as usize)
    }

    /// Called before the cluster is invited. Records that the first `shares` members of `cluster` have their shares.
    /// If `caller` is in that cluster, also records that the caller has begun its share.
    ///
    /// Cost: one store to the cluster's line.
    #[inline]
    pub(super) fn fill(&self, cluster: usize, shares: usize, caller: Member) {
        let mut bits = (1_u64 << shares) - 1;
        bits |= bits << MOST;
        if caller.cluster as usize == cluster {
            bits = (bits | holds(caller)) & !whole(caller);
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
        if self.count == 1 {
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
        (own + 1..self.count).chain(0..own).filter(|&cluster| {
            let (word, bit) = self.of_cluster(cluster);
            // Acquire pairs with the release in `refilled`: if a cluster was invited after the loop was posted,
            // this thread sees the cluster's word as this loop has filled it.
            word.load(Ordering::Acquire) & bit != 0
        })
    }

    /// Called after `member` or a thief has cleared the member's `holds` in its cluster's word. `before` is the word
    /// before this change.
    #[inline]
    fn cleared(&self, member: Member, before: u64) {
        if before & HOLD == holds(member) && self.count > 1 {
            self.cleared_cluster(member);
        }
    }

    /// Called if `member` was the last of its cluster that held iterations.
    #[inline(never)]
    fn cleared_cluster(&self, member: Member) {
        let (word, bit) = self.of_cluster(member.cluster as usize);
        // Acquire pairs with the release in `refilled`: if `refilled` set the bit before this, the load below sees
        // the word that `refilled` wrote.
        word.fetch_and(!bit, Ordering::AcqRel);
        if self.word_of(member).load(Ordering::Relaxed) & HOLD != 0 {
            word.fetch_or(bit, Ordering::Release);
        }
    }

    #[inline]
    pub(super) fn of(&self, member: Member) -> Holding {
        // Acquire pairs with the releases in `begin` and `refilled`: if the shard is in use, this thread reads the
        // shard next. The shard's owner needs the acquire too, since an earlier thread with the same permit may have
        // written the shard.
        holding(self.word_of(member).load(Ordering::Acquire), member)
    }

    /// The owner calls this to begin its share, which it has put into its shard. Returns false if a thief has begun
    /// the share.
    ///
    /// Cost: one locked instruction on a line that the participants share.
    #[inline]
    pub(super) fn begin(&self, member: Member) -> bool {
        // Release pairs with the acquire in `first_in`: a thread that sees that the shard is in use sees the shard's
        // content, and not the content that an earlier loop left there.
        let before = (self.word_of(member)).fetch_and(!whole(member), Ordering::Release);
        before & whole(member) != 0
    }

    /// A thief calls this to begin the share of `victim`. Returns false if another thread has begun the share.
    pub(super) fn take(&self, victim: Member) -> bool {
        let word = self.word_of(victim);
        let mut before = word.load(Ordering::Relaxed);
        while before & whole(victim) != 0 {
            let after = before & !whole(victim) & !holds(victim);
            // Relaxed: every thread can compute the share, so this publishes nothing.
            match word.compare_exchange(before, after, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => {
                    self.cleared(victim, before);
                    return true;
                }
                Err(now) => before = now,
            }
        }
        false
    }

    /// The owner calls this when it has claimed the last iterations of its shard.
    ///
    /// Cost: like [`begin`](Self::begin).
    #[inline]
    pub(super) fn emptied(&self, member: Member) {
        // Relaxed: a thread that still sees the bit finds the shard empty.
        let before = (self.word_of(member)).fetch_and(!holds(member), Ordering::Relaxed);
        self.cleared(member, before);
    }

    /// The owner calls this when it has filled its shard again.
    #[inline]
    pub(super) fn refilled(&self, member: Member) {
        // Release: as in `begin`.
        let before = (self.word_of(member)).fetch_or(holds(member), Ordering::Release);
        if before & HOLD == 0 && self.count > 1 {
            let (word, bit) = self.of_cluster(member.cluster as usize);
            // Release pairs with the acquire in `cleared_cluster` and in `others`.
            word.fetch_or(bit, Ordering::Release);
        }
    }

    /// Returns the first member of `cluster` with a number in `from..end` that holds iterations, as a hint, and
    /// what the member holds.
    #[inline]
    pub(super) fn first_in(
        &self,
        cluster: usize,
        from: u32,
        end: u32,
    ) -> Option<(Member, Holding)> {
        // Acquire pairs with the releases in `begin` and `refilled`.
        let bits = self.word(cluster).load(Ordering::Acquire);
        let later = bits & ((1 << end) - 1) & (u64::MAX << from);
        let member = Member {
            cluster: cluster as u32,
            number: later.trailing_zeros(),
        };
        (later != 0).then(|| (member, holding(bits, member)))
    }
}

#[inline]
fn holding(bits: u64, member: Member) -> Holding {
    match (bits & whole(member) != 0, bits & holds(member) != 0) {
        (true, _) => Holding::Share,
        (false, true) => Holding::Shard,
        (false, false) => Holding::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use manycore_platform::Native;

    fn member(cluster: u32, number: u32) -> Member {
        Member { cluster, number }
    }

    fn words(clusters: usize) -> Vec<(u8, HoldersWord<Native>)> {
        (0..clusters).map(|_| (0, HoldersWord::new())).collect()
    }

    fn holders(words: &[(u8, HoldersWord<Native>)]) -> Holders<'_, Native> {
        Holders::new(words, |(_, word)| word)
    }

    #[test]
    fn first_in_finds_holders_in_order_in_one_cluster() {
        let words = words(3);
        let holders = holders(&words);
        let caller = member(1, 31);
        holders.fill(0, 32, caller);
        holders.fill(1, 2, caller);
        let found = |cluster, mut from, end| {
            let mut found = Vec::new();
            while let Some((member, holding)) = holders.first_in(cluster, from, end) {
                found.push((member.number, holding == Holding::Share));
                from = member.number + 1;
            }
            found
        };
        let all: Vec<_> = (5..32).map(|number| (number, true)).collect();
        assert_eq!(found(0, 5, 32), all);
        assert_eq!(found(1, 0, 32), [(0, true), (1, true), (31, false)]);
        assert_eq!(found(1, 1, 31), [(1, true)]);
        assert_eq!(found(2, 0, 32), []);
    }

    #[test]
    fn only_one_thread_begins_a_share() {
        let words = words(1);
        let holders = holders(&words);
        let members = [0, 1, 2].map(|number| member(0, number));
        holders.fill(0, 3, members[0]);
        let [_, one, two] = members;
        assert!(holders.begin(one) && !holders.take(one) && !holders.begin(one));
        assert!(holders.take(two) && !holders.begin(two) && !holders.take(two));
        let held = members.map(|member| holders.of(member));
        assert_eq!(held, [Holding::Shard, Holding::Shard, Holding::Nothing]);
        holders.emptied(one);
        holders.refilled(two);
        let held = members.map(|member| holders.of(member));
        assert_eq!(held, [Holding::Shard, Holding::Nothing, Holding::Shard]);
    }
}
