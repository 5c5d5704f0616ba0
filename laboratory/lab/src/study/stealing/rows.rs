//! The numbers, one observation a row.

use super::case::StealingCase;
use crate::measure::statistics::Spread;
use crate::report::csv::columns;
use crate::study::trial::{Runs, Setup};
use crate::study::unit::Unit;
use manycore_programs::stealing::Distribution;

columns! {
    /// A case: a line of `stealing.csv`.
    pub(super) StealingRow(setup: &Setup, runs: &Runs<StealingCase>, time: Spread) {
        world: &'static str = setup.world,
        machine: String = setup.machine.clone(),
        cores: usize = runs.trial.cores,
        distribution: Distribution = runs.trial.distribution,
        discipline: String = runs.trial.discipline.clone(),
        tasks: usize = runs.trial.tasks,
        /// The length of each task, in `unit`.
        task_cycles: u64 = runs.trial.task_cycles,
        /// Until the last task was done.
        makespan: f64 = setup.unit().round(time.median),
        /// The time of all tasks over the cores.
        ideal: f64 = runs.trial.ideal(),
        /// Tasks taken from others; counts are a run's medians.
        steals: f64 = runs.median(|run| run.steals as f64),
        /// Sent by all workers.
        messages: f64 = runs.median(|run| run.sent as f64),
        unit: Unit = setup.unit(),
        makespan_p10: f64 = setup.unit().round(time.p10),
        makespan_p90: f64 = setup.unit().round(time.p90),
        /// Until the last worker knew that all were done.
        over: f64 = setup.unit().round(runs.median(|run| run.over)),
        attempts: f64 = runs.median(|run| run.attempts as f64),
        /// Taken from ports by all workers.
        received: f64 = runs.median(|run| run.received as f64),
        runs: usize = runs.outcomes.len(),
        /// How often requests are answered within a task, in `unit`; empty: between tasks only.
        answers_every: Option<u64> = runs.trial.answers_every,
    }
}
