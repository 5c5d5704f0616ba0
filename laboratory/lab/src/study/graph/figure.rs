//! The figure: time against cores, a panel for each program and graph.

use super::results::GraphResults;
use crate::measure::ratio::Side;
use crate::study::compared::{Compared, Sentence};
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
        message: sentence(&results.compared()).text,
        note: format!(
            "Time to search a random graph with each discipline, a way to spread its tasks ({})",
            config.setup.place()
        ),
        panels: panels.collect(),
    }
}

/// Names the fastest discipline (stealing algorithm), as far as the intervals show it.
pub(super) fn sentence(compared: &Compared) -> Sentence {
    let (mut said, mut ratios) = (Vec::new(), Vec::new());
    for cell in &compared.cells {
        let ranked = cell.ranked(|_| true);
        let [best, next, ..] = ranked[..] else {
            continue;
        };
        let Some(ratio) = cell.chosen_ratio(next, best, ranked.len() - 1) else {
            continue;
        };
        ratios.push((ratio, 1.0));
        said.push(match ratio.side(1.0) {
            Side::Above => format!("{best} in {} ({ratio})", cell.name),
            _ => format!(
                "in {} no difference between {best} and {next} is shown ({ratio})",
                cell.name
            ),
        });
    }
    Sentence {
        text: format!(
            "The fastest discipline on {}, with the time of the next discipline divided by its \
             time: {}{}",
            compared.place,
            said.join(", "),
            compared.ground()
        ),
        ratios,
    }
}
