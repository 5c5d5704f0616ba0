//! Speedups, and how much longer a policy takes than the baseline.
//!
//! A speedup is a time on one thread divided by a time on several threads. Its meaning depends on the choice of the
//! single-thread time. If all policies use the fastest single-thread time, speedups order policies as their times do.
//! If each policy uses its own time, a speedup hides the policy's cost or gain on one thread.

use super::cell::Policy;
use super::measured::MeasuredPolicies;
use crate::measure::ratio::Ratio;
use crate::measure::statistics::geometric_mean;
use manycore_programs::fork::Algorithm;

/// The time of a policy divided by the time of another policy, minus one. A number below zero means that the policy is
/// faster.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Delta {
    /// Computed from times, or equally from speedups over a common single-thread time.
    pub(super) time: f64,
    /// Computed from speedups over each policy's own single-thread time.
    pub(super) own: f64,
}

/// The times on several threads and on one thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    pub(super) several: f64,
    pub(super) one: f64,
}

impl Delta {
    pub(super) fn new(times: Times, base: Times) -> Self {
        let time = times.several / base.several;
        Self {
            time: time - 1.0,
            own: time * base.one / times.one - 1.0,
        }
    }
}

/// The cell of an algorithm and a number of threads.
pub(super) fn cell(
    measured: &[MeasuredPolicies],
    algorithm: Algorithm,
    threads: usize,
) -> Option<&MeasuredPolicies> {
    let mut all = measured.iter();
    all.find(|cell| cell.cell.algorithm == algorithm && cell.cell.threads == threads)
}

/// The policy's median time on `threads`.
pub(super) fn time(
    measured: &[MeasuredPolicies],
    algorithm: Algorithm,
    policy: &Policy,
    threads: usize,
) -> Option<f64> {
    let samples = cell(measured, algorithm, threads)?.of(policy)?;
    Some(samples.time())
}

/// The fastest median time of any policy on one thread.
pub(super) fn fastest_single(measured: &[MeasuredPolicies], algorithm: Algorithm) -> Option<f64> {
    let all = cell(measured, algorithm, 1)?.policies.iter();
    let run = all.filter(|samples| !samples.runs.is_empty());
    run.map(|samples| samples.time()).min_by(f64::total_cmp)
}

/// The geometric mean over orders of events of a ratio that `of` finds in the measurements of one order. With several
/// orders it has a 95% interval. Both times of a ratio come from the same order.
fn over(
    orders: &[Vec<MeasuredPolicies>],
    of: impl Fn(&[MeasuredPolicies]) -> Option<f64>,
) -> Option<Ratio> {
    let ratios = orders.iter().map(|measured| Some((of(measured)?, 1.0)));
    Ratio::of(&ratios.collect::<Option<Vec<_>>>()?)
}

/// The single-thread time that a speedup is relative to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Single {
    /// The fastest of any policy.
    Fastest,
    /// The policy's own.
    Own,
}

/// The speedup of `policy` on `threads`.
pub(super) fn speedup(
    orders: &[Vec<MeasuredPolicies>],
    algorithm: Algorithm,
    policy: &Policy,
    threads: usize,
    over_single: Single,
) -> Option<Ratio> {
    over(orders, |measured| {
        let single = match over_single {
            Single::Fastest => fastest_single(measured, algorithm)?,
            Single::Own => time(measured, algorithm, policy, 1)?,
        };
        Some(single / time(measured, algorithm, policy, threads)?)
    })
}

/// How much longer `policy` takes than `packed` of the same mode.
pub(super) fn change(
    orders: &[Vec<MeasuredPolicies>],
    algorithm: Algorithm,
    policy: &Policy,
    threads: usize,
) -> Option<Delta> {
    let own = |policy| Some(speedup(orders, algorithm, policy, threads, Single::Own)?.mean);
    Some(Delta {
        time: to_packed(orders, &[algorithm], policy, threads)?.mean - 1.0,
        own: own(&policy.base())? / own(policy)? - 1.0,
    })
}

/// The time of `policy` divided by the time of `packed` in the same mode: a geometric mean over algorithms. Returns
/// `None` if an algorithm lacks one of the times.
pub(super) fn to_packed(
    orders: &[Vec<MeasuredPolicies>],
    algorithms: &[Algorithm],
    policy: &Policy,
    threads: usize,
) -> Option<Ratio> {
    let base = policy.base();
    over(orders, |measured| {
        let time = |algorithm, policy| time(measured, algorithm, policy, threads);
        let ratio = |&algorithm| Some(time(algorithm, policy)? / time(algorithm, &base)?);
        let ratios: Vec<f64> = algorithms.iter().map(ratio).collect::<Option<_>>()?;
        Some(geometric_mean(ratios))
    })
}

