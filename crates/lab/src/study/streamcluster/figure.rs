//! The figure: the program's time and its barriers' exit latency against cores.

use super::config::{Clustering, StreamclusterConfig};
use crate::report::figure::{self, Axis, Height, Panel};
use crate::study::team::Race;

/// Two panels an input.
pub(super) fn render<'a>(
    config: &StreamclusterConfig,
    races: impl Iterator<Item = Race<'a, Clustering<'a>>>,
) -> String {
    let unit = config.setup.unit().name();
    let panels = races.flat_map(|race| {
        let input = race.config.input;
        let panel = |what: &str, series| Panel {
            title: format!("{input}: {what}"),
            axis: Axis::Logarithmic,
            height: Height::Logarithmic,
            x_label: "cores".into(),
            y_label: format!("{what}, {unit}"),
            series,
        };
        let of = |cores, name: &str| race.of(0, cores, name);
        let totals = race.series(usize::MAX, |cores, name| Some(of(cores, name)?.total));
        let exits = race.series(usize::MAX, |cores, name| Some(of(cores, name)?.exit));
        [panel("end to end", totals), panel("exit latency", exits)]
    });
    let panels: Vec<Panel> = panels.collect();
    let title = format!("Streamcluster by barrier ({})", config.setup.place());
    figure::render("streamcluster", &title, &panels, None)
}
