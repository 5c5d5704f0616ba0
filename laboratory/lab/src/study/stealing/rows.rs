//! The rows of `stealing.csv`.

use super::case::StealingCase;
use crate::measure::statistics::Spread;
use crate::report::csv::columns;
use crate::study::trial::{Runs, Setup};
use crate::study::unit::Unit;
use manycore_programs::stealing::Distribution;

columns! {
    /// All runs of a case.
    pub(super) StealingRow(setup: &Setup, runs: &Runs<StealingCase>, time: Spread) {
        world: &'static str = setup.world,
        machine: String = setup.machine.clone(),
        cores: usize = runs.trial.cores,
        distribution: Distribution = runs.trial.distribution,
        discipline: String = runs.trial.discipline.clone(),
        tasks: usize = runs.trial.tasks,
        /// The length of each task, in `unit`.
        task_cycles: u64 = runs.trial.task_cycles,
        /// The time until the last task ended.
        makespan: f64 = setup.unit().round(time.median),
        /// The time of all tasks, divided by the number of cores.
        ideal: f64 = runs.trial.ideal(),
        /// Tasks taken from other workers. Counts are medians over runs.
        steals: f64 = runs.median(|run| run.steals as f64),
        /// Messages that all workers sent.
        messages: f64 = runs.median(|run| run.sent as f64),
        unit: Unit = setup.unit(),
        makespan_p10: f64 = setup.unit().round(time.p10),
        makespan_p90: f64 = setup.unit().round(time.p90),
        /// The time until the last worker knew that all tasks had ended.
        over: f64 = setup.unit().round(runs.median(|run| run.over)),
        attempts: f64 = runs.median(|run| run.attempts as f64),
        /// Messages that all workers took from ports.
        received: f64 = runs.median(|run| run.received as f64),
        runs: usize = runs.outcomes.len(),
        /// Time between answers to requests within a task, in `unit`. Empty if workers answer only between tasks.
        answers_every: Option<u64> = runs.trial.answers_every,
    }
}
