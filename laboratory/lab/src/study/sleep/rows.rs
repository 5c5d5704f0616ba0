//! The numbers, one observation a row.

use super::config::SleepConfig;
use super::measured::{Line, MeasuredPolicies, PolicySamples};
use super::speedup;
use crate::study::unit::Unit;
use serde::Serialize;

/// A policy in a cell: a line of `sleep.csv`.
#[derive(Clone, Debug, Serialize)]
pub(super) struct SleepRow {
    world: &'static str,
    machine: String,
    algorithm: &'static str,
    policy: String,
    threads: usize,
    time_median: f64,
    unit: Unit,
    /// Over the fastest single-thread time of any policy.
    speedup: Option<f64>,
    /// A run's, the median; as are sleeps and recovered.
    wakeups: f64,
    /// CPU time of all threads together, a run's median.
    cpu_time: f64,
    mode: String,
    time_p10: f64,
    time_p90: f64,
    runs: usize,
    /// Over the policy's own single-thread time.
    speedup_own: Option<f64>,
    sleeps: f64,
    recovered: f64,
}

/// What a policy's runs did to the lines of some named objects: a line of
/// `sleep.lines.csv`. Counts are a run's, on average.
#[derive(Clone, Debug, Serialize)]
pub(super) struct LineRow {
    world: &'static str,
    machine: String,
    algorithm: &'static str,
    policy: String,
    mode: String,
    threads: usize,
    /// Its named objects.
    line: String,
    /// How many lines hold just these.
    lines: usize,
    reads_missed: f64,
    writes: f64,
    transfers: f64,
}

/// The rows of every cell that has a run.
pub(super) fn rows(config: &SleepConfig, measured: &[MeasuredPolicies]) -> Vec<SleepRow> {
    let row = |cell: &MeasuredPolicies, samples: &PolicySamples| {
        let (algorithm, policy) = (cell.cell.algorithm, &samples.policy);
        let spread = samples.spread();
        let over = |single: Option<f64>| Some(three_digits(single? / spread.median));
        SleepRow {
            world: config.world,
            machine: config.machine.clone(),
            algorithm: algorithm.name(),
            policy: policy.name.clone(),
            threads: cell.cell.threads,
            time_median: cell.unit.round(spread.median),
            unit: cell.unit,
            speedup: over(speedup::fastest_single(measured, algorithm)),
            wakeups: samples.median(|run| run.wakeups as f64),
            cpu_time: cell.unit.round(samples.median(|run| run.cpu_time)),
            mode: policy.mode.to_string(),
            time_p10: cell.unit.round(spread.p10),
            time_p90: cell.unit.round(spread.p90),
            runs: samples.runs.len(),
            speedup_own: over(speedup::time(measured, algorithm, policy, 1)),
            sleeps: samples.median(|run| run.sleeps as f64),
            recovered: samples.median(|run| run.recovered as f64),
        }
    };
    of_each(measured, |cell, samples| vec![row(cell, samples)])
}

/// The rows of every line that was touched.
pub(super) fn line_rows(config: &SleepConfig, measured: &[MeasuredPolicies]) -> Vec<LineRow> {
    let row = |cell: &MeasuredPolicies, samples: &PolicySamples, line: &Line| {
        let a_run = |count: u64| three_digits(count as f64 / samples.runs.len() as f64);
        LineRow {
            world: config.world,
            machine: config.machine.clone(),
            algorithm: cell.cell.algorithm.name(),
            policy: samples.policy.name.clone(),
            mode: samples.policy.mode.to_string(),
            threads: cell.cell.threads,
            line: line.names.clone(),
            lines: line.lines,
            reads_missed: a_run(line.reads),
            writes: a_run(line.writes),
            transfers: a_run(line.transfers),
        }
    };
    of_each(measured, |cell, samples| {
        let touched = |line: &&Line| line.reads + line.writes + line.transfers > 0;
        let lines = samples.lines.iter().filter(touched);
        lines.map(|line| row(cell, samples, line)).collect()
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
