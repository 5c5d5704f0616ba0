//! The figure: time against cores, a panel a program and graph.

use super::results::{GraphResults, time};
use crate::report::figure::{self, Axis, Height, Panel, Point, Series};

pub(super) fn render(results: GraphResults<'_>) -> String {
    let config = results.config;
    let unit = config.setup.unit().name();
    let panels = config.loads().map(|(program, scale)| {
        let series = config.disciplines.iter().map(|name| {
            let point = |&cores: &usize| {
                let spread = time(results.runs((program, scale), cores, name)?);
                Some(Point {
                    x: cores as f64,
                    y: spread.median,
                    low: spread.p10,
                    high: spread.p90,
                })
            };
            Series {
                name: name.clone(),
                points: config.cores.iter().filter_map(point).collect(),
                level: None,
            }
        });
        Panel {
            title: format!("{program}, 2^{scale} vertices"),
            axis: Axis::Logarithmic,
            height: Height::Logarithmic,
            x_label: "cores".into(),
            y_label: format!("time, {unit}"),
            series: series.collect(),
        }
    });
    let panels: Vec<Panel> = panels.collect();
    let title = format!("Graph search by discipline ({})", config.setup.place());
    figure::render("graph", &title, &panels, None)
}
