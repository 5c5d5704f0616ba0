//! The figure: speedup against threads, one panel an algorithm, one line a
//! policy.

use super::measured::MeasuredPolicies;
use super::speedup;
use crate::report::figure::{self, Axis, Height, Panel, Point, Series};
use manycore_kernels::fork::Algorithm;

/// As in the document, over the fastest single-thread time of any policy.
pub(super) fn render(
    place: &str,
    algorithms: &[Algorithm],
    measured: &[MeasuredPolicies],
) -> String {
    let panels: Vec<Panel> = algorithms
        .iter()
        .map(|&algorithm| Panel {
            title: algorithm.name().to_owned(),
            axis: Axis::Linear,
            height: Height::Linear,
            x_label: "threads".into(),
            y_label: "speedup".into(),
            series: series(algorithm, measured),
        })
        .collect();
    figure::render(
        "sleep",
        &format!("Speedup of fork-join programs by sleep policy ({place})"),
        &panels,
        None,
    )
}

fn series(algorithm: Algorithm, measured: &[MeasuredPolicies]) -> Vec<Series> {
    let Some(single) = speedup::fastest_single(measured, algorithm) else {
        return Vec::new();
    };
    let mut all: Vec<Series> = Vec::new();
    for cell in measured
        .iter()
        .filter(|cell| cell.cell.algorithm == algorithm)
    {
        for samples in cell
            .policies
            .iter()
            .filter(|samples| !samples.runs.is_empty())
        {
            let spread = samples.spread();
            let point = Point {
                x: cell.cell.threads as f64,
                y: single / spread.median,
                low: single / spread.p90,
                high: single / spread.p10,
            };
            let name = samples.policy.to_string();
            match all.iter_mut().find(|series| series.name == name) {
                Some(series) => series.points.push(point),
                None => all.push(Series {
                    name,
                    points: vec![point],
                    level: None,
                }),
            }
        }
    }
    all
}
