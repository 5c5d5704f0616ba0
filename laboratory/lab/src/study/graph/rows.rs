//! The rows of `graph.csv`.

use super::case::{EDGE_FACTOR, GraphCase};
use super::program::GraphProgram;
use crate::measure::statistics::Spread;
use crate::report::csv::columns;
use crate::study::trial::{Runs, Setup};
use crate::study::unit::Unit;

columns! {
    /// All runs of a case.
    pub(super) GraphRow(setup: &Setup, runs: &Runs<GraphCase>, time: Spread) {
        world: &'static str = setup.world,
        machine: String = setup.machine.clone(),
        cores: usize = runs.trial.cores,
        program: GraphProgram = runs.trial.program,
        /// The logarithm of the number of vertices.
        scale: u32 = runs.trial.scale,
        edge_factor: u32 = EDGE_FACTOR,
        discipline: String = runs.trial.discipline.clone(),
        time_median: f64 = setup.unit().round(time.median),
        time_p10: f64 = setup.unit().round(time.p10),
        time_p90: f64 = setup.unit().round(time.p90),
        unit: Unit = setup.unit(),
        /// Edges within the tree, components, or triangles.
        found: f64 = runs.median(|run| run.found as f64),
        /// Counts are medians over runs.
        tasks_run: f64 = runs.median(|run| run.tasks as f64),
        steals: f64 = runs.median(|run| run.steals as f64),
        messages: f64 = runs.median(|run| run.sent as f64),
        runs: usize = runs.outcomes.len(),
    }
}
