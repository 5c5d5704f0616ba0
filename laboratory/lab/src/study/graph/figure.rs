//! The figure: time against cores, a panel a program and graph.

use super::headline;
use super::results::{GraphResults, time};
use crate::report::figure::{Axis, Content, Figure, Panel, Point, Series};

pub(super) fn figure(results: GraphResults<'_>) -> Figure {
    let config = results.config;
    let unit = config.setup.unit().name();
    let panels = config.loads().map(|(program, scale)| {
        let series = config.disciplines.iter().map(|name| {
            let point = |&cores: &usize| {
                Some(Point {
                    x: cores as f64,
                    y: time(results.runs((program, scale), cores, name)?).into(),
                })
            };
            Series::measured(&**name, config.cores.iter().filter_map(point).collect())
        });
        Panel {
            title: format!("{program}, 2^{scale} vertices"),
            content: Content::Lines {
                x: Axis::logarithmic("cores", ""),
                y: Axis::logarithmic("time", unit),
                series: series.collect(),
            },
        }
    });
    Figure {
        part: String::new(),
        message: headline::message(results),
        note: format!(
            "Time of a search of a random graph, by how its tasks are spread ({})",
            config.setup.place()
        ),
        panels: panels.collect(),
    }
}
