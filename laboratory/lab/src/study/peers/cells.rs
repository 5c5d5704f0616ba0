//! The measurements of each cell. A cell is a machine, a number of threads, a program and a runtime.

use super::case::PeersCase;
use super::config::PeersConfig;
use super::peer::{OURS, Peer, SERIAL};
use super::sample::PeersSample;
use crate::measure::journal::fingerprint;
use crate::measure::ratio::Ratio;
use crate::measure::statistics::median;
use crate::study::trial::{Results, Runs};
use std::collections::HashMap;

/// The pause of a program before each call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gap {
    /// No pause.
    Hot,
    /// 1 ms without work.
    Millisecond,
}

impl Gap {
    pub(super) const ALL: [Self; 2] = [Self::Hot, Self::Millisecond];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Hot => "none",
            Self::Millisecond => "1 ms",
        }
    }

    /// The times of a run's calls, in us.
    fn calls(self, sample: &PeersSample) -> impl Iterator<Item = f64> {
        let calls = match self {
            Self::Hot => &sample.steady,
            Self::Millisecond => &sample.gap,
        };
        calls.iter().map(|&ns| ns as f64 / 1e3)
    }

    /// The median time of a run's calls, in us.
    fn of(self, sample: &PeersSample) -> Option<f64> {
        let calls: Vec<f64> = self.calls(sample).collect();
        (!calls.is_empty()).then(|| median(calls))
    }
}

/// All calls of a cell, of all orders together.
pub(super) struct Calls {
    us: Vec<f64>,
}

impl Calls {
    pub(super) const fn count(&self) -> usize {
        self.us.len()
    }

    pub(super) fn median(&self) -> f64 {
        median(self.us.iter().copied())
    }

    pub(super) fn mean(&self) -> f64 {
        self.us.iter().sum::<f64>() / self.us.len() as f64
    }

    pub(super) fn longest(&self) -> f64 {
        self.us.iter().copied().fold(0.0, f64::max)
    }

    /// The number of calls that took longer than this time, in us.
    pub(super) fn above(&self, us: f64) -> usize {
        self.us.iter().filter(|&&call| call > us).count()
    }
}

/// A machine's number, a number of threads, and a program.
pub(super) type Place<'a> = (usize, usize, &'a str);

/// The runs of all cells.
pub(super) struct Cells<'a>(HashMap<(usize, usize, &'a str, &'a str), Vec<&'a Runs<PeersCase>>>);

impl<'a> Cells<'a> {
    pub(super) fn new(results: Results<'a, PeersConfig>) -> Self {
        let mut cells: HashMap<_, Vec<_>> = HashMap::new();
        for runs in results.measured {
            let case = &runs.trial;
            let key = (case.machine, case.threads, &*case.program, &*case.peer);
            cells.entry(key).or_default().push(runs);
        }
        Self(cells)
    }

    /// The runs of a cell, one record for each order (a seed of the machine's perturbation).
    fn runs(&self, (machine, threads, program): Place<'_>, peer: &str) -> Vec<&'a Runs<PeersCase>> {
        // The serial program has a single thread.
        let threads = if peer == SERIAL { 1 } else { threads };
        let runs = self.0.get(&(machine, threads, program, peer));
        runs.cloned().unwrap_or_default()
    }

    /// The sample of each run, with the run's order and round. A simulated run has one round, and a native run has one
    /// order.
    fn samples(
        &self,
        place: Place<'_>,
        peer: &str,
    ) -> impl Iterator<Item = ((u64, usize), &'a PeersSample)> {
        let samples = |runs: &'a Runs<PeersCase>| {
            let order = runs.trial.order;
            let outcomes = runs.outcomes.iter().enumerate();
            outcomes.map(move |(round, sample)| ((order, round), sample))
        };
        self.runs(place, peer).into_iter().flat_map(samples)
    }

    /// As [`samples`](Self::samples), for runs that succeeded.
    fn right(
        &self,
        place: Place<'_>,
        peer: &str,
    ) -> impl Iterator<Item = ((u64, usize), &'a PeersSample)> {
        self.samples(place, peer)
            .filter(|(_, sample)| sample.reason.is_none())
    }

