//! The figure: time over the ideal against the length of tasks and against
//! cores, a panel a distribution.

use super::results::StealingResults;
use crate::report::figure::{self, Axis, Height, Panel, Point, Series};

pub(super) fn render(results: StealingResults<'_>) -> String {
    let config = results.config;
    let unit = config.setup.unit().name();
    let (cores, cycles) = (config.cores[0], config.cycles[0]);
    let mut panels = panels(
        results,
        &format!("{cores} cores"),
        &format!("{unit} a task"),
        &config.cycles,
        |cycles| (cores, cycles),
    );
    if config.cores.len() > 1 {
        let sizes: Vec<u64> = config.cores.iter().map(|&cores| cores as u64).collect();
        let title = format!("tasks of {cycles} {unit}");
        let of_cores = self::panels(results, &title, "cores", &sizes, |cores| {
            (cores as usize, cycles)
        });
        panels.extend(of_cores);
    }
    let title = format!("Work stealing by discipline ({})", config.setup.place());
    figure::render("stealing", &title, &panels, None)
}

fn panels(
    results: StealingResults<'_>,
    what: &str,
    x_label: &str,
    values: &[u64],
    at: impl Fn(u64) -> (usize, u64),
) -> Vec<Panel> {
    let mut values = values.to_vec();
    values.sort_unstable();
    let panel = |&distribution| {
        let series = results.config.disciplines.iter().map(|name| {
            let point = |&value: &u64| {
                let stretch = results.stretch(at(value), distribution, name)?;
                Some(Point {
                    x: value as f64,
                    y: stretch.median,
                    low: stretch.p10,
                    high: stretch.p90,
                })
            };
            Series {
                name: name.clone(),
                points: values.iter().filter_map(point).collect(),
                level: None,
            }
        });
        Panel {
            title: format!("{distribution}, {what}"),
            axis: Axis::Logarithmic,
            height: Height::Logarithmic,
            x_label: x_label.to_owned(),
            y_label: "time over the ideal".into(),
            series: series.collect(),
        }
    };
    results.config.distributions.iter().map(panel).collect()
}
