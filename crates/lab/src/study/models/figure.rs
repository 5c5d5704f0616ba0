//! The figure: latency against what varies, a panel a table of the document.

use super::config::Dimension;
use super::results::ModelResults;
use crate::report::figure::{self, Axis, Height, Panel, Point, Series};

pub(super) fn render(results: &ModelResults<'_>) -> String {
    let panels = Dimension::ALL.map(|dimension| panel(results, dimension));
    let title = format!(
        "Latency of a loop under each cost model ({})",
        results.config.setup.place()
    );
    figure::render("models", &title, &panels, None)
}

fn panel(results: &ModelResults<'_>, dimension: Dimension) -> Panel {
    let config = results.config;
    let series = config.policies.iter().map(|&policy| {
        let point = |value: u64| {
            let latency = results.latency(&config.at(dimension, value), policy)?;
            Some(Point {
                x: value as f64,
                y: latency.median / 1e3,
                low: latency.p10 / 1e3,
                high: latency.p90 / 1e3,
            })
        };
        Series {
            name: policy.name().to_owned(),
            points: config
                .values(dimension)
                .into_iter()
                .filter_map(point)
                .collect(),
            level: None,
        }
    });
    let (unit, x_label) = match dimension {
        Dimension::Read => ("bytes read", "bytes read by an iteration"),
        Dimension::Write => ("bytes written", "bytes written by an iteration"),
        Dimension::Comp => (
            "additions",
            "additions of an iteration, which a compiler folds",
        ),
    };
    Panel {
        title: format!("{unit}, {} threads", config.threads),
        axis: Axis::Logarithmic,
        height: Height::Logarithmic,
        x_label: x_label.into(),
        y_label: "latency (us)".into(),
        series: series.collect(),
    }
}
