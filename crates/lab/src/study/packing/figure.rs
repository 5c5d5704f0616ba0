//! The figures.

use super::account::Account;
use super::closed_form::{fair, ideal, pinned};
use super::load::Load;
use super::mode::Mode;
use super::results::{PackingResults, program_account};
use crate::report::figure::{self, Axis, Bar, Height, Panel, Point, Series};

/// What stands under each.
pub(super) const RATIOS: &str = "After the poster's figure 1: the time of thread reduction over that of the mode, on as many \
     cores; less than 1 is slower. Fair sharing and pinned are closed forms.";
pub(super) const BREAKDOWN: &str = "After the poster's figure 2: what the cores did, all of them together, over all that they \
     did under tp.";
pub(super) const TIMELINE: &str = "Barriers passed while the cores change from 16 to 15, 7, 12 and 16 again, one second each; \
     and when they would be if no core were ever idle.";
pub(super) const SWEEP: &str = "The time between two barriers over what a rank computes in it in the mean, against that; \
     and the closed forms, for equal ranks. Unequal ones compute from 1 - skew to 1 + skew.";

fn exact(x: f64, y: f64) -> Point {
    Point {
        x,
        y,
        low: y,
        high: y,
    }
}

fn line(name: impl Into<String>, points: Vec<Point>) -> Series {
    Series {
        name: name.into(),
        points,
        level: None,
    }
}

/// The poster's figure 1, a panel a mode.
pub(super) fn ratios(results: PackingResults<'_>) -> Option<String> {
    let config = results.config;
    let mut panels = Vec::new();
    let all = config.threads.iter();
    let all = all.flat_map(|&threads| config.kinds.iter().map(move |&kind| (threads, kind)));
    for (threads, kind) in all {
        let programs = config.programs(kind);
        let cores = || config.cores_of(kind, threads).into_iter();
        if cores().len() < 2 {
            continue; // not a line
        }
        let against = |of: &dyn Fn(usize) -> Option<f64>| {
            let point = |cores| Some(exact(cores as f64, of(cores)?));
            cores().filter_map(point).collect::<Vec<Point>>()
        };
        for &mode in config.modes.iter().filter(|&&mode| mode != Mode::Tr) {
            let of_load = |load: &Load| {
                let ratio = |cores| results.ratio(*load, threads, cores, mode);
                line(load.name(), against(&ratio))
            };
            let mut series: Vec<Series> = programs.iter().map(of_load).collect();
            let mean = |cores| results.mean_ratio(kind, threads, cores, mode);
            series.push(line("geometric mean", against(&mean)));
            let closed = |form: fn(usize, usize) -> f64| {
                against(&|cores| Some(ideal(threads, cores, 1.0) / form(threads, cores)))
            };
            series.push(line("fair sharing", closed(fair)));
            series.push(line("pinned", closed(pinned)));
            panels.push(Panel {
                title: format!("{mode}, {threads} threads, {}", kind.meaning()),
                axis: Axis::Linear,
                height: Height::Linear,
                x_label: "cores".into(),
                y_label: "time of tr over its time".into(),
                series,
            });
        }
    }
    let title = format!(
        "Thread packing against reduction ({})",
        config.setup.place()
    );
    (!panels.is_empty()).then(|| figure::render("packing", &title, &panels, None))
}

/// The poster's figure 2.
pub(super) fn breakdown(results: PackingResults<'_>) -> Option<String> {
    let config = results.config;
    let threads = *config.threads.iter().max()?;
    let cores = config.swept_cores(threads);
    let mut bars = Vec::new();
    for load in config.programs(config.kinds[0]) {
        let of = |mode| {
            let case = config.case(load, threads, cores, mode);
            results.of(&case).map(program_account)
        };
        let whole: f64 = of(Mode::Tp)?.parts().iter().sum();
        for &mode in &config.modes {
            bars.push(Bar {
                label: format!("{} {mode}", load.name()),
                parts: of(mode)?.parts().map(|part| part / whole).into(),
            });
        }
    }
    let title = format!("Where the time of {cores} cores goes, {threads} threads");
    let y_label = "time of all cores, tp = 1";
    let draw = || figure::render_bars("packing-breakdown", &title, y_label, &Account::PARTS, &bars);
    (!bars.is_empty()).then(draw)
}

/// Progress while the cores change.
pub(super) fn timeline(results: PackingResults<'_>) -> Option<String> {
    let config = results.config;
    let mut panels = Vec::new();
    for load in config.timed() {
        let modes = config.modes.iter().filter(|mode| mode.follows());
        let mut series: Vec<Series> = modes
            .filter_map(|&mode| {
                let runs = results.of(&config.course(load, mode))?;
                let passed = &runs.outcomes[0].passed_ns;
                // As many as a reader can see.
                let step = passed.len().div_ceil(100).max(1);
                let seen = passed.iter().enumerate().step_by(step);
                let points = seen.map(|(barrier, ns)| exact(ns / 1e9, barrier as f64));
                Some(line(mode.name(), points.collect()))
            })
            .collect();
        series.push(line("ideal", results.ideal_course(load)?));
        panels.push(Panel {
            title: format!("{}, 16 threads", load.name()),
            axis: Axis::Linear,
            height: Height::Linear,
            x_label: "time, s".into(),
            y_label: "barriers passed".into(),
            series,
        });
    }
    let title = format!("Cores that come and go ({})", config.setup.place());
    let draw = || figure::render("packing-timeline", &title, &panels, None);
    (!panels.is_empty()).then(draw)
}

/// Intervals of all lengths, and the closed forms.
pub(super) fn sweep(results: PackingResults<'_>) -> String {
    let config = results.config;
    let mut panels = Vec::new();
    let us = |load: &Load| load.interval_ns().unwrap_or(0.0) / 1e3;
    for &threads in &config.threads {
        let cores = config.swept_cores(threads);
        for skew in [0, config.skew] {
            let loads = config.swept();
            let loads: Vec<Load> = loads
                .into_iter()
                .filter(|load| load.skew() == skew)
                .collect();
            let mut series: Vec<Series> = config
                .modes
                .iter()
                .map(|&mode| {
                    let point = |load: &Load| {
                        let stretch = results.stretch(*load, threads, cores, mode)?;
                        // Waits for wake-ups are another matter: cut.
                        (stretch < 3.0 * pinned(threads, cores)).then(|| exact(us(load), stretch))
                    };
                    line(mode.name(), loads.iter().filter_map(point).collect())
                })
                .collect();
            let longest = loads.first().map_or(1.0, Load::longest);
            let flat = |y: f64| loads.iter().map(|load| exact(us(load), y)).collect();
            series.push(line("ideal", flat(ideal(threads, cores, longest))));
            if skew == 0 {
                series.push(line("fair sharing", flat(fair(threads, cores))));
                series.push(line("pinned", flat(pinned(threads, cores))));
            }
            let ranks = if skew == 0 { "equal" } else { "unequal" };
            panels.push(Panel {
                title: format!("{threads} {ranks} ranks on {cores} cores"),
                axis: Axis::Logarithmic,
                height: Height::Linear,
                x_label: "a rank's work between barriers, us".into(),
                y_label: "time over it".into(),
                series,
            });
        }
    }
    let title = format!("Intervals of all lengths ({})", config.setup.place());
    figure::render("packing-sweep", &title, &panels, None)
}
