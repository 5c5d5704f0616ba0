//! Announcements of work to idle workers: an event count for each cluster, so that only invited
//! clusters hear of a loop.

use crate::clusters::Invited;
use manycore_cores::sync::EventCount;
use manycore_platform::Platform;

/// The event counts of a pool.
pub(crate) struct Announcements<P: Platform>(Box<[EventCount<P>]>);

/// How far a worker has looked: the event count of a cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    cluster: u32,
    count: u32,
}

impl<P: Platform> Announcements<P> {
    pub(super) fn new(clusters: usize) -> Self {
        Self((0..clusters).map(|_| EventCount::new()).collect())
    }

    /// For a simulator's accounts.
    pub(crate) fn name(&self) {
        self.0.iter().for_each(EventCount::name);
    }

    /// To be read before a look for work by a worker in `cluster`: a later post changes it.
    #[inline]
    pub(crate) fn seen(&self, cluster: usize) -> Seen {
        Seen {
            cluster: cluster as u32,
            count: self.0[cluster].seen(),
        }
    }

    /// Whether something was posted after `seen`, in that cluster.
    #[inline]
    pub(crate) fn is_past(&self, seen: Seen) -> bool {
        self.0[seen.cluster as usize].seen() != seen.count
    }

    /// Spins until that is so, or until the clock passes `until`.
    #[inline]
    pub(super) fn spin(&self, seen: Seen, until: u64) -> bool {
        self.0[seen.cluster as usize].spin(seen.count, until)
    }

    /// Announces in the clusters `invited` what was published before the call, as
    /// [`EventCount::post`] does in each.
    #[inline]
    pub(crate) fn post(&self, invited: Invited) {
        for events in &self.0[invited.clusters()] {
            events.post();
        }
    }
}

impl Seen {
    /// Whether it is the count of `cluster`.
    #[inline]
    pub(crate) fn is_of(self, cluster: usize) -> bool {
        self.cluster as usize == cluster
    }
}
