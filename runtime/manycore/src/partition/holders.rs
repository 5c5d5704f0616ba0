//! Says which participants of a sharded loop still hold iterations, so that a thread need not read
//! each participant's shard to see that the loop is over.
//!
//! A loop on 64 threads used to write 64 shards before it was posted, and each of the 64 read the
//! others' at its end: 64 transfers in a row that no work hides. Now there is a word for each
//! cluster, and each participant changes its own twice: when it begins its share, and when it has
//! claimed the last of its iterations.

use crate::clusters::{MOST, Member};
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Ordering, Platform};
use std::marker::PhantomData;
use std::ops::Range;

/// Two bits a participant: whether it holds iterations (the lower half of a word), and whether
/// these are its whole share, in no shard yet (the upper half).
///
/// | whole | holds | |
/// |---|---|---|
/// | 1 | 1 | its share, which no thread has begun |
/// | 0 | 1 | what is in its shard, if anything |
/// | 0 | 0 | nothing |
///
/// A share is begun once: by its owner, which clears `whole`, or by a thief, which clears both
/// bits. Each is one read-modify-write of the word, so only one of them finds `whole` set.
/// Thereafter only the owner may change `holds`. It may lag behind the shard; then a thief looks in
/// vain, or leaves early, and the holder of the iterations that it did not see runs them.
///
/// # Clusters
///
/// At the end of a loop each thief would have to read the words of all clusters, one after the other. So
/// one line has a bit for each cluster, which says whether a member of the cluster holds iterations:
///
/// * The caller sets the bits of the clusters that it invites.
/// * The member that empties its cluster's word clears the bit, and then looks at the word once more. If the
///   word is not empty any more, the member sets the bit again.
/// * The member that refills its shard sets the bit if it found the word empty.
///
/// Once these members are done, the bit is set if the word is not empty. Until then the bit may lag behind, as
/// `holds` may.
pub(super) struct Holders<'a, P: Platform> {
    /// The elements, of whatever type, that have the participants' words in them, one for each cluster.
    elements: *const u8,
    count: usize,
    /// The bytes from an element to the next, and from an element to the word in it.
    stride: usize,
    offset: usize,
    /// A word for [`WORD`] clusters.
    clusters: Box<[CachePadded<P::AtomicU64>]>,
    words: PhantomData<&'a HoldersWord<P>>,
}

// SAFETY: the pointer stands for a shared reference to the elements. Only their words are used,
// which are atomics.
unsafe impl<P: Platform> Sync for Holders<'_, P> {}
// SAFETY: as above.
unsafe impl<P: Platform> Send for Holders<'_, P> {}

/// The word of one cluster's participants. It lies beside what they write when they come and
/// go, so that all of it is one line.
pub(crate) struct HoldersWord<P: Platform>(P::AtomicU64);

impl<P: Platform> HoldersWord<P> {
    /// No participant holds iterations yet.
    pub(crate) fn new() -> Self {
        Self(P::AtomicU64::new(0))
    }
}

/// One word has the bits of this many clusters.
const WORD: usize = u64::BITS as usize;
/// In a participants' word: the bits that say whether they hold anything.
const HOLD: u64 = (1 << MOST) - 1;

/// The state of a participant's share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holding {
    /// Its whole share, not yet begun.
    Share,
    /// The range in its shard.
    Shard,
    Nothing,
}

/// The bit that says that `member` holds something, in its word.
#[inline]
fn holds(member: Member) -> u64 {
    1 << member.number
}

/// The bit that says that this is its whole share.
#[inline]
fn whole(member: Member) -> u64 {
    1 << (MOST as u32 + member.number)
}

impl<'a, P: Platform> Holders<'a, P> {
    /// In each of the `elements`, one for each cluster, is a word: `word` finds it.
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
            "within the element"
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

    /// The word of the participants of `cluster`.
    #[inline]
    fn word(&self, cluster: usize) -> &P::AtomicU64 {
        assert!(cluster < self.count);
        // SAFETY: within the elements, which are borrowed for as long as `self`. A word is in each,
        // at the same place: it is a field.
        let word = unsafe {
            &*(self.elements.add(cluster * self.stride + self.offset)).cast::<HoldersWord<P>>()
        };
        &word.0
    }

