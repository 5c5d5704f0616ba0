//! The numbers, one observation a row.

use super::config::StealingConfig;
use super::results::{StealingResults, makespan, middle};
use crate::measure::statistics::median;
use crate::study::unit::Unit;
use manycore_programs::stealing::Distribution;
use serde::Serialize;

/// A case: a line of `stealing.csv`.
#[derive(Clone, Debug, Serialize)]
pub(super) struct StealingRow {
    world: &'static str,
    machine: String,
    cores: usize,
    distribution: Distribution,
    discipline: String,
    tasks: usize,
    /// The length of each task, in `unit`.
    task_cycles: u64,
    /// Until the last task was done.
    makespan: f64,
    /// The time of all tasks over the cores.
    ideal: f64,
    /// Tasks taken from others; counts are a run's medians.
    steals: f64,
    /// Sent by all workers.
    messages: f64,
    unit: Unit,
    makespan_p10: f64,
    makespan_p90: f64,
    /// Until the last worker knew that all were done.
    over: f64,
    attempts: f64,
    /// Taken from ports by all workers.
    received: f64,
    runs: usize,
    /// How often requests are answered within a task, in `unit`; empty: between tasks only.
    answers_every: Option<u64>,
}

/// All that was measured.
pub(super) fn rows(results: StealingResults<'_>) -> Vec<StealingRow> {
    let StealingConfig { setup, .. } = results.config;
    let unit = setup.unit();
    let row = results.measured.0.iter().map(|runs| {
        let (case, spread) = (&runs.trial, makespan(runs));
        StealingRow {
            world: setup.world,
            machine: setup.machine.clone(),
            cores: case.cores,
            distribution: case.distribution,
            discipline: case.discipline.clone(),
            tasks: case.tasks,
            task_cycles: case.task_cycles,
            makespan: unit.round(spread.median),
            ideal: case.ideal(),
            steals: middle(runs, |run| run.steals),
            messages: middle(runs, |run| run.sent),
            unit,
            makespan_p10: unit.round(spread.p10),
            makespan_p90: unit.round(spread.p90),
            over: unit.round(median(runs.outcomes.iter().map(|run| run.over))),
            attempts: middle(runs, |run| run.attempts),
            received: middle(runs, |run| run.received),
            runs: runs.outcomes.len(),
            answers_every: case.answers_every,
        }
    });
    row.collect()
}
