//! The figure: the program's time and its barriers' exit latency against cores.

use super::config::{Clustering, StreamclusterConfig};
use super::headline;
use crate::report::figure::{Axis, Content, Figure, Panel};
use crate::study::team::Race;

/// Two panels an input.
pub(super) fn figure<'a>(
    config: &StreamclusterConfig,
    races: impl Iterator<Item = Race<'a, Clustering<'a>>> + Clone,
) -> Figure {
    let unit = config.setup.unit().name();
    let message = races.clone().next().map(headline::message);
    let panels = races.flat_map(|race| {
        let input = race.config.input;
        let panel = |what: &str, series| Panel {
            title: format!("Input {input}: {what}"),
            content: Content::Lines {
                x: Axis::logarithmic("cores", ""),
                y: Axis::logarithmic(what, unit),
                series,
            },
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
