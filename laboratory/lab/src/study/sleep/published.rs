//! The raw times of the document (Fontena's experiment) of July 2022, analysed again.

use super::cell::Policy;
use super::speedup::{Delta, Times};
use manycore_figure::Value;
use manycore_programs::fork::Algorithm;
use serde::Deserialize;

/// J. D. S. Fontena, 12 July 2022; see `data/README.md`.
const TIMES: &str = include_str!("../../../data/sleep_counters_july2022.csv");

/// The median time of 30 runs, and the range of the middle 80% of them.
#[derive(Clone, Debug, Deserialize)]
struct Time {
    algorithm: String,
    policy: String,
    threads: usize,
    wall_us_median: f64,
    wall_us_p10: f64,
    wall_us_p90: f64,
}

/// Times of rayon's branches on the machine of the document.
pub(super) struct Published(Vec<Time>);

impl Published {
    pub(super) fn load() -> anyhow::Result<Self> {
        let mut reader = csv::Reader::from_reader(TIMES.as_bytes());
        let times = reader.deserialize().collect::<Result<_, _>>()?;
        Ok(Self(times))
    }

    /// The gain of a policy over rayon's master on `threads` threads.
    pub(super) fn delta(
        &self,
        algorithm: Algorithm,
        policy: &Policy,
        threads: usize,
    ) -> Option<Delta> {
        let algorithm = name_of(algorithm)?;
        let times = |policy: &str| {
            let on = |threads| Some(self.time(algorithm, policy, threads)?.wall_us_median);
            Some(Times {
                several: on(threads)?,
                one: on(1)?,
            })
        };
        Some(Delta::new(times(branch(&policy.name)?)?, times("master")?))
    }

    /// The speedup of a policy on `threads` threads over the fastest branch on one thread.
    pub(super) fn speedup(
        &self,
        algorithm: Algorithm,
        policy: &Policy,
        threads: usize,
    ) -> Option<f64> {
        Some(self.speedups(algorithm, policy, threads)?.at)
    }

    /// As [`speedup`](Self::speedup), with its range of the middle 80% of the runs.
    pub(super) fn speedups(
        &self,
        algorithm: Algorithm,
        policy: &Policy,
        threads: usize,
    ) -> Option<Value> {
        let algorithm = name_of(algorithm)?;
        let single = self.0.iter().filter(|time| time.algorithm == algorithm);
        let single = single.filter(|time| time.threads == 1);
        let fastest = single
            .map(|time| time.wall_us_median)
            .min_by(f64::total_cmp)?;
        let time = self.time(algorithm, branch(&policy.name)?, threads)?;
        Some(Value {
            at: fastest / time.wall_us_median,
            low: fastest / time.wall_us_p90,
            high: fastest / time.wall_us_p10,
        })
    }

    fn time(&self, algorithm: &str, policy: &str, threads: usize) -> Option<&Time> {
        let mut all = self.0.iter();
        all.find(|time| {
            (&*time.algorithm, &*time.policy, time.threads) == (algorithm, policy, threads)
        })
    }
}

/// The algorithm's name in the data.
fn name_of(algorithm: Algorithm) -> Option<&'static str> {
    match algorithm {
        Algorithm::Life => Some("Life - parallel iterators generation"),
        Algorithm::NBodyIterator => Some("NBody parallel iterator"),
        Algorithm::NBodyReduce => Some("NBody parallel reduce"),
        Algorithm::Tsp => Some("Travelling Salesman Problem"),
        Algorithm::MergeSort => Some("MergeSort"),
        Algorithm::QuickSort => Some("QuickSort"),
        Algorithm::FrogJump => Some("FrogJump"),
        _ => None,
    }
}

/// The branch of rayon that implements a policy.
pub(super) fn branch(policy: &str) -> Option<&'static str> {
    match policy {
        "packed" => Some("master"),
        "split" => Some("split-counters"),
        "split-padded" => Some("split-counters-cache-padded"),
        "split-sleepers-padded" => Some("split-counters-sleepers-only-cache-padded"),
        "nojec" => Some("split-counters-no-jec"),
        "nojec-padded" => Some("split-counters-no-jec-cache-padded"),
        "nojec-sleepers" => Some("split-counters-no-jec-sleepers-only"),
        "nojec-sleepers-padded" => Some("split-counters-no-jec-sleepers-only-cache-padded"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use manycore_programs::sleep::Mode;

    /// The expected numbers come from another program's analysis of the same times.
    #[test]
    fn the_medians_have_the_gains_of_the_other_analysis() {
        let published = Published::load().unwrap();
        let delta = |algorithm, policy: &str| {
            let policy = Policy {
                name: policy.into(),
                mode: Mode::AsPublished,
            };
            published.delta(algorithm, &policy, 32).unwrap()
        };
        let percent = |delta: f64| (delta * 1000.0).round() / 10.0;
        for (algorithm, policy, expected) in [
            (Algorithm::Life, "split-sleepers-padded", -40.4),
            (Algorithm::Life, "nojec-sleepers-padded", -42.5),
            (Algorithm::Life, "split-padded", 3.0),
            (Algorithm::NBodyIterator, "nojec-sleepers-padded", -2.5),
            (Algorithm::MergeSort, "nojec-padded", -16.8),
            (Algorithm::QuickSort, "nojec-sleepers", 3.6),
            (Algorithm::FrogJump, "packed", 0.0),
            (Algorithm::NBodyReduce, "nojec-sleepers-padded", -36.2),
            (Algorithm::Tsp, "nojec-sleepers-padded", 1.9),
        ] {
            let found = percent(delta(algorithm, policy).time);
            assert_eq!(found, expected, "{algorithm}, {policy}");
        }
        let packed = Policy {
            name: "packed".into(),
            mode: Mode::Sound,
        };
        let speedup = published
            .speedup(Algorithm::QuickSort, &packed, 32)
            .unwrap();
        assert!((speedup - 6.58).abs() < 0.01, "{speedup}");
        // Most of MergeSort's 17% is gained on one thread already.
        let own = delta(Algorithm::MergeSort, "nojec-padded").own;
        assert!((-0.08..0.0).contains(&own), "{own}");
    }

    #[test]
    fn every_branch_is_a_policy() {
        let published = Published::load().unwrap();
        for name in published.0.iter().map(|time| &time.policy) {
            let mut policies = Policy::names().into_iter();
            assert!(
                policies.any(|policy| branch(policy) == Some(name)),
                "{name}"
            );
        }
    }
}
