//! Clusters: sets of near permits of a pool. If all threads shared one cache line, the launch of a loop would transfer
//! that line for each thread.
//!
//! Instead, each cluster has its own lines. The caller announces a loop once in each cluster that it invites. Helpers
//! count themselves in and out at their cluster's gate. One word for each cluster says which of its members hold
//! iterations. So a line crosses the chip once for each cluster, and otherwise moves only between the cluster's cores.
//! In one core group, a pool of up to [`LEAST`] threads has one cluster.

use std::ops::Range;

/// The most members of a cluster in a pool of up to `LEAST` * `LEAST` threads. It is 2 in tests, so that few threads
/// make several clusters.
const LEAST: usize = if cfg!(test) { 2 } else { 8 };
/// The most members of any cluster. One word holds two bits for each member.
pub(crate) const MOST: usize = 32;

/// The clusters of a pool's permits.
pub(crate) struct Clusters {
    /// The place of each permit.
    members: Box<[Member]>,
    /// The permits, cluster by cluster, in ascending order within a cluster.
    permits: Box<[usize]>,
    /// The start of each cluster in `permits`, and then the number of permits.
    starts: Box<[usize]>,
}

/// The place of a permit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) cluster: u32,
    /// The permit's number in the cluster.
    pub(crate) number: u32,
}

/// The clusters that a loop invites: `count` neighbours, from `first` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Invited {
    first: u32,
    count: u32,
}

impl Invited {
    /// The numbers of the clusters.
    #[inline]
    pub(crate) fn clusters(self) -> Range<usize> {
        self.first as usize..(self.first + self.count) as usize
    }

    /// Whether there is only one cluster.
    #[inline]
    pub(crate) fn is_one(self) -> bool {
        self.count == 1
    }

    pub(crate) fn only(cluster: usize) -> Self {
        Self {
            first: cluster as u32,
            count: 1,
        }
    }
}

impl Clusters {
    /// Makes the clusters of permits. `groups` has the core group of each permit.
    ///
    /// A launch reaches the clusters, and then the members of each. Both steps together are shortest if there are as
    /// many clusters as members in each. So the largest clusters have the square root of the number of permits as
    /// members, rounded down to a power of two, within [`LEAST`] and [`MOST`]. A larger core group is cut into equal
    /// parts. Neighbouring core groups with much fewer of the pool's threads share a cluster.
    pub(crate) fn new(groups: &[u32]) -> Self {
        Self::of_at_least(LEAST, groups)
    }

    fn of_at_least(least: usize, groups: &[u32]) -> Self {
        let most = 1 << groups.len().isqrt().clamp(least, MOST).ilog2();
        // Group by group. No sort of the standard library is used here: it is compiled for each type, and its code
        // would be a large part of a small program's.
        let mut permits: Vec<usize> = Vec::with_capacity(groups.len());
        let mut next = groups.iter().min();
        while let Some(group) = next {
            permits.extend((0..groups.len()).filter(|&permit| groups[permit] == *group));
            next = groups.iter().filter(|&other| other > group).min();
        }
        let mut starts = vec![0];
        for group in permits.chunk_by(|&a, &b| groups[a] == groups[b]) {
            let parts = group.len().div_ceil(most);
            for part in 0..parts {
                let length = group.len() / parts + usize::from(part < group.len() % parts);
                let end = starts[starts.len() - 1] + length;
                // If the last cluster is small and has room, it takes in this part.
                match starts[..] {
                    [.., before, last] if last - before < most / 2 && end - before <= most => {
                        *starts.last_mut().expect("there are two starts") = end;
                    }
                    _ => starts.push(end),
                }
            }
        }
        let mut members = vec![Member::default(); groups.len()];
        for (cluster, ends) in starts.windows(2).enumerate() {
            for &permit in &permits[ends[0]..ends[1]] {
                members[permit].cluster = cluster as u32;
            }
        }
        // The members of a cluster are in rising order.
        let mut counts = vec![0; starts.len() - 1];
        for (permit, member) in members.iter_mut().enumerate() {
            let cluster = member.cluster as usize;
            member.number = counts[cluster];
            permits[starts[cluster] + member.number as usize] = permit;
            counts[cluster] += 1;
        }
        Self {
            members: members.into(),
            permits: permits.into(),
            starts: starts.into(),
        }
    }

    #[inline]
    pub(crate) fn count(&self) -> usize {
        self.starts.len() - 1
    }

    #[inline]
    pub(crate) fn permits(&self) -> usize {
        self.members.len()
    }

    #[inline]
    pub(crate) fn of(&self, permit: usize) -> Member {
        self.members[permit]
    }

