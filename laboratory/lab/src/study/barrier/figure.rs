//! The figure: the time of an episode (wait of the whole team) and its exit latency against cores, with a line for each
//! barrier.

use super::config::BarrierConfig;
use crate::report::words;
use crate::study::compared::Compared;
use crate::study::team::{self, Arrivals, Race, closed_form};
use manycore_chip::config::Optical;
use manycore_figure::{Axis, Figure, Panel, Point, Series};

/// The most cores in the panel of small machines. The thesis (Park 2013) has this panel too.
const SMALL: usize = 16;

pub(super) fn figure(race: Race<'_, BarrierConfig>) -> Figure {
    let config = race.config;
    let unit = config.setup.unit().name();
    let panel = |title: &str, y, series: Vec<Series>| {
        Panel::lines(title.to_owned(), Axis::logarithmic("cores", ""), y, series)
    };
    let waits = |most| race.series(most, |cores, name| Some(race.of(0, cores, name)?.a_wait()));
    let small = format!("A wait, up to {SMALL} cores");
    let exits = race.series(usize::MAX, |cores, name| {
        Some(race.of(0, cores, name)?.exit)
    });
    let exit = || Axis::logarithmic("exit latency", unit);
    let mut panels = vec![
        panel(
            "A wait in a loop",
            Axis::logarithmic("time of a wait", unit),
            waits(usize::MAX),
        ),
        panel(&small, Axis::linear("time of a wait", unit), waits(SMALL)),
        panel("In a loop: last arrival to last departure", exit(), exits),
    ];
    let mut single = |arrivals, title, form: fn(&Optical, usize) -> u64| {
        let form = race.optical().map(|optical| {
            let exact = |&cores: &usize| Point::exact(cores as f64, form(optical, cores) as f64);
            let points = config.cores.iter().map(exact).collect();
            Series::computed("closed form of channel", points)
        });
        let measured = race.series(usize::MAX, |cores, name| {
            let point = config.single(cores, name, arrivals);
            Some(race.measured.of(&point)?.exit)
        });
        let lines = form.into_iter().chain(measured).collect();
        panels.push(panel(title, exit(), lines));
    };
    if !config.setup.machines.is_host() {
        let (together, apart) = (
            "A single wait if all arrive at once",
            "A single wait if all arrive one by one",
        );
        single(Arrivals::Together, together, closed_form::together);
        single(Arrivals::Apart, apart, closed_form::apart);
    }
    Figure {
        part: String::new(),
        message: team::sentence(&compared(race)).text,
        note: format!(
            "Time of a wait at each barrier, and exit latency, the time from the last arrival to \
             the last departure{} ({})",
            match &*race.over_network(config.compared_at()) {
                [] => String::new(),
                names => format!(". These barriers use the network: {}", words::list(names)),
            },
            config.setup.place()
        ),
        panels,
    }
}

/// The times of a wait in the loop.
pub(super) fn compared(race: Race<'_, BarrierConfig>) -> Compared {
    race.compared(race.config.compared_at(), "a wait takes", true)
}
