//! How many clusters a loop invites: a cluster more does a part of the work, and costs the caller time.

use super::Shared;
use crate::clusters::Invited;
#[cfg(test)]
use crate::conserving::fault::{self, Fault};
use crate::times::CHOSEN_NS;
use manycore_platform::Platform;

/// A loop that lasts this many times as long as predicted calls more helpers.
const SLOW: f32 = 4.0;

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
        let members = self.members();
        let best = (work / (members * self.idle().cluster_cost()))
            .sqrt()
            .round();
        let most = if work < CHOSEN_NS * self.ticks_per_ns() {
            (n as f32 / members).ceil()
        } else {
            f32::INFINITY
        };
        #[cfg(test)]
        let most = if fault::is(Fault::FewForEver) {
            1.0
        } else {
            most
        };
        // Casts to integers saturate.
        self.clusters().around(caller, best.min(most) as usize)
    }

    /// The members of a cluster, in the mean.
    fn members(&self) -> f32 {
        self.clusters().permits() as f32 / self.clusters().count() as f32
    }

    /// Ticks after which a loop of `work` ticks that has `invited` these clusters is slow: they have
    /// other work, or the prediction was wrong. At most `work`: one thread would be done by then.
    pub(crate) fn slow_after(&self, invited: Invited, work: f32) -> f32 {
        let count = invited.clusters().len() as f32;
        let expected = work / (count * self.members()) + count * self.idle().cluster_cost();
        work.min(SLOW * expected)
    }
}
