//! The figure: time against cores, a panel a program and graph.

use super::results::GraphResults;
use manycore_figure::{Axis, Figure, Panel, Point, Series};

pub(super) fn figure(results: GraphResults<'_>) -> Figure {
    let config = results.config;
    let unit = config.setup.unit().name();
    let panels = config.loads().map(|(program, scale)| {
        let series = config.disciplines.iter().map(|name| {
            let point = |&cores: &usize| {
                let runs = results.runs((program, scale), cores, name)?;
                Some(Point::new(cores as f64, runs.spread(|run| run.time)))
            };
            Series::measured(&**name, config.cores.iter().filter_map(point).collect())
        });
        Panel::lines(
            format!("{program}, 2^{scale} vertices"),
            Axis::logarithmic("cores", ""),
            Axis::logarithmic("time", unit),
            series,
        )
    });
    Figure {
        part: String::new(),
        message: message(results),
        note: format!(
            "Time of a search of a random graph, by how its tasks are spread ({})",
            config.setup.place()
        ),
        panels: panels.collect(),
    }
}

/// The fastest discipline of each program on the most cores.
fn message(results: GraphResults<'_>) -> String {
    let config = results.config;
    let cores = config.cores.last().copied().unwrap_or(1);
    let won = config.loads().filter_map(|(program, scale)| {
        let (name, ahead) = results.best((program, scale), cores)?;
        Some(format!(
            "{name} in {program}, 2^{scale} vertices ({ahead:.2})"
        ))
    });
    let won: Vec<String> = won.collect();
    format!(
        "The fastest on {cores} cores, and how many times as long the next takes: {}",
        won.join(", ")
    )
}
