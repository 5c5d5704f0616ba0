//! How many clusters a loop invites: a cluster more does a part of the work, and costs the caller time.

use super::Shared;
use crate::clusters::Invited;
use manycore_platform::Platform;

impl<P: Platform> Shared<P> {
    /// The clusters that a loop of `n` iterations, with `work` ticks to do (unknown: infinite),
    /// invites from a thread with the permit `caller`.
    ///
    /// With k clusters of m threads and a cost of c ticks that the caller, or a line that all fetch,
    /// spends on each cluster, one after the other, the loop takes about
    ///
    /// ```text
    /// work / (k m)  +  k c
    /// ```
    ///
    /// which is least at k = sqrt(work / (m c)).
    #[inline]
    pub(crate) fn invite(&self, caller: usize, work: f32, n: usize) -> Invited {
        let clusters = self.clusters();
        if clusters.count() == 1 {
            return clusters.all();
        }
        self.invite_some(caller, work, n)
    }

    #[cold]
    fn invite_some(&self, caller: usize, work: f32, n: usize) -> Invited {
        let clusters = self.clusters();
        let members = clusters.permits() as f32 / clusters.count() as f32;
        let each = self.idle().cluster_cost();
        let best = (work / (members * each)).sqrt();
        // No more than have an iteration. Casts to integers saturate.
        let most = (n as f32 / members).ceil();
        clusters.around(caller, best.round().min(most) as usize)
    }
}