/// The geometric mean over algorithms of a policy's speedup over the fastest single-thread time.
pub(super) fn mean_speedup(
    orders: &[Vec<MeasuredPolicies>],
    algorithms: &[Algorithm],
    policy: &Policy,
    threads: usize,
) -> Option<f64> {
    let fastest = Single::Fastest;
    let speedup = |&algorithm| Some(speedup(orders, algorithm, policy, threads, fastest)?.mean);
    let speedups: Vec<f64> = algorithms.iter().map(speedup).collect::<Option<_>>()?;
    Some(geometric_mean(speedups))
}

#[cfg(test)]
mod tests {
    use super::super::measured::by_order;
    use super::super::synthetic;
    use super::*;
    use manycore_programs::sleep::Mode;

    fn policy(name: &str) -> Policy {
        Policy {
            name: name.into(),
            mode: Mode::Sound,
        }
    }

    #[test]
    fn the_two_baselines_can_disagree() {
        // `split` is as fast as `packed` on 4 threads, and a fifth slower on one. Relative to its own single-thread
        // time it seems to gain.
        let measured = synthetic::measured(&[
            ("packed", 1, 100.0),
            ("packed", 4, 30.0),
            ("split", 1, 120.0),
            ("split", 4, 30.0),
        ]);
        let life = Algorithm::Life;
        let orders = by_order(&measured, &[0]);
        let delta = change(&orders, life, &policy("split"), 4).unwrap();
        assert!(delta.time.abs() < 1e-12, "{delta:?}");
        assert!(
            (delta.own - (100.0 / 120.0 - 1.0)).abs() < 1e-12,
            "{delta:?}"
        );
        assert_eq!(fastest_single(&measured, life), Some(100.0));
        let mean = mean_speedup(&orders, &[life], &policy("split"), 4).unwrap();
        assert!((mean - 100.0 / 30.0).abs() < 1e-12);
        assert_eq!(mean_speedup(&orders, &[life], &policy("split"), 8), None);
    }

    /// Each order is a synthetic measurement of one thread and of four, with `packed` and `split`.
    fn ordered(times: &[[f64; 4]]) -> Vec<Vec<MeasuredPolicies>> {
        let measured = times.iter().map(|&[one, four, split_one, split_four]| {
            synthetic::measured(&[
                ("packed", 1, one),
                ("packed", 4, four),
                ("split", 1, split_one),
                ("split", 4, split_four),
            ])
        });
        measured.collect()
    }

    #[test]
    fn an_order_that_changes_all_times_alike_changes_no_ratio() {
        let factors = [1.0, 3.0, 0.2];
        let orders = ordered(&factors.map(|by| [100.0, 30.0, 120.0, 24.0].map(|time| by * time)));
        let (life, split) = (Algorithm::Life, policy("split"));
        let point = |ratio: Option<Ratio>, expected: f64| {
            let ratio = ratio.unwrap();
            assert!((ratio.mean - expected).abs() < 1e-9, "{ratio:?}");
            let [low, high] = ratio.interval.unwrap();
            assert!(high - low < 1e-9, "{ratio:?}");
        };
        let over = |single| speedup(&orders, life, &split, 4, single);
        point(over(Single::Fastest), 100.0 / 24.0);
        point(over(Single::Own), 5.0);
        point(to_packed(&orders, &[life], &split, 4), 0.8);
    }

    #[test]
    fn a_mean_is_within_its_interval() {
        // The medians of the times, 100 and 30, have another ratio than each order.
        let times = [[100.0, 50.0], [100.0, 30.0], [400.0, 10.0]];
        let orders = ordered(&times.map(|[one, four]| [one, four, 2.0 * one, four]));
        let (life, split) = (Algorithm::Life, policy("split"));
        let ratio = speedup(&orders, life, &split, 4, Single::Fastest).unwrap();
        let expected = (2.0_f64 * (10.0 / 3.0) * 40.0).cbrt();
        assert!((ratio.mean - expected).abs() < 1e-9, "{ratio:?}");
        let [low, high] = ratio.interval.unwrap();
        assert!(low < ratio.mean && ratio.mean < high, "{ratio:?}");
        let mean = mean_speedup(&orders, &[life], &split, 4).unwrap();
        assert!((mean - expected).abs() < 1e-9, "{mean}");
    }
}
