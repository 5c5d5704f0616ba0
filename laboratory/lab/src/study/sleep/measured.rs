//! The measurements, in the form of the journal (the file of measurements).

use super::cell::{Policy, SleepCell};
use crate::measure::disturbance;
use crate::measure::statistics::{Spread, median};
use crate::study::trial::CellRecord;
use crate::study::unit::Unit;
use manycore_chip::HotLine;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The measurements of a cell: a line of the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct MeasuredPolicies {
    pub(super) cell: SleepCell,
    pub(super) unit: Unit,
    /// Whether the cell was measured to its end, without ctrl-C.
    pub(super) complete: bool,
    /// The seconds that the cell took.
    pub(super) seconds: f64,
    pub(super) policies: Vec<PolicySamples>,
}

/// The runs with one sleep policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct PolicySamples {
    pub(super) policy: Policy,
    pub(super) runs: Vec<SleepSample>,
    /// The fingerprint of a simulation.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) hash: String,
    /// The effect of a simulation's runs on the lines of named objects.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) lines: Vec<Line>,
}

/// One run of an algorithm, in the cell's unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct SleepSample {
    /// The order of events of a simulated run (the seed of the machine's random delays), 0 if the machine runs as it is
    /// described.
    #[serde(default)]
    pub(super) order: u64,
    pub(super) time: f64,
    /// CPU time of all threads together.
    pub(super) cpu_time: f64,
    /// How long all threads together waited for a CPU that other threads used. Only native runs measure this.
    #[serde(default)]
    pub(super) waited: f64,
    /// How often a worker went to sleep. `wakeups` is how often a worker was woken.
    pub(super) sleeps: u64,
    pub(super) wakeups: u64,
    /// The number of lost wake-ups that the watchdog of a published policy found.
    pub(super) recovered: u64,
}

/// The effect of all runs together on the lines with the same named objects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Line {
    /// The objects, joined by `+`.
    pub(super) names: String,
    /// The number of these lines. If it differs between orders of events, the greatest number.
    pub(super) lines: usize,
    /// Reads that missed the reader's own caches.
    pub(super) reads: u64,
    pub(super) writes: u64,
    /// The number of times that another core became a line's owner.
    pub(super) transfers: u64,
}

impl MeasuredPolicies {
    /// A cell without runs.
    pub(super) fn new(cell: SleepCell, unit: Unit, policies: &[Policy]) -> Self {
        let samples = |policy: &Policy| PolicySamples {
            policy: policy.clone(),
            runs: Vec::new(),
            hash: String::new(),
            lines: Vec::new(),
        };
        Self {
            cell,
            unit,
            complete: false,
            seconds: 0.0,
            policies: policies.iter().map(samples).collect(),
        }
    }

    /// The samples of `policy`, if it has run.
    pub(super) fn of(&self, policy: &Policy) -> Option<&PolicySamples> {
        let mut all = self.policies.iter();
        all.find(|samples| samples.policy == *policy && !samples.runs.is_empty())
    }
}

impl CellRecord for MeasuredPolicies {
    type At = SleepCell;

    fn cell(&self) -> SleepCell {
        self.cell
    }

    fn weight(cell: SleepCell) -> f64 {
        cell.threads as f64
    }

    fn is_complete(&self) -> bool {
        self.complete
    }

    fn runs(&self) -> usize {
        let counts = self.policies.iter().map(|samples| samples.runs.len());
        counts.min().unwrap_or(0)
    }

    fn seconds(&self) -> f64 {
        self.seconds
    }

    fn hashes(&self) -> Vec<(String, String)> {
        let all = self.policies.iter();
        all.map(|samples| (samples.policy.to_string(), samples.hash.clone()))
            .collect()
    }
}

/// The measurements of each order of events.
pub(super) fn by_order(
    measured: &[MeasuredPolicies],
    orders: &[u64],
) -> Vec<Vec<MeasuredPolicies>> {
    let each = orders.iter();
    each.map(|&order| of_order(measured, order)).collect()
}

/// The runs of one order of events, without the cache lines and hashes, which belong to all orders.
fn of_order(measured: &[MeasuredPolicies], order: u64) -> Vec<MeasuredPolicies> {
    let of_policy = |samples: &PolicySamples| {
        let runs = samples.runs.iter().filter(|run| run.order == order);
        PolicySamples {
            policy: samples.policy.clone(),
            runs: runs.copied().collect(),
            hash: String::new(),
            lines: Vec::new(),
        }
    };
    let of_cell = |cell: &MeasuredPolicies| MeasuredPolicies {
        complete: cell.complete,
        policies: cell.policies.iter().map(of_policy).collect(),
        ..MeasuredPolicies::new(cell.cell, cell.unit, &[])
    };
    measured.iter().map(of_cell).collect()
}

impl PolicySamples {
    /// The spread of the times. There must be at least one run.
    pub(super) fn spread(&self) -> Spread {
        Spread::of(&self.times())
    }

