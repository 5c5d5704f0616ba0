//! The numbers, one observation a row.

use super::case::EDGE_FACTOR;
use super::program::GraphProgram;
use super::results::{GraphResults, middle, time};
use crate::study::unit::Unit;
use serde::Serialize;

/// A case: a line of `graph.csv`.
#[derive(Clone, Debug, Serialize)]
pub(super) struct GraphRow {
    world: &'static str,
    machine: String,
    cores: usize,
    program: GraphProgram,
    /// The logarithm of the number of vertices.
    scale: u32,
    edge_factor: u32,
    discipline: String,
    time_median: f64,
    time_p10: f64,
    time_p90: f64,
    unit: Unit,
    /// Edges within the tree's component, or components.
    found: f64,
    /// Counts are a run's medians.
    tasks: f64,
    steals: f64,
    messages: f64,
    runs: usize,
}

/// All that was measured.
pub(super) fn rows(results: GraphResults<'_>) -> Vec<GraphRow> {
    let setup = &results.config.setup;
    let unit = setup.unit();
    let row = results.measured.0.iter().map(|runs| {
        let (case, spread) = (&runs.trial, time(runs));
        GraphRow {
            world: setup.world,
            machine: setup.machine.clone(),
            cores: case.cores,
            program: case.program,
            scale: case.scale,
            edge_factor: EDGE_FACTOR,
            discipline: case.discipline.clone(),
            time_median: unit.round(spread.median),
            time_p10: unit.round(spread.p10),
            time_p90: unit.round(spread.p90),
            unit,
            found: middle(runs, |run| run.found),
            tasks: middle(runs, |run| run.tasks),
            steals: middle(runs, |run| run.steals),
            messages: middle(runs, |run| run.sent),
            runs: runs.outcomes.len(),
        }
    });
    row.collect()
}