    /// The number of runs that succeeded.
    pub(super) fn successes(&self, place: Place<'_>, peer: &str) -> usize {
        self.right(place, peer).count()
    }

    /// The median of the runs' medians, in us. Returns `None` if a run failed.
    pub(super) fn time(&self, place: Place<'_>, peer: &str, gap: Gap) -> Option<f64> {
        let times = self.right(place, peer);
        let times: Vec<f64> = times.filter_map(|(_, sample)| gap.of(sample)).collect();
        let whole = times.len() == self.samples(place, peer).count() && !times.is_empty();
        whole.then(|| median(times))
    }

    /// All calls of the cell's runs. Returns `None` if no run has made a call.
    pub(super) fn calls(&self, place: Place<'_>, peer: &str, gap: Gap) -> Option<Calls> {
        let runs = self.right(place, peer);
        let us: Vec<f64> = runs.flat_map(|(_, sample)| gap.calls(sample)).collect();
        (!us.is_empty()).then_some(Calls { us })
    }

    /// The sum of the first calls in a run, in us. Returns the median over the runs.
    pub(super) fn first(&self, place: Place<'_>, peer: &str) -> Option<f64> {
        let sums = self.right(place, peer);
        let sums: Vec<f64> = sums
            .map(|(_, sample)| sample.first.iter().sum::<u64>() as f64 / 1e3)
            .collect();
        (!sums.is_empty()).then(|| median(sums))
    }

    /// The sum of the first ten calls, divided by ten times the steady time.
    pub(super) fn first_over_steady(&self, place: Place<'_>, peer: &str) -> Option<f64> {
        let steady = self.time(place, peer, Gap::Hot)?;
        Some(self.first(place, peer)? / (10.0 * steady))
    }

    /// The time of manycore divided by the time of the peer, in pairs of runs of the same order and round.
    pub(super) fn ratio(&self, place: Place<'_>, peer: &str, gap: Gap) -> Option<Ratio> {
        self.over((place, OURS), (place, peer), gap)
    }

    /// The time of one cell divided by the time of another, in pairs of runs of the same order and round.
    pub(super) fn over(
        &self,
        (place, peer): (Place<'_>, &str),
        other: (Place<'_>, &str),
        gap: Gap,
    ) -> Option<Ratio> {
        let others: Vec<_> = self.right(other.0, other.1).collect();
        let pairs = self.right(place, peer).filter_map(|(run, sample)| {
            let same = others.iter().find(|(other, _)| *other == run)?;
            Some((gap.of(sample)?, gap.of(same.1)?))
        });
        Ratio::of(&pairs.collect::<Vec<_>>())
    }

    /// The fastest peer, with its time in us.
    pub(super) fn best(
        &self,
        place: Place<'_>,
        peers: &'a [String],
        gap: Gap,
    ) -> Option<(&'a str, f64)> {
        let peers = peers.iter().filter(|peer| Peer::is_peer(peer));
        let times = peers.filter_map(|peer| Some((&**peer, self.time(place, peer, gap)?)));
        times.min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// The reason of the cell's first failed run.
    pub(super) fn reason(&self, place: Place<'_>, peer: &str) -> Option<&'a str> {
        self.samples(place, peer)
            .find_map(|(_, sample)| sample.reason.as_deref())
    }

    /// One fingerprint of all simulations of the cell.
    pub(super) fn hash(&self, place: Place<'_>, peer: &str) -> String {
        match &*self.runs(place, peer) {
            [] => String::new(),
            [one] => one.hash().to_owned(),
            all => {
                let hashes: Vec<&str> = all.iter().map(|runs| runs.hash()).collect();
                fingerprint(&hashes.join(" "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rare_slow_call_changes_the_mean_and_not_the_median() {
        let calls = Calls {
            us: [[2.0; 9].as_slice(), &[82.0]].concat(),
        };
        let found = [calls.median(), calls.mean(), calls.longest()];
        assert_eq!(found, [2.0, 10.0, 82.0]);
        assert_eq!((calls.above(4.0), calls.count()), (1, 10));
    }
}
