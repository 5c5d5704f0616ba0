//! The figures.

use super::account::Account;
use super::closed_form::{fair, ideal, pinned};
use super::load::{Kind, Load};
use super::mode::Mode;
use super::reduction;
use super::results::{PackingResults, program_account, program_ns};
use crate::report::section::Captioned;
use crate::study::compared::Compared;
use manycore_figure::{Axis, Content, Figure, Panel, Point, Series};

const RATIOS: &str = "As in figure 1 of the poster: the time of thread reduction divided by the \
     time of each mode, on as many cores. Below 1 the mode is slower than thread reduction. Fair \
     sharing and pinned are closed forms.";
const BREAKDOWN: &str = "As in figure 2 of the poster: the time of all cores together by \
     activity, divided by their whole time under tp.";
const TIMELINE: &str = "Number of barriers passed while the program has 16, 15, 7, 12 and again \
     16 cores, for one second each; \"ideal\" is for cores that are never idle.";
const SWEEP: &str = "The time between two barriers divided by the mean computation of a rank (a \
     thread of the program) between them, for several lengths of this computation. Panels with \
     equal ranks also show the closed forms. Unequal ranks compute 1 - skew to 1 + skew times the \
     mean. The closed forms hold for ranks that cannot be divided. elastic divides the loops of a \
     rank, so it may take less time.";

/// All figures with their captions. The main figure of the study comes first.
pub(super) fn all(results: PackingResults<'_>) -> Vec<Captioned> {
    let config = results.config;
    let mut ratios = Vec::new();
    for &threads in &config.threads {
        for &kind in &config.kinds {
            ratios.extend(self::ratios(results, threads, kind));
        }
    }
    if let Some(first) = ratios.first_mut() {
        first.part = String::new();
    }
    let ratios = ratios.into_iter().map(|figure| (figure, RATIOS));
    let others = [
        breakdown(results).map(|figure| (figure, BREAKDOWN)),
        Some((timeline(results), TIMELINE)),
        Some((sweep(results), SWEEP)),
    ];
    let all = ratios.chain(others.into_iter().flatten());
    all.filter_map(|(figure, caption)| Captioned::new(figure, caption))
        .collect()
}

/// Figure 1 of the poster (`mod.rs` names it): a panel for each program and the mean, a line for each mode.
fn ratios(results: PackingResults<'_>, threads: usize, kind: Kind) -> Option<Figure> {
    let config = results.config;
    let modes = || config.modes.iter().filter(|&&mode| mode != Mode::Tr);
    let cores = config.cores_of(kind, threads);
    // A program, or the mean of all.
    let ratio = |load: Option<Load>, cores, mode| match load {
        Some(load) => results.ratio(load, threads, cores, mode),
        None => results.mean_ratio(kind, threads, cores, mode),
    };
    let programs = config.programs(kind);
    let each = programs.iter().map(|load| (load.name(), Some(*load)));
    let mean = (programs.len() > 1).then(|| ("geometric mean".to_owned(), None));
    let panel = |(title, load)| {
        let way = |&mode: &Mode| {
            let ratios = cores.iter().map(|&cores| ratio(load, cores, mode));
            (mode.name().to_owned(), ratios.collect())
        };
        reduction::panel(title, threads, &cores, modes().map(way).collect())
    };
    (!cores.is_empty()).then(|| Figure {
        part: format!("{}-{threads}", kind.name()),
        message: reduction::sentence(&compared(results, threads, kind)).text,
        note: format!(
            "Time if {threads} threads are reduced to one for each core (tr), divided by the time \
             if they are packed onto the cores; {} ({})",
            told(kind),
            config.setup.place()
        ),
        panels: each.chain(mean).map(panel).collect(),
    })
}

/// Describes the programs for a reader who does not have the poster.
fn told(kind: Kind) -> &'static str {
    match kind {
        Kind::Declared => "each program is declared by the computation and the reads of its phases",
        Kind::Intervals => "only work and barriers, with the intervals of each program",
        Kind::Real => "each program runs on a small input",
    }
}

/// The poster's figure 2: a panel for each program.
fn breakdown(results: PackingResults<'_>) -> Option<Figure> {
    let config = results.config;
    let threads = *config.threads.iter().max()?;
    let cores = config.swept_cores(threads);
    let panel = |load: Load| {
        let of = |mode| {
            let case = config.case(load, threads, cores, mode);
            results.of(&case).map(program_account)
        };
        let whole: f64 = of(Mode::Tp)?.parts().iter().sum();
        let row = |&mode: &Mode| {
            let parts = of(mode)?.parts().map(|part| part / whole);
            Some((mode.name().to_owned(), parts.into()))
        };
        Some(Panel {
            title: load.name(),
            content: Content::Bars {
                x: Axis::linear("time of all cores, tp = 1", ""),
                parts: Account::PARTS.map(str::to_owned).into(),
                rows: config.modes.iter().filter_map(row).collect(),
            },
        })
    };
    let panels = config.programs(config.kinds[0]).into_iter();
    Some(Figure {
        part: "breakdown".into(),
        message: format!("How {cores} cores that run {threads} threads spend their time"),
        note: format!(
            "One bar for each way to run the threads ({})",
            config.setup.place()
        ),
        panels: panels.filter_map(panel).collect(),
    })
}

