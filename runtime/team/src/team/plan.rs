//! The division of an interval (the work of all ranks, the parts of a program, between two
//! barriers) among workers by McNaughton's wrap-around rule.

/// The place where a core's part begins, if the work of all ranks is laid end to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The core's first rank, as a place in the order of division.
    pub rank: usize,
    /// If not 0, the rank is shared: this core runs it first, for `budget` ticks, and the previous
    /// core runs the rest of it at the end.
    pub budget: u64,
}

impl Cut {
    const fn before(rank: usize) -> Self {
        Self { rank, budget: 0 }
    }

    /// Returns the work of a core, if its part begins at `self` and ends at `next`.
    #[cfg(test)]
    fn load(self, next: Self, work: &[u64], overhead: u64) -> u64 {
        let first = self.rank + usize::from(self.budget > 0);
        let whole: u64 = work[first..next.rank.max(first)].iter().sum();
        let tail = if next.budget > 0 {
            work[next.rank] + overhead - next.budget
        } else {
            0
        };
        self.budget + whole + tail
    }
}

/// Returns where the part of core `core` begins if ranks are divided evenly, in order.
pub fn even(ranks: usize, core: usize, cores: usize) -> Cut {
    Cut::before(ranks * core / cores)
}

/// The longest time that a core has to work if [`even`] divides the ranks.
pub(super) fn even_span(work: &[u64], cores: usize) -> u64 {
    let of = |core| even(work.len(), core, cores).rank..even(work.len(), core + 1, cores).rank;
    let load = |core| work[of(core)].iter().sum();
    (0..cores).map(load).max().unwrap_or(0)
}

/// The shortest possible time on `cores` cores if each rank runs on one core at a time (McNaughton,
/// Management Science 6, 1959).
pub(super) fn ideal_span(work: &[u64], cores: usize) -> u64 {
    let sum: u64 = work.iter().sum();
    let longest = work.iter().copied().max().unwrap_or(0);
    longest.max(sum.div_ceil(cores as u64))
}

/// The division of an interval among the cores.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    /// The ranks, in the order of division.
    pub(super) order: Vec<usize>,
    /// Where each core's part begins, and where the last part ends.
    pub(super) cuts: Vec<Cut>,
}

impl Plan {
    /// Plans for ranks with this work.
    ///
    /// A rank gets a core of its own if its work is at least the mean of the remaining work on the
    /// remaining cores. The interval ends when such a rank ends, so a cut of this rank, or another
    /// rank before it on its core, would only delay the end. The other ranks are wrapped around the
    /// other cores. Each of them fits there, usually with time to spare.
    ///
    /// No part of a rank is shorter than `least`. A cut rank takes `overhead` more on its first
    /// core.
    pub(super) fn make(&mut self, work: &[u64], cores: usize, least: u64, overhead: u64) {
        let Self { order, cuts } = self;
        order.clear();
        let (mut rest, mut free): (u64, usize) = (work.iter().sum(), cores);
        loop {
            let before = order.len();
            for (rank, &work) in work.iter().enumerate() {
                let long = work > 0 && u128::from(work) * free as u128 >= u128::from(rest);
                if long && free > 1 && !order.contains(&rank) {
                    order.push(rank);
                    (rest, free) = (rest - work, free - 1);
                }
            }
            if order.len() == before {
                break;
            }
        }
        // The order is by number, so that the same ranks stay on the same cores.
        order.sort_unstable();
        let alone = order.len();
        for rank in 0..work.len() {
            if order[..alone].binary_search(&rank).is_err() {
                order.push(rank);
            }
        }
        let others: Vec<u64> = order[alone..].iter().map(|&rank| work[rank]).collect();
        wrap(&others, free, least, overhead, cuts);
        for cut in cuts.iter_mut() {
            cut.rank += alone;
        }
        cuts.splice(0..0, (0..alone).map(Cut::before));
    }
}

