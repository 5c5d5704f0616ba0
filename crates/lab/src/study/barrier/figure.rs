//! The figure: an episode and its exit latency against cores, one line a
//! barrier; single episodes beside the closed form.

use super::config::BarrierConfig;
use crate::measure::statistics::Spread;
use crate::report::figure::{self, Axis, Height, Panel, Series};
use crate::study::team::{Arrivals, PointSummary, Race, closed_form, point};
use manycore_chip::config::Optical;

/// Cores of the panel that shows small machines, as the thesis's own does.
const SMALL: usize = 16;

pub(super) fn render(race: Race<'_, BarrierConfig>) -> String {
    let config = race.config;
    let unit = config.setup.unit().name();
    let panel = |title: &str, height, y_label: &str, series| Panel {
        title: title.to_owned(),
        axis: Axis::Logarithmic,
        height,
        x_label: "cores".into(),
        y_label: y_label.to_owned(),
        series,
    };
    let wait = format!("{unit} a wait");
    let exit = format!("exit latency, {unit}");
    let waits = |most| race.series(most, |cores, name| Some(a_wait(race.of(0, cores, name)?)));
    let small = format!("Loop, end to end, up to {SMALL} cores");
    let exits = race.series(usize::MAX, |cores, name| {
        Some(race.of(0, cores, name)?.exit)
    });
    let log = Height::Logarithmic;
    let mut panels = vec![
        panel("Loop, end to end", log, &wait, waits(usize::MAX)),
        panel(&small, Height::Linear, &wait, waits(SMALL)),
        panel("Loop, exit latency", log, &exit, exits),
    ];
    let mut single = |arrivals, title, form: fn(&Optical, usize) -> u64| {
        // First, so that what is measured is drawn over it.
        let form = race.optical().map(|optical| {
            let exact = |&cores: &usize| {
                let cycles = form(optical, cores) as f64;
                point(cores, Spread::of(&[cycles]))
            };
            Series {
                name: "closed form of channel".into(),
                points: config.cores.iter().map(exact).collect(),
                level: None,
            }
        });
        let measured = race.series(usize::MAX, |cores, name| {
            Some(
                race.measured
                    .of(&config.single(cores, name, arrivals))?
                    .exit,
            )
        });
        let lines = form.into_iter().chain(measured).collect();
        panels.push(panel(title, log, &exit, lines));
    };
    if !config.setup.machines.is_host() {
        let (together, apart) = (
            "Single, all arriving at once",
            "Single, one after the other",
        );
        single(Arrivals::Together, together, closed_form::together);
        single(Arrivals::Apart, apart, closed_form::apart);
    }
    panels.retain(|panel| panel.series.iter().any(|series| !series.points.is_empty()));
    let title = format!("Barriers ({})", config.setup.place());
    figure::render("barrier", &title, &panels, None)
}

fn a_wait(summary: &PointSummary) -> Spread {
    summary.total.map(|total| total / summary.episodes as f64)
}
