//! Announcements of work to idle workers. Each cluster (a group of near workers) has its own event count, which each
//! announcement changes. So a loop disturbs only the clusters that it invites.

use crate::clusters::Invited;
use manycore_cores::sync::EventCount;
use manycore_platform::Platform;

/// The event counts of a pool.
pub(crate) struct Announcements<P: Platform>(Box<[EventCount<P>]>);

/// The value of a cluster's event count when a worker last looked for work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    cluster: u32,
    count: u32,
}

impl<P: Platform> Announcements<P> {
    pub(super) fn new(clusters: usize) -> Self {
        Self((0..clusters).map(|_| EventCount::new()).collect())
    }

    /// Names the event counts for a simulator, which counts the accesses to each.
    pub(crate) fn name(&self) {
        self.0.iter().for_each(EventCount::name);
    }

    /// Reads the event count of `cluster`. A worker of that cluster calls this before it looks for work. Each later
    /// post changes the count.
    #[inline]
    pub(crate) fn seen(&self, cluster: usize) -> Seen {
        Seen {
            cluster: cluster as u32,
            count: self.0[cluster].seen(),
        }
    }

    /// Whether something was posted in the cluster of `seen` since `seen` was read.
    #[inline]
    pub(crate) fn is_past(&self, seen: Seen) -> bool {
        self.0[seen.cluster as usize].seen() != seen.count
    }

    /// Spins until something is posted after `seen`, or the clock passes `until`. Returns whether
    /// something was posted.
    #[inline]
    pub(super) fn spin(&self, seen: Seen, until: u64) -> bool {
        self.0[seen.cluster as usize].spin(seen.count, until)
    }

    /// Announces earlier writes of this thread to the clusters `invited`, with [`EventCount::post`].
    #[inline]
    pub(crate) fn post(&self, invited: Invited) {
        for events in &self.0[invited.clusters()] {
            events.post();
        }
    }
}

impl Seen {
    /// Whether this is the event count of `cluster`.
    #[inline]
    pub(crate) fn is_of(self, cluster: usize) -> bool {
        self.cluster as usize == cluster
    }
}
