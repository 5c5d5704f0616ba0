//! The figure: the program's time and its barriers' exit latency against cores.

use super::config::{Clustering, StreamclusterConfig};
use crate::study::compared::Compared;
use crate::study::team::{self, Race};
use manycore_figure::{Axis, Figure, Panel};

/// Two panels for each input.
pub(super) fn figure<'a>(
    config: &StreamclusterConfig,
    races: impl Iterator<Item = Race<'a, Clustering<'a>>> + Clone,
) -> Figure {
    let unit = config.setup.unit().name();
    let message = races
        .clone()
        .next()
        .map(|race| team::sentence(&compared(race)).text);
    let panels = races.flat_map(|race| {
        let input = race.config.input;
        let panel = |what: &str, series| {
            Panel::lines(
                format!("Input {input}: {what}"),
                Axis::logarithmic("cores", ""),
                Axis::logarithmic(what, unit),
                series,
            )
        };
        let of = |cores, name: &str| race.of(0, cores, name);
        let totals = race.series(usize::MAX, |cores, name| Some(of(cores, name)?.total));
        let exits = race.series(usize::MAX, |cores, name| Some(of(cores, name)?.exit));
        [panel("time", totals), panel("exit latency", exits)]
    });
    Figure {
        part: String::new(),
        message: message.unwrap_or_default(),
        note: format!(
            "Streamcluster from beginning to end, and its waits from the last arrival to the last \
             departure ({})",
            config.setup.place()
        ),
        panels: panels.collect(),
    }
}

pub(super) fn compared(race: Race<'_, Clustering<'_>>) -> Compared {
    race.compared(race.config.config.compared_at(), "the program takes", false)
}