/// The progress of programs while their cores change.
fn timeline(results: PackingResults<'_>) -> Figure {
    let config = results.config;
    let panel = |load: Load| {
        let modes = config.modes.iter().filter(|mode| mode.follows());
        let mut series: Vec<Series> = modes
            .filter_map(|&mode| {
                let runs = results.of(&config.course(load, mode))?;
                let passed = &runs.outcomes[0].passed_ns;
                // At most 100 points, since a reader does not see more.
                let step = passed.len().div_ceil(100).max(1);
                let seen = passed.iter().enumerate().step_by(step);
                let points = seen.map(|(barrier, ns)| Point::exact(ns / 1e9, barrier as f64));
                Some(Series::measured(mode.name(), points.collect()))
            })
            .collect();
        series.push(Series::computed("ideal", results.ideal_course(load)?));
        Some(Panel::lines(
            format!("{}, 16 threads", load.name()),
            Axis::linear("time", "s"),
            Axis::linear("barriers passed", ""),
            series,
        ))
    };
    Figure {
        part: "timeline".into(),
        message: "Progress of a program whose number of cores changes".into(),
        note: format!("Barriers passed ({})", config.setup.place()),
        panels: config.timed().into_iter().filter_map(panel).collect(),
    }
}

/// The times of intervals of all lengths, and the closed forms.
fn sweep(results: PackingResults<'_>) -> Figure {
    let config = results.config;
    let mut panels = Vec::new();
    let us = |load: &Load| load.interval_ns().unwrap_or(0.0) / 1e3;
    for &threads in &config.threads {
        let cores = config.swept_cores(threads);
        for skew in [0, config.skew] {
            let loads = config.swept().into_iter();
            let loads: Vec<Load> = loads.filter(|load| load.skew() == skew).collect();
            let line = |&mode: &Mode| {
                let point = |load: &Load| {
                    let stretch = results.stretch(*load, threads, cores, mode)?;
                    Some(Point::exact(us(load), stretch))
                };
                Series::measured(mode.name(), loads.iter().filter_map(point).collect())
            };
            let mut series: Vec<Series> = config.modes.iter().map(line).collect();
            let longest = loads.first().map_or(1.0, Load::longest);
            let ideal = ideal(threads, cores, longest);
            series.push(Series::level("ideal", ideal));
            if skew == 0 {
                series.push(Series::level("fair sharing", fair(threads, cores)));
                series.push(Series::level("pinned", pinned(threads, cores)));
            }
            let ranks = if skew == 0 { "equal" } else { "unequal" };
            panels.push(Panel::lines(
                format!("{threads} {ranks} ranks on {cores} cores"),
                Axis::logarithmic("work between two barriers", "us"),
                // Longer times come from waits for wake-ups. They are drawn at the edge.
                Axis::linear("time / work", "").up_to(3.0 * pinned(threads, cores)),
                series,
            ));
        }
    }
    Figure {
        part: "sweep".into(),
        message: "Time from one barrier to the next, divided by the work of a rank between them"
            .into(),
        note: format!("Ranks that only work and wait ({})", config.setup.place()),
        panels,
    }
}

/// The times in each mode.
fn compared(results: PackingResults<'_>, threads: usize, kind: Kind) -> Compared {
    let (config, setup) = (results.config, &results.config.setup);
    let cores = config.swept_cores(threads);
    let place = reduction::place(threads, cores);
    let mut compared = Compared::new(place, setup.unit(), !setup.machines.is_host());
    for load in config.programs(kind) {
        let times = config.modes.iter().filter_map(|&mode| {
            let runs = results.of(&config.case(load, threads, cores, mode))?;
            let times = runs.each().map(|run| program_ns(&run)).collect();
            Some((mode.name().to_owned(), times))
        });
        compared.add(load.name(), times);
    }
    compared
}

/// The times of the study's own figure.
pub(super) fn compared_first(results: PackingResults<'_>) -> Option<Compared> {
    let config = results.config;
    let (&threads, &kind) = (config.threads.first()?, config.kinds.first()?);
    Some(compared(results, threads, kind))
}
