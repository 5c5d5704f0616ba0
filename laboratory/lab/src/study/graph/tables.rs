//! The tables: the times and counts of each discipline (stealing algorithm).

use super::case::GraphSample;
use super::program::GraphProgram;
use super::results::GraphResults;
use crate::report::table::{Cell, Table};

/// A table of times and one of counts for each program and graph.
pub(super) fn all(results: GraphResults<'_>) -> Vec<Table> {
    let loads = results.config.loads();
    loads
        .flat_map(|load| [times(results, load), counts(results, load)])
        .collect()
}

fn times(results: GraphResults<'_>, load: (GraphProgram, u32)) -> Table {
    let config = results.config;
    let unit = config.setup.unit();
    let best = config.cores.iter().map(|&cores| results.best(load, cores));
    let best: Vec<_> = best.collect();
    let row = |name: &String| {
        let cells = config.cores.iter().zip(&best).map(|(&cores, best)| {
            let runs = results.runs(load, cores, name);
            let time = runs.map(|runs| format!("{:.0}", runs.median(|run| run.time)));
            Cell {
                best: time.is_some() && best.is_some_and(|best| best.0 == name),
                ..Cell::or_dash(time)
            }
        });
        std::iter::once(Cell::new(name)).chain(cells).collect()
    };
    let (program, scale) = load;
    let cores = config.cores.iter().map(|cores| format!("{cores} cores"));
    Table::new(
        format!("{program}, 2^{scale} vertices: time, {}", unit.name()),
        std::iter::once("discipline".into()).chain(cores),
        config.disciplines.iter().map(row),
    )
}

fn counts(results: GraphResults<'_>, load: (GraphProgram, u32)) -> Table {
    let config = results.config;
    let cores = config.cores.last().copied().unwrap_or(1);
    let row = |name: &String| {
        let runs = results.runs(load, cores, name);
        let count = |of: fn(&GraphSample) -> u64| {
            Cell::or_dash(runs.map(|runs| format!("{:.0}", runs.median(|run| of(run) as f64))))
        };
        let counts = [
            count(|run| run.tasks),
            count(|run| run.steals),
            count(|run| run.sent),
        ];
        std::iter::once(Cell::new(name)).chain(counts).collect()
    };
    let (program, scale) = load;
    Table::new(
        format!("{program}, 2^{scale} vertices, {cores} cores: tasks, steals and messages"),
        ["discipline", "tasks", "taken from others", "messages sent"],
        config.disciplines.iter().map(row),
    )
}
