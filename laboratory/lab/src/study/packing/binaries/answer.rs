//! The results: ratios to thread reduction, and whether the programs computed right results.

use super::super::closed_form::{fair, ideal, pinned};
use super::super::reduction::{Reduction, place, sentence};
use super::BinariesConfig;
use super::case::{BinaryCase, BinarySample, Verdict};
use super::way::Way;
use crate::measure::statistics::Spread;
use crate::report::csv::columns;
use crate::report::section::{Block, Captioned};
use crate::report::table::{Cell, Table};
use crate::study::compared::Compared;
use crate::study::trial::{Answer, Extra, Results, Runs};
use crate::study::unit::Unit;
use manycore_figure::Figure;
use std::path::Path;

const CAPTION: &str = "As in figure 1 of the poster: the time of thread reduction divided by the \
     time of each way, on as many cores. Below 1 the way is slower than thread reduction. Fair \
     sharing and pinned are closed forms.";

columns! {
    /// All runs of a case.
    pub(in crate::study::packing) BinaryRow(results: BinariesResults<'_>, runs: Found<'_>) {
        world: &'static str = results.config.setup.world,
        machine: String = results.config.setup.machine.clone(),
        program: String = runs.trial.name(),
        threads: usize = runs.trial.threads,
        cores: usize = runs.trial.cores,
        mode: &'static str = runs.trial.way.name(),
        /// The time from begin to end of runs with a right result. Empty if there is no such run.
        time: Option<f64> = time(runs).map(|time| ms(time.median)),
        time_p10: Option<f64> = time(runs).map(|time| ms(time.p10)),
        time_p90: Option<f64> = time(runs).map(|time| ms(time.p90)),
        /// The time under thread reduction on equally many cores, divided by `time`.
        ratio_tr: Option<f64> = results.ratio_of(&runs.trial),
        /// The time of all given cores by activity, as the mean of all runs.
        user: f64 = ms(mean(runs, |run| run.user)),
        system: f64 = ms(mean(runs, |run| run.system)),
        idle: f64 = ms(idle(runs)),
        /// The number of runs with a right result.
        right: usize = verified(runs).0,
        runs: usize = runs.outcomes.len(),
        /// The verdict on the first run without a right result.
        otherwise: &'static str = verified(runs).1.map_or("", Verdict::name),
        unit: &'static str = "ms",
    }
}

pub(super) type BinariesResults<'a> = Results<'a, BinariesConfig>;

type Found<'a> = &'a Runs<BinaryCase>;

/// The times of runs with right results, in seconds.
fn time(runs: Found<'_>) -> Option<Spread> {
    let right = runs.outcomes.iter();
    let right = right.filter(|outcome| outcome.verdict == Verdict::Right);
    let times: Vec<f64> = right.map(|outcome| outcome.seconds).collect();
    (!times.is_empty()).then(|| Spread::of(&times))
}

fn mean(runs: Found<'_>, of: impl Fn(&BinarySample) -> f64) -> f64 {
    runs.outcomes.iter().map(of).sum::<f64>() / runs.outcomes.len() as f64
}

/// The cores' time minus the program's processor time, in seconds.
fn idle(runs: Found<'_>) -> f64 {
    let all = mean(runs, |run| run.seconds) * runs.trial.cores as f64;
    (all - mean(runs, |run| run.user) - mean(runs, |run| run.system)).max(0.0)
}

fn ms(seconds: f64) -> f64 {
    (seconds * 1e6).round() / 1e3
}

/// The number of runs with a right result, and the verdict on the first other run.
fn verified(runs: Found<'_>) -> (usize, Option<Verdict>) {
    let verdicts = || runs.outcomes.iter().map(|outcome| outcome.verdict);
    let right = verdicts().filter(|&verdict| verdict == Verdict::Right);
    let other = verdicts().find(|&verdict| verdict != Verdict::Right);
    (right.count(), other)
}

