//! The figure: an application's time over each parameter, and the other
//! barriers' as levels.

use super::config::{Contestants, Parameter, RobustnessConfig};
use super::curve::Curve;
use super::tables;
use crate::report::figure::{self, Axis, Height, Panel, Point, Series};
use crate::study::team::{CHANNEL, PointSummary, Race};

/// A row of panels an application.
pub(super) fn render<'a>(
    config: &RobustnessConfig,
    races: impl Iterator<Item = Race<'a, Contestants<'a>>>,
) -> String {
    let panels = races.flat_map(|race| {
        let app = race.config.app.name();
        let panel = |parameter: Parameter| Panel {
            title: format!("{app}: {}", parameter.name()),
            axis: Axis::Logarithmic,
            height: Height::Logarithmic,
            x_label: format!("{}, cycles", parameter.name()),
            y_label: "end to end, cycles".into(),
            series: series(race, parameter),
        };
        Parameter::ALL.map(panel)
    });
    let panels: Vec<Panel> = panels.collect();
    let title = format!(
        "The thesis's barrier with a slower network ({}, {} cores)",
        config.setup.place(),
        config.cores
    );
    let level = "level: another barrier, on the machine as it is";
    figure::render("robustness", &title, &panels, Some(level))
}

fn series(race: Race<'_, Contestants<'_>>, parameter: Parameter) -> Vec<Series> {
    let curve = Curve::of(race, parameter);
    let points = curve.iter().flat_map(|curve| &curve.points);
    let point = |&(value, time): &(u64, f64)| Point {
        // Nothing has no place on the axis.
        x: value.max(1) as f64,
        y: time,
        low: time,
        high: time,
    };
    let swept = Series {
        name: CHANNEL.into(),
        points: points.map(point).collect(),
        level: None,
    };
    let network = race.beyond(0, race.config.config.cores);
    let beside = tables::beside(race).into_iter().chain(network);
    let level = |other: &PointSummary| Series {
        name: other.point.barrier.clone(),
        points: Vec::new(),
        level: Some(other.total.median),
    };
    let levels = beside.map(level);
    std::iter::once(swept).chain(levels).collect()
}
