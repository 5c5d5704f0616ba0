//! The numbers, with a row for each observation.

use super::config::SleepConfig;
use super::measured::{Line, MeasuredPolicies, PolicySamples};
use super::speedup::{self, Single};
use crate::measure::ratio::Ratio;
use crate::report::csv::columns;
use crate::study::unit::Unit;
use manycore_programs::fork::Algorithm;
use manycore_programs::sleep::Mode;

columns! {
    /// A line of `sleep.csv`: a policy in a cell.
    pub(super) SleepRow(
        config: &SleepConfig,
        cell: &MeasuredPolicies,
        samples: &PolicySamples,
        of_orders: &[Option<Ratio>; 3],
    ) {
        world: &'static str = config.world,
        machine: String = config.machine.clone(),
        algorithm: Algorithm = cell.cell.algorithm,
        policy: String = samples.policy.name.clone(),
        threads: usize = cell.cell.threads,
        time_median: f64 = cell.unit.round(samples.time()),
        unit: Unit = cell.unit,
        /// The speedup over the fastest single-thread time of any policy: with several orders of events, the geometric
        /// mean over orders, as of each ratio.
        speedup: Option<f64> = mean(of_orders[0]),
        /// A median over runs, like `sleeps` and `recovered`.
        wakeups: f64 = samples.median(|run| run.wakeups as f64),
        /// The CPU time of all threads together, the median over runs.
        cpu_time: f64 = cell.unit.round(samples.median(|run| run.cpu_time)),
        mode: Mode = samples.policy.mode,
        time_p10: f64 = cell.unit.round(samples.spread().p10),
        time_p90: f64 = cell.unit.round(samples.spread().p90),
        runs: usize = samples.runs.len(),
        orders: usize = config.orders.len(),
        /// The speedup over the policy's own single-thread time.
        speedup_own: Option<f64> = mean(of_orders[1]),
        /// The ends of the speedup's 95% interval, if there are several orders of events.
        speedup_low: Option<f64> = end(of_orders[0], 0),
        speedup_high: Option<f64> = end(of_orders[0], 1),
        /// The time divided by the time of `packed` in the same mode, with its 95% interval.
        ratio_packed: Option<f64> = mean(of_orders[2]),
        ratio_packed_low: Option<f64> = end(of_orders[2], 0),
        ratio_packed_high: Option<f64> = end(of_orders[2], 1),
        sleeps: f64 = samples.median(|run| run.sleeps as f64),
        recovered: f64 = samples.median(|run| run.recovered as f64),
    }
}

columns! {
    /// A line of `sleep.lines.csv`: the effect of a policy on the cache lines with the same named objects. Counts are
    /// means over runs.
    pub(super) LineRow(
        config: &SleepConfig,
        cell: &MeasuredPolicies,
        samples: &PolicySamples,
        of: &Line,
    ) {
        world: &'static str = config.world,
        machine: String = config.machine.clone(),
        algorithm: Algorithm = cell.cell.algorithm,
        policy: String = samples.policy.name.clone(),
        mode: Mode = samples.policy.mode,
        threads: usize = cell.cell.threads,
        /// The named objects in the cache line.
        line: String = of.names.clone(),
        /// How many cache lines hold exactly these objects.
        lines: usize = of.lines,
        reads_missed: f64 = three_digits(samples.a_run(of.reads)),
        writes: f64 = three_digits(samples.a_run(of.writes)),
        transfers: f64 = three_digits(samples.a_run(of.transfers)),
    }
}

fn mean(ratio: Option<Ratio>) -> Option<f64> {
    Some(three_digits(ratio?.mean))
}

/// An end of a ratio's interval.
fn end(ratio: Option<Ratio>, at: usize) -> Option<f64> {
    Some(three_digits(ratio?.interval?[at]))
}

/// The rows of every cell that has a run. `orders` has the measurements by order of events.
pub(super) fn rows(
    config: &SleepConfig,
    measured: &[MeasuredPolicies],
    orders: &[Vec<MeasuredPolicies>],
) -> Vec<SleepRow> {
    of_each(measured, |cell, samples| {
        let (algorithm, threads) = (cell.cell.algorithm, cell.cell.threads);
        let over = |single| speedup::speedup(orders, algorithm, &samples.policy, threads, single);
        let of_orders = [
            over(Single::Fastest),
            over(Single::Own),
            speedup::to_packed(orders, &[algorithm], &samples.policy, threads),
        ];
        vec![SleepRow::new(config, cell, samples, &of_orders)]
    })
}

/// The rows of every cache line that was accessed.
pub(super) fn line_rows(config: &SleepConfig, measured: &[MeasuredPolicies]) -> Vec<LineRow> {
    of_each(measured, |cell, samples| {
        let touched = |line: &&Line| line.reads + line.writes + line.transfers > 0;
        let lines = samples.lines.iter().filter(touched);
        let row = |line| LineRow::new(config, cell, samples, line);
        lines.map(row).collect()
    })
}

fn of_each<R>(
    measured: &[MeasuredPolicies],
    rows: impl Fn(&MeasuredPolicies, &PolicySamples) -> Vec<R>,
) -> Vec<R> {
    let mut all = Vec::new();
    for cell in measured {
        for samples in &cell.policies {
            if !samples.runs.is_empty() {
                all.extend(rows(cell, samples));
            }
        }
    }
    all
}

fn three_digits(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}
