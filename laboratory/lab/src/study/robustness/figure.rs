//! The figure: an application's time against each parameter, and other barriers' times as levels.

use super::config::{Contestants, Parameter, RobustnessConfig};
use super::curve::Curve;
use super::{sentence, tables};
use crate::study::team::{CHANNEL, PointSummary, Race};
use manycore_figure::{Axis, Figure, Panel, Point, Series};

/// A row of panels for each application.
pub(super) fn figure<'a>(
    config: &RobustnessConfig,
    races: impl Iterator<Item = Race<'a, Contestants<'a>>> + Clone,
) -> Figure {
    let compared = races.clone().next().and_then(sentence::compared);
    let message = compared.map(|compared| sentence::sentence(&compared).text);
    let panels = races.flat_map(|race| {
        let panel = |parameter: Parameter| {
            Panel::lines(
                format!("{}: {}", race.config.app.name(), parameter.meaning()),
                Axis::logarithmic(parameter.name(), "cycles"),
                Axis::logarithmic("time", "cycles"),
                series(race, parameter),
            )
        };
        Parameter::ALL.map(panel)
    });
    Figure {
        part: String::new(),
        message: message.unwrap_or_default(),
        note: format!(
            "Time from beginning to end with one delay of the network changed; dashed: other barriers \
             on the unchanged machine ({}, {} cores)",
            config.setup.place(),
            config.cores
        ),
        panels: panels.collect(),
    }
}

fn series(race: Race<'_, Contestants<'_>>, parameter: Parameter) -> Vec<Series> {
    let curve = Curve::of(race, parameter);
    let points = curve.iter().flat_map(|curve| &curve.points);
    let point = |&(value, time): &(u64, f64)| Point::exact(value as f64, time);
    let swept = Series::measured(CHANNEL, points.map(point).collect());
    let network = race.beyond(0, race.config.config.cores);
    let beside = tables::beside(race).into_iter().chain(network);
    let level = |other: &PointSummary| Series::level(&*other.point.barrier, other.total.median);
    std::iter::once(swept).chain(beside.map(level)).collect()
}
