//! Announcements of work to idle workers. Each cluster (a group of near workers) has its own event count, which each
//! announcement changes. So a loop disturbs only the clusters that it invites.

use crate::clusters::Invited;
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Ordering, Platform};

/// The event counts of a pool: for each cluster the number of posts to it. The cluster's idle workers spin on this
/// word: the transfer of its cache line *is* the announcement.
pub(crate) struct Announcements<P: Platform>(Box<[CachePadded<P::Futex>]>);

/// The value of a cluster's event count when a worker last looked for work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    cluster: u32,
    count: u32,
}

impl<P: Platform> Announcements<P> {
    pub(crate) fn new(clusters: usize) -> Self {
        let word = || CachePadded::new(<P::Futex as Atomic<u32>>::new(0));
        Self((0..clusters).map(|_| word()).collect())
    }

    /// Names the words for a simulator, which counts the accesses to each.
    pub(crate) fn name(&self) {
        for word in &self.0 {
            P::name(word, "pool: event count");
        }
    }

    /// Reads the event count of `cluster`. A worker of that cluster calls this before it looks for work. Each later
    /// post changes the count. The worker would miss posts only if their number is a multiple of 2^32.
    #[inline]
    pub(crate) fn seen(&self, cluster: usize) -> Seen {
        Seen {
            cluster: cluster as u32,
            count: self.count(cluster),
        }
    }

    /// Acquire pairs with the release in `post`: a thread that reads the new count finds the work that was published
    /// before the post.
    #[inline]
    fn count(&self, cluster: usize) -> u32 {
        self.0[cluster].load(Ordering::Acquire)
    }

    /// Whether something was posted in the cluster of `seen` since `seen` was read.
    #[inline]
    pub(crate) fn is_past(&self, seen: Seen) -> bool {
        self.count(seen.cluster as usize) != seen.count
    }

    /// Spins until something is posted after `seen`, or the clock passes `until`. Returns whether
    /// something was posted.
    #[inline]
    pub(super) fn spin(&self, seen: Seen, until: u64) -> bool {
        P::spin_while(&self.0[seen.cluster as usize], seen.count, until) != seen.count
    }

    /// Announces earlier writes of this thread to the clusters `invited`, at least one, and then makes a full fence. So
    /// this thread may look for sleepers next: a worker that counts itself as a sleeper, makes a full fence and then
    /// reads its event count sees the post, or this thread sees the sleeper.
    ///
    /// Cost: for each cluster one locked instruction on the line that its spinners share.
    #[inline]
    pub(crate) fn post(&self, invited: Invited) {
        for word in &self.0[invited.clusters()] {
            // Release: see `count`.
            word.fetch_add(1, Ordering::Release);
        }
        P::fence_after_rmw();
    }
}

impl Seen {
    /// Whether this is the event count of `cluster`.
    #[inline]
    pub(crate) fn is_of(self, cluster: usize) -> bool {
        self.cluster as usize == cluster
    }
}
