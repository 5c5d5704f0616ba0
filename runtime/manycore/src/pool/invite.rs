//! How many clusters (groups of near workers) a loop invites. Each further cluster does a part of the work, and costs
//! the caller time.

use super::Shared;
use crate::clusters::Invited;
#[cfg(test)]
use crate::conserving::fault::{self, Fault};
use crate::times::CHOSEN_NS;
use manycore_platform::Platform;

/// If a loop lasts this many times as long as predicted, it invites more helpers.
const SLOW: f32 = 4.0;

impl<P: Platform> Shared<P> {
    /// Returns the clusters of workers that a loop of `n` iterations and `work` ticks (infinite if unknown) invites.
    /// `caller` is the number of the caller's permit (its right to run jobs).
    ///
    /// Assume that the loop invites k clusters of m threads. Each cluster costs c ticks, one cluster after the other.
    /// These are the caller's time, or the transfer of a cache line that all clusters fetch. Then the loop lasts about
    ///
    /// ```text
    /// work / (k m)  +  k c
    /// ```
    ///
    /// ticks, which is least at k = sqrt(work / (m c)).
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
        // The cast saturates: infinity invites all clusters.
        self.clusters().around(caller, best.min(most) as usize)
    }

    /// The mean number of members of a cluster.
    fn members(&self) -> f32 {
        self.clusters().permits() as f32 / self.clusters().count() as f32
    }

    /// The time in ticks after which a loop of `work` ticks counts as slow. Then the clusters that the loop has
    /// `invited` have other work, or the prediction was wrong. The time is at most `work`, since one thread alone would
    /// be done by then.
    pub(crate) fn slow_after(&self, invited: Invited, work: f32) -> f32 {
        let count = invited.clusters().len() as f32;
        let expected = work / (count * self.members()) + count * self.idle().cluster_cost();
        work.min(SLOW * expected)
    }
}