    /// The permits in `cluster`, in ascending order.
    #[inline]
    pub(crate) fn members(&self, cluster: usize) -> &[usize] {
        &self.permits[self.starts[cluster]..self.starts[cluster + 1]]
    }

    /// How many of the permits below `allowed` are in the clusters `invited`.
    #[inline]
    pub(crate) fn allowed(&self, invited: Range<usize>, allowed: usize) -> usize {
        if allowed >= self.permits() {
            return self.starts[invited.end] - self.starts[invited.start];
        }
        let below = |cluster| {
            self.members(cluster)
                .partition_point(|&permit| permit < allowed)
        };
        invited.map(below).sum()
    }

    /// The clusters before and after the `invited` clusters.
    pub(crate) fn others(&self, invited: Invited) -> [Invited; 2] {
        let after = invited.first + invited.count;
        let count = self.count() as u32 - after;
        let before = Invited {
            first: 0,
            count: invited.first,
        };
        let after = Invited {
            first: after,
            count,
        };
        [before, after]
    }

    #[inline]
    pub(crate) fn all(&self) -> Invited {
        Invited {
            first: 0,
            count: self.count() as u32,
        }
    }

    /// `count` clusters, including the cluster of `permit`. Loops of near callers invite the same clusters.
    pub(crate) fn around(&self, permit: usize, count: usize) -> Invited {
        let all = self.count();
        let count = count.clamp(1, all);
        let own = self.of(permit).cluster as usize;
        let first = (own / count * count).min(all - count);
        Invited {
            first: first as u32,
            count: count as u32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sizes(groups: &[u32]) -> Vec<usize> {
        let clusters = Clusters::of_at_least(8, groups);
        (0..clusters.count())
            .map(|cluster| clusters.members(cluster).len())
            .collect()
    }

    #[test]
    fn clusters_of_common_machines() {
        assert_eq!(sizes(&[0]), [1]);
        assert_eq!(sizes(&[0; 8]), [8]);
        // Two chiplets of four. Then one thread in each of two sockets.
        assert_eq!(sizes(&[0, 0, 0, 0, 1, 1, 1, 1]), [4, 4]);
        assert_eq!(sizes(&[0, 1]), [2]);
        // Twelve chiplets of 8, a mesh of 64, two sockets of 52, and a mesh of 1,024.
        let chiplets: Vec<u32> = (0..96).map(|core| core / 8).collect();
        assert_eq!(sizes(&chiplets), [8; 12]);
        assert_eq!(sizes(&[0; 64]), [8; 8]);
        let sockets: Vec<u32> = (0..104).map(|core| core / 52).collect();
        assert_eq!(sizes(&sockets)[..7], [8, 8, 8, 7, 7, 7, 7]);
        assert_eq!(sizes(&[0; 1024]), [32; 32]);
    }

    proptest! {
        #[test]
        fn each_permit_is_in_one_cluster(groups in prop::collection::vec(0..9_u32, 1..300)) {
            let clusters = Clusters::new(&groups);
            let mut seen = vec![0; groups.len()];
            for cluster in 0..clusters.count() {
                let members = clusters.members(cluster);
                prop_assert!((1..=MOST).contains(&members.len()));
                prop_assert!(members.is_sorted());
                for (number, &permit) in members.iter().enumerate() {
                    seen[permit] += 1;
                    let place = Member { cluster: cluster as u32, number: number as u32 };
                    prop_assert_eq!(clusters.of(permit), place);
                }
            }
            prop_assert!(seen.iter().all(|&times| times == 1));
        }

        #[test]
        fn the_invited_clusters_are_counted_and_include_the_callers(
            groups in prop::collection::vec(0..9_u32, 1..300),
            permit: prop::sample::Index,
            count in 1..40_usize,
        ) {
            let clusters = Clusters::new(&groups);
            let permit = permit.index(groups.len());
            let invited = clusters.around(permit, count).clusters();
            prop_assert_eq!(invited.len(), count.min(clusters.count()));
            prop_assert!(invited.contains(&(clusters.of(permit).cluster as usize)));
            prop_assert!(invited.end <= clusters.count());
            let [before, after] = clusters.others(clusters.around(permit, count));
            let all = before.clusters().chain(invited.clone()).chain(after.clusters());
            prop_assert!(all.eq(0..clusters.count()));
            let all = clusters.allowed(invited.clone(), groups.len());
            let some = clusters.allowed(invited.clone(), groups.len() - 1);
            let last = clusters.of(groups.len() - 1).cluster as usize;
            prop_assert_eq!(all - some, usize::from(invited.contains(&last)));
        }
    }
}
