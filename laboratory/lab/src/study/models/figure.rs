//! The figure: latency against the varying size, a panel for each table of the document (Shuai's paper).

use super::config::Dimension;
use super::policy::ModelPolicy;
use super::results::{ModelResults, middle};
use crate::study::compared::{Compared, Sentence, difference};
use manycore_figure::{Axis, Figure, Panel, Point, Series, Value};

pub(super) fn figure(results: &ModelResults<'_>) -> Figure {
    Figure {
        part: String::new(),
        message: sentence(&results.compared()).text,
        note: format!(
            "Latency of one loop on {} threads, by the policy that picks how many iterations a \
             thread takes at a time ({})",
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

/// The cost of the default and of the best model, and whether they differ.
pub(super) fn sentence(compared: &Compared) -> Sentence {
    let mean = |policy: &str| {
        let over_best = compared.cells.iter().filter_map(|cell| {
            let best = cell.middle(cell.ranked(|_| true).first()?)?;
            Some(cell.middle(policy)? / best)
        });
        let ratios: Vec<f64> = over_best.collect();
        middle(&ratios).map(|[mean, ..]| mean)
    };
    let default = ModelPolicy::Adaptive.name();
    let told_nothing = mean(default);
    let models = compared.names().into_iter();
    let models: Vec<(f64, &str)> = models
        .filter(|&name| name != default)
        .filter_map(|policy| Some((mean(policy)?, policy)))
        .collect();
    let best = models.iter().copied().min_by(|a, b| a.0.total_cmp(&b.0));
    let ratio = best.and_then(|best| compared.chosen_ratio(default, best.1, models.len()));
    let text = match (told_nothing, best, ratio) {
        (Some(told_nothing), Some((best, policy)), Some(ratio)) => format!(
            "On average, the default (adaptive), which has no model, takes {told_nothing:.2} \
             times the best latency of each loop, and the best model, {policy}, takes {best:.2} \
             times. Adaptive compared with {policy}: {}{}",
            difference(ratio),
            compared.ground()
        ),
        (Some(mean), ..) | (None, Some((mean, _)), _) => {
            format!("On average {mean:.2} times the best latency of each loop")
        }
        (None, None, _) => "No loop was measured".into(),
    };
    Sentence {
        text,
        ratios: ratio.map(|ratio| (ratio, 1.0)).into_iter().collect(),
    }
}
