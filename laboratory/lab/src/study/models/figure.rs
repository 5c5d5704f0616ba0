//! The figure: latency against what varies, a panel a table of the document.

use super::config::Dimension;
use super::policy::ModelPolicy;
use super::results::{ModelResults, middle};
use manycore_figure::{Axis, Figure, Panel, Point, Series, Value};

pub(super) fn figure(results: &ModelResults<'_>) -> Figure {
    Figure {
        part: String::new(),
        message: message(results),
        note: format!(
            "Latency of one loop on {} threads, by who picks how many iterations a thread takes \
             at a time ({})",
            results.config.threads,
            results.config.setup.place()
        ),
        panels: Dimension::ALL
            .map(|dimension| panel(results, dimension))
            .into(),
    }
}

fn panel(results: &ModelResults<'_>, dimension: Dimension) -> Panel {
    let config = results.config;
    let series = config.policies.iter().map(|&policy| {
        let point = |value: u64| {
            let latency = results.latency(&config.at(dimension, value), policy)?;
            Some(Point {
                x: value as f64,
                y: Value {
                    at: latency.median / 1e3,
                    low: latency.p10 / 1e3,
                    high: latency.p90 / 1e3,
                },
            })
        };
        let points = config.values(dimension).into_iter().filter_map(point);
        Series::measured(policy.name(), points.collect())
    });
    let (title, quantity, unit) = match dimension {
        Dimension::Read => ("Bytes read", "read by an iteration", "bytes"),
        Dimension::Write => ("Bytes written", "written by an iteration", "bytes"),
        Dimension::Comp => (
            "Additions, which a compiler folds",
            "additions of an iteration",
            "",
        ),
    };
    Panel::lines(
        title,
        Axis::logarithmic(quantity, unit),
        Axis::logarithmic("latency", "us"),
        series,
    )
}

/// The title of the figure.
fn message(results: &ModelResults<'_>) -> String {
    let mean = |policy| middle(&results.ratios(policy)).map(|[mean, ..]| mean);
    let told_nothing = mean(ModelPolicy::Adaptive);
    let models = results
        .ours()
        .filter(|&policy| policy != ModelPolicy::Adaptive);
    let best = models
        .filter_map(|policy| Some((mean(policy)?, policy)))
        .min_by(|a, b| a.0.total_cmp(&b.0));
    match (told_nothing, best) {
        (Some(told_nothing), Some((best, policy))) => format!(
            "Without a model, the default (adaptive) takes {told_nothing:.2} times the best \
             latency of each loop, in the mean; the best model, {}, {best:.2}",
            policy.name()
        ),
        (Some(mean), None) | (None, Some((mean, _))) => {
            format!("{mean:.2} times the best latency of each loop, in the mean")
        }
        (None, None) => "No loop was measured".into(),
    }
}