/// Each core's share of the cost of the cuts, if there is a cut at each boundary between two cores.
/// It is rounded up, so that the last core does not get all remainders.
pub(super) fn shared(overhead: u64, cores: usize) -> u64 {
    (overhead * (cores as u64 - 1)).div_ceil(cores as u64)
}

/// Divides the work, in the order of ranks, into an ideal span for each core. There are at most
/// `cores - 1` cuts, and none that would make a part shorter than `least`. A cut rank takes
/// `overhead` more time, which the cores share.
///
/// `cuts` gets `cores + 1` entries. The last entry is the end.
fn wrap(work: &[u64], cores: usize, least: u64, overhead: u64, cuts: &mut Vec<Cut>) {
    let span = ideal_span(work, cores) + shared(overhead, cores);
    cuts.clear();
    cuts.push(Cut::before(0));
    // The rank at the boundary, and where it begins.
    let (mut rank, mut start) = (0, 0);
    for core in 1..cores {
        let boundary = span * core as u64;
        while rank < work.len() && start + work[rank] <= boundary {
            start += work[rank];
            rank += 1;
        }
        let cut = if rank == work.len() {
            Cut::before(rank)
        } else {
            let whole = work[rank] + overhead;
            let (tail, head) = (boundary - start, start + whole - boundary);
            // If the shorter part is too short, the other core gets it too.
            if tail.min(head) >= least.max(1) {
                Cut { rank, budget: head }
            } else if tail < head {
                Cut::before(rank)
            } else {
                Cut::before(rank + 1)
            }
        };
        // A rank that the previous core got as a whole may also contain this boundary.
        let last = cuts[core - 1];
        let cut = if cut.rank < last.rank { last } else { cut };
        if cut.budget > 0 {
            start += overhead;
        }
        cuts.push(cut);
    }
    cuts.push(Cut::before(work.len()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn wrapped(work: &[u64], cores: usize, least: u64) -> Vec<Cut> {
        let mut cuts = vec![];
        wrap(work, cores, least, 0, &mut cuts);
        cuts
    }

    #[test]
    fn sixteen_ranks_on_fifteen_cores_need_fourteen_cuts() {
        let cuts = wrapped(&[1_500; 16], 15, 1);
        // Each core has 1,600. Core 1 begins with the part of rank 1 from 1,600 to 3,000.
        assert_eq!(
            cuts[1],
            Cut {
                rank: 1,
                budget: 1_400
            }
        );
        assert_eq!(
            cuts[14],
            Cut {
                rank: 14,
                budget: 100
            }
        );
        assert_eq!(
            cuts[15],
            Cut {
                rank: 16,
                budget: 0
            }
        );
        let cut = cuts.iter().filter(|cut| cut.budget > 0).count();
        assert_eq!(cut, 14);
    }

    #[test]
    fn ranks_that_divide_evenly_are_not_cut() {
        for (ranks, cores) in [(4, 2), (16, 8), (9, 3), (5, 5), (2, 1)] {
            let cuts = wrapped(&vec![100; ranks], cores, 1);
            for (core, &cut) in cuts.iter().enumerate() {
                assert_eq!(cut, even(ranks, core, cores), "{ranks} on {cores}");
            }
        }
    }

    #[test]
    fn a_rank_longer_than_all_the_others() {
        let cuts = wrapped(&[10, 1_000, 10], 2, 1);
        assert_eq!(ideal_span(&[10, 1_000, 10], 2), 1_000);
        assert_eq!(
            cuts[1],
            Cut {
                rank: 1,
                budget: 10
            }
        );
    }

    #[test]
    fn cores_share_what_a_cut_costs() {
        let mut cuts = vec![];
        wrap(&[100; 3], 2, 20, 18, &mut cuts);
        // Core 1 begins rank 1 and does 41 of it in 59 ticks. Core 0 runs rank 0 and the other 59.
        let cut = Cut {
            rank: 1,
            budget: 59,
        };
        assert_eq!(cuts[1], cut);
        assert_eq!(cut.load(cuts[2], &[100; 3], 18), 159);
        assert_eq!(cuts[0].load(cut, &[100; 3], 18), 159);
    }

    #[test]
    fn the_last_core_has_no_more_work_than_the_others() {
        // Three cuts cost 1 tick each, and each of four cores has 100 ticks of work.
        let (mut cuts, work) = (vec![], [57, 93, 50, 80, 75, 45]);
        wrap(&work, 4, 1, 1, &mut cuts);
        let loads = cuts.windows(2).map(|pair| pair[0].load(pair[1], &work, 1));
        assert!(loads.eq([101, 101, 101, 100]));
    }

    #[test]
    fn short_parts_are_left_whole() {
        // The boundary is 5 after the beginning of rank 1. In the last two lines it is 5 before its
        // end.
        assert_eq!(wrapped(&[100, 20, 90], 2, 6)[1], Cut::before(1));
        assert_eq!(wrapped(&[90, 20, 100], 2, 6)[1], Cut::before(2));
        assert_eq!(wrapped(&[90, 20, 100], 2, 5)[1], Cut { rank: 1, budget: 5 });
    }

    #[test]
    fn long_ranks_have_cores_of_their_own() {
        let mut plan = Plan::default();
        // The mean is 230, and rank 1 is longer. Then the mean of the rest is 160, as long as rank
        // 3.
        plan.make(&[100, 440, 90, 160, 130], 4, 1, 0);
        assert_eq!(plan.order, [1, 3, 0, 2, 4]);
        let cut = Cut {
            rank: 3,
            budget: 30,
        };
        let cuts = [Cut::before(0), Cut::before(1), Cut::before(2), cut];
        assert_eq!(plan.cuts[..4], cuts);
        assert_eq!(plan.cuts[4], Cut::before(5));
    }

    #[test]
    fn equal_ranks_stay_in_order_and_ranks_without_work_have_no_core() {
        let mut plan = Plan::default();
        plan.make(&[100; 16], 15, 1, 0);
        assert!(plan.order.iter().copied().eq(0..16));
        assert_eq!(plan.cuts, wrapped(&[100; 16], 15, 1));
        plan.make(&[0; 3], 2, 1, 0);
        assert!(plan.order.iter().copied().eq(0..3));
    }

    proptest! {
        /// All work runs once. At most two cores run a rank, and not at the same time. A core has
        /// at most the ideal span and the short parts that it took over.
        #[test]
        fn the_bound_is_reached(
            work in prop::collection::vec(0_u64..10_000, 1..40),
            cores in 1_usize..20,
            least in prop_oneof![0_u64..4, 0_u64..100],
            overhead in prop_oneof![0_u64..4, 0_u64..100],
        ) {
            let cores = cores.min(work.len());
            let mut plan = Plan::default();
            // A part is not shorter than its overhead.
            let least = least.max(overhead);
            plan.make(&work, cores, least, overhead);
            let Plan { order, cuts } = plan;
            let span = ideal_span(&work, cores) + shared(overhead, cores);
            prop_assert_eq!(cuts.len(), cores + 1);
            let mut sorted = order.clone();
            sorted.sort_unstable();
            prop_assert!(sorted.into_iter().eq(0..work.len()));
            let work: Vec<u64> = order.iter().map(|&rank| work[rank]).collect();
            let mut sum = 0;
            for pair in cuts.windows(2) {
                let (this, next) = (pair[0], pair[1]);
                prop_assert!(this.rank <= next.rank);
                let load = this.load(next, &work, overhead);
                prop_assert!(load <= span + 2 * least);
                sum += load;
                if next.budget > 0 {
                    sum -= overhead;
                    prop_assert!(next.budget >= least && next.budget < work[next.rank] + overhead);
                    // The next core ends the rank's head before this core begins its tail.
                    let begins = load - (work[next.rank] + overhead - next.budget);
                    prop_assert!(next.budget <= begins + 2 * least);
                }
            }
            prop_assert_eq!(sum, work.iter().sum::<u64>());
        }
    }
}