    #[inline]
    fn word_of(&self, member: Member) -> &P::AtomicU64 {
        self.word(member.cluster as usize)
    }

    /// Before the loop is posted: the first `shares` members of `cluster` have their shares, and the
    /// `caller`, if it is of that cluster, has begun its own.
    ///
    /// Cost: a store to the cluster's line.
    #[inline]
    pub(super) fn fill(&self, cluster: usize, shares: usize, caller: Member) {
        let mut bits = (1_u64 << shares) - 1;
        bits |= bits << MOST;
        if caller.cluster as usize == cluster {
            bits = (bits | holds(caller)) & !whole(caller);
        }
        // Relaxed: the gate publishes it.
        self.word(cluster).store(bits, Ordering::Relaxed);
    }

    /// As `fill`, after it: all clusters in `invited` hold something, and no others.
    ///
    /// Cost: a store to one line, unless there is but one cluster.
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
            // Relaxed: the gate publishes it.
            word.store(bits, Ordering::Relaxed);
        }
    }

    /// The word with the bit of `cluster`, and the bit.
    #[inline]
    fn of_cluster(&self, cluster: usize) -> (&P::AtomicU64, u64) {
        (&self.clusters[cluster / WORD], 1 << (cluster % WORD))
    }

    /// The clusters other than `own` with a member that holds iterations, as a hint: the clusters
    /// after `own` first.
    #[inline]
    pub(super) fn others(&self, own: usize) -> impl Iterator<Item = usize> + '_ {
        (own + 1..self.count).chain(0..own).filter(|&cluster| {
            let (word, bit) = self.of_cluster(cluster);
            // Acquire pairs with `refilled`: a cluster that was admitted after the loop was posted has
            // a word of this loop.
            word.load(Ordering::Acquire) & bit != 0
        })
    }

    /// A member has cleared its bits in its cluster's word, which was `before`.
    #[inline]
    fn cleared(&self, member: Member, before: u64) {
        if before & HOLD == holds(member) && self.count > 1 {
            self.cleared_cluster(member);
        }
    }

    /// It was the last of its cluster that held something.
    #[inline(never)]
    fn cleared_cluster(&self, member: Member) {
        let (word, bit) = self.of_cluster(member.cluster as usize);
        // Acquire pairs with the release in `refilled`: if that came before, its word is seen below.
        word.fetch_and(!bit, Ordering::AcqRel);
        if self.word_of(member).load(Ordering::Relaxed) & HOLD != 0 {
            word.fetch_or(bit, Ordering::Release);
        }
    }

    #[inline]
    pub(super) fn of(&self, member: Member) -> Holding {
        // Acquire: a shard that is in use is read next, also by its owner, which may be another
        // thread with the same permit.
        holding(self.word_of(member).load(Ordering::Acquire), member)
    }

    /// The owner begins its share, which it has put into its shard; `false`: a thief has.
    ///
    /// Cost: one locked instruction on a line that the participants share.
    #[inline]
    pub(super) fn begin(&self, member: Member) -> bool {
        // Release pairs with the acquire in `first_in`: a thread that sees that the shard is in use
        // sees its content, and not an earlier loop's.
        let before = (self.word_of(member)).fetch_and(!whole(member), Ordering::Release);
        before & whole(member) != 0
    }

    /// A thief begins the share of `victim`; `false`: another thread has.
    pub(super) fn take(&self, victim: Member) -> bool {
        let word = self.word_of(victim);
        let mut before = word.load(Ordering::Relaxed);
        while before & whole(victim) != 0 {
            let after = before & !whole(victim) & !holds(victim);
            // Relaxed: the share is known to all, nothing is published.
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

    /// The owner has claimed the last of its shard.
    ///
    /// Cost: as [`begin`](Self::begin).
    #[inline]
    pub(super) fn emptied(&self, member: Member) {
        // Relaxed: a thread that still looks finds the shard empty.
        let before = (self.word_of(member)).fetch_and(!holds(member), Ordering::Relaxed);
        self.cleared(member, before);
    }

    /// The owner has filled its shard again.
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

    /// The first member of `cluster` from number `from` on, and below `end`, that holds iterations
    /// now, as a hint, and whether they are a share not yet begun.
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
    fn holders_are_found_in_order_and_by_cluster() {
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
    fn a_share_is_begun_once() {
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
