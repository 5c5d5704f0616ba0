//! The tables: a discipline's time, and what it took from others.

use super::case::GraphSample;
use super::program::GraphProgram;
use super::results::GraphResults;
use crate::report::table::{Cell, Table};

/// Times by cores, and what was stolen and sent, one table each a graph and program.
pub(super) fn all(results: GraphResults<'_>) -> Vec<Table> {
    let loads = results.config.loads();
    loads
        .flat_map(|load| [times(results, load), counts(results, load)])
        .collect()
}

fn times(results: GraphResults<'_>, load: (GraphProgram, u32)) -> Table {
    let config = results.config;
    let unit = config.setup.unit();
    let mut header = vec!["discipline".to_owned()];
    header.extend(config.cores.iter().map(|cores| format!("{cores} cores")));
    let best: Vec<_> = config
        .cores
        .iter()
        .map(|&cores| results.best(load, cores))
        .collect();
    let row = |name: &String| {
        let cells = config.cores.iter().zip(&best).map(|(&cores, best)| {
            let Some(runs) = results.runs(load, cores, name) else {
                return Cell::new("-");
            };
            Cell {
                text: format!("{:.0}", runs.median(|run| run.time)),
                best: best.is_some_and(|best| best.0 == name),
            }
        });
        std::iter::once(Cell::new(&**name)).chain(cells).collect()
    };
    let (program, scale) = load;
    Table {
        caption: format!("{program}, 2^{scale} vertices: time, {}", unit.name()),
        header,
        rows: config.disciplines.iter().map(row).collect(),
    }
}

fn counts(results: GraphResults<'_>, load: (GraphProgram, u32)) -> Table {
    let config = results.config;
    let cores = config.cores.last().copied().unwrap_or(1);
    type Of = fn(&GraphSample) -> f64;
    let kinds: [(&str, Of); 3] = [
        ("tasks", |run| run.tasks as f64),
        ("taken from others", |run| run.steals as f64),
        ("messages sent", |run| run.sent as f64),
    ];
    let mut header = vec!["discipline".to_owned()];
    header.extend(kinds.map(|(what, _)| what.to_owned()));
    let row = |name: &String| {
        let cells = kinds
            .iter()
            .map(|(_, of)| match results.runs(load, cores, name) {
                Some(runs) => Cell::new(format!("{:.0}", runs.median(of))),
                None => Cell::new("-"),
            });
        std::iter::once(Cell::new(&**name)).chain(cells).collect()
    };
    let (program, scale) = load;
    Table {
        caption: format!("{program}, 2^{scale} vertices, {cores} cores: what was done for it"),
        header,
        rows: config.disciplines.iter().map(row).collect(),
    }
}