    /// The median time. There must be at least one run.
    pub(super) fn time(&self) -> f64 {
        median(self.times())
    }

    /// The times for the spread: the median of each order of events or, with one order, the time of each run.
    /// The runs of a simulation follow each other under one order, so they say nothing about other orders.
    pub(super) fn times(&self) -> Vec<f64> {
        let runs = || self.runs.iter().map(|run| run.time);
        let orders: BTreeSet<u64> = self.runs.iter().map(|run| run.order).collect();
        match orders.len() {
            0 | 1 => runs().collect(),
            _ => orders
                .into_iter()
                .map(|order| self.time_of(order))
                .collect(),
        }
    }

    fn time_of(&self, order: u64) -> f64 {
        let runs = self.runs.iter().filter(|run| run.order == order);
        median(runs.map(|run| run.time))
    }

    /// A count of all runs together as a mean of each run. There must be at least one run.
    pub(super) fn a_run(&self, count: u64) -> f64 {
        count as f64 / self.runs.len() as f64
    }

    /// The median of what `of` returns for each run.
    pub(super) fn median(&self, of: impl Fn(&SleepSample) -> f64) -> f64 {
        median(self.runs.iter().map(of))
    }
}

impl Line {
    /// The events between two snapshots of the lines of named objects. Lines with equal names are added.
    pub(super) fn between(before: &[HotLine], after: &[HotLine]) -> Vec<Self> {
        let mut found: Vec<Self> = Vec::new();
        for line in after {
            let earlier = before.iter().find(|other| other.address == line.address);
            let since = |of: fn(&HotLine) -> u64| of(line) - earlier.map_or(0, of);
            let names = line.names.join("+");
            let known = found.iter().position(|known| known.names == names);
            let at = known.unwrap_or_else(|| {
                found.push(Self {
                    names,
                    ..Self::default()
                });
                found.len() - 1
            });
            let sum = &mut found[at];
            sum.lines += 1;
            sum.reads += since(|line| line.reads);
            sum.writes += since(|line| line.writes);
            sum.transfers += since(|line| line.transfers);
        }
        found
    }

    /// The sums of several orders of events, by names.
    pub(super) fn sums<'a>(all: impl Iterator<Item = &'a Self>) -> Vec<Self> {
        let mut sums: Vec<Self> = Vec::new();
        for line in all {
            match sums.iter_mut().find(|sum| sum.names == line.names) {
                Some(sum) => {
                    sum.lines = sum.lines.max(line.lines);
                    sum.reads += line.reads;
                    sum.writes += line.writes;
                    sum.transfers += line.transfers;
                }
                None => sums.push(line.clone()),
            }
        }
        sums
    }
}

/// Returns a warning if the machine was busy. `cpus` is the number of CPUs that the threads may use.
pub(super) fn disturbance(measured: &[MeasuredPolicies], cpus: usize) -> Option<String> {
    let (mut waited, mut time) = (0.0, 0.0);
    // In cells with more threads than CPUs, threads wait for each other in any case.
    for cell in measured.iter().filter(|cell| cell.cell.threads <= cpus) {
        for run in cell.policies.iter().flat_map(|samples| &samples.runs) {
            waited += run.waited;
            time += run.time * cell.cell.threads as f64;
        }
    }
    disturbance::warning(waited / time)
}

#[cfg(test)]
mod tests {
    use super::super::synthetic;
    use super::*;

    #[test]
    fn each_order_counts_once() {
        let mut measured = synthetic::measured(&[("packed", 4, 10.0)]);
        let runs = &mut measured[0].policies[0].runs;
        // Three runs of order 1, and one run of order 2.
        runs.push(SleepSample {
            order: 2,
            time: 30.0,
            ..runs[0]
        });
        runs[..3].iter_mut().for_each(|run| run.order = 1);
        runs[2].time = 11.0;
        let samples = &measured[0].policies[0];
        assert_eq!((samples.times(), samples.time()), (vec![10.0, 30.0], 20.0));
        let second = of_order(&measured, 2);
        assert_eq!(second[0].policies[0].times(), [30.0]);
    }

    #[test]
    fn lines_with_equal_names_are_added_from_the_first_snapshot_on() {
        let line = |address, name: &str, reads, writes, transfers| HotLine {
            address,
            names: vec![name.into(), "x".into()],
            reads,
            writes,
            transfers,
            ..HotLine::default()
        };
        let before = [line(0, "a", 1, 2, 3)];
        let after = [
            line(0, "a", 11, 22, 33),
            line(64, "b", 1, 1, 1),
            line(128, "a", 5, 6, 7),
        ];
        let expected = |names: &str, lines, reads, writes, transfers| Line {
            names: names.into(),
            lines,
            reads,
            writes,
            transfers,
        };
        assert_eq!(
            Line::between(&before, &after),
            [expected("a+x", 2, 15, 26, 37), expected("b+x", 1, 1, 1, 1)]
        );
    }
}