impl<'a> BinariesResults<'a> {
    fn runs(self, program: &Path, threads: usize, cores: usize, way: &Way) -> Option<Found<'a>> {
        self.of(&self.config.case(program, threads, cores, way))
    }

    fn seconds(self, program: &Path, threads: usize, cores: usize, way: &Way) -> Option<f64> {
        Some(time(self.runs(program, threads, cores, way)?)?.median)
    }

    /// The time of thread reduction, divided by the time of a way.
    fn ratio(self, program: &Path, threads: usize, cores: usize, way: &Way) -> Option<f64> {
        let seconds = |way| self.seconds(program, threads, cores, way);
        Some(seconds(&Way::Tr)? / seconds(way)?)
    }

    fn ratio_of(self, case: &BinaryCase) -> Option<f64> {
        self.ratio(&case.program, case.threads, case.cores, &case.way)
    }

    /// The ratios of all programs, for figure 1 of the poster (`packing/mod.rs` names it).
    fn reduction(self, threads: usize) -> Reduction<impl Fn(&str, usize, &str) -> Option<f64>> {
        let config = self.config;
        let name = move |program: &Path| config.case(program, threads, 1, &Way::Tr).name();
        let programs = config.programs.iter();
        Reduction {
            threads,
            cores: config.cores_of(threads),
            programs: programs.clone().map(|program| name(program)).collect(),
            ways: self.others().map(|way| way.name().to_owned()).collect(),
            place: config.setup.place(),
            ratio: move |program: &str, cores, way: &str| {
                let program = programs.clone().find(|path| name(path) == program)?;
                let way = config.ways.iter().find(|other| other.name() == way)?;
                self.ratio(program, threads, cores, way)
            },
        }
    }

    /// The times of those ways (of running the threads) that have only right results, on the greatest number of cores
    /// below the number of threads.
    pub(super) fn compared(self, threads: usize) -> Compared {
        let (config, setup) = (self.config, &self.config.setup);
        let all = config.cores_of(threads);
        let few = all.iter().filter(|&&cores| cores < threads);
        let cores = few.max().or(all.last()).copied().unwrap_or(1);
        let mut compared = Compared::new(
            place(threads, cores),
            Unit::Microseconds,
            !setup.machines.is_host(),
        );
        let times = |program: &Path, way: &Way| {
            let runs = self.runs(program, threads, cores, way)?;
            let all_right = verified(runs).0 == runs.outcomes.len();
            all_right.then(|| runs.samples(|run| 1e6 * run.seconds))
        };
        let in_all = |way: &&Way| {
            let mut programs = config.programs.iter();
            programs.all(|program| times(program, way).is_some())
        };
        let ways: Vec<&Way> = config.ways.iter().filter(in_all).collect();
        for program in &config.programs {
            let times = ways
                .iter()
                .filter_map(|way| Some((way.name().to_owned(), times(program, way)?)));
            let name = config.case(program, threads, cores, &Way::Tr).name();
            compared.add(name, times);
        }
        compared
    }

    /// All ways except the baseline.
    fn others(self) -> impl Iterator<Item = &'a Way> {
        self.config.ways.iter().filter(|way| **way != Way::Tr)
    }

    pub(super) fn found(self) -> Answer<BinaryRow> {
        let config = self.config;
        let tables = config.threads.iter().map(|&threads| self.table(threads));
        let rows = self.measured.iter();
        let figures = config.threads.iter().enumerate();
        let figures = figures.filter_map(|(at, &threads)| {
            let part = match at {
                0 => String::new(),
                _ => format!("{threads}"),
            };
            let figure = Figure {
                message: sentence(&self.compared(threads)).text,
                ..self.reduction(threads).figure(part)
            };
            Captioned::new(figure, CAPTION)
        });
        Answer {
            figures: figures.collect(),
            blocks: tables.map(Block::Table).collect(),
            rows: rows.map(|runs| BinaryRow::new(self, runs)).collect(),
            extra: Extra::default(),
        }
    }

    fn table(self, threads: usize) -> Table {
        let (config, reduction) = (self.config, self.reduction(threads));
        let mut header = vec!["program".into(), "cores".into(), "tr, s".into()];
        header.extend(self.others().map(ToString::to_string));
        header.extend(["fair\nsharing", "pinned"].map(String::from));
        let mut rows = Vec::new();
        for cores in config.cores_of(threads) {
            let best = ideal(threads, cores, 1.0);
            let closed = [fair(threads, cores), pinned(threads, cores)];
            let closed = || closed.map(|time| Cell::new(format!("{:.3}", best / time)));
            for program in &config.programs {
                let case = config.case(program, threads, cores, &Way::Tr);
                let cell = |way: &Way, value: Option<f64>| {
                    let runs = self.runs(program, threads, cores, way);
                    Cell::new(told(runs, value))
                };
                let reduced = self.seconds(program, threads, cores, &Way::Tr);
                let mut row = vec![Cell::new(case.name()), Cell::new(cores.to_string())];
                row.push(cell(&Way::Tr, reduced));
                row.extend(
                    self.others()
                        .map(|way| cell(way, self.ratio(program, threads, cores, way))),
                );
                row.extend(closed());
                rows.push(row);
            }
            if config.programs.len() > 1 {
                let mut row = vec![Cell::new("geometric mean"), Cell::new(cores.to_string())];
                row.push(Cell::new(""));
                row.extend(self.others().map(|way| {
                    let mean = reduction.mean(cores, way.name());
                    Cell::or_dash(mean.map(|mean| format!("{mean:.3}")))
                }));
                row.extend(closed());
                rows.push(row);
            }
        }
        Table {
            caption: format!(
                "{threads} threads: time of thread reduction divided by the time of each way"
            ),
            header,
            rows,
        }
    }
}

/// A number of a case as text. If some results are not right, adds the first verdict and the number of right results.
fn told(runs: Option<Found<'_>>, value: Option<f64>) -> String {
    let value = value.map(|value| format!("{value:.3}"));
    let Some(runs) = runs else {
        return "-".into();
    };
    let (right, other) = verified(runs);
    match (value, other) {
        (Some(value), None) => value,
        (value, Some(other)) => format!(
            "{} ({}, {right} of {} right)",
            value.unwrap_or("-".into()),
            other.name(),
            runs.outcomes.len()
        ),
        (None, None) => "-".into(),
    }
}
