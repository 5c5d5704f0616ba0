//! What was found: ratios to thread reduction, and whether results were right.

use super::super::closed_form::{fair, ideal, pinned};
use super::super::reduction::Reduction;
use super::BinariesConfig;
use super::case::{BinaryCase, Verdict};
use super::way::Way;
use crate::measure::statistics::Spread;
use crate::report::section::{Block, Captioned};
use crate::report::table::{Cell, Table};
use crate::study::trial::{Answer, Extra, MeasuredTrials, Runs};
use serde::Serialize;
use std::path::Path;

const CAPTION: &str = "After the poster's figure 1: the time of thread reduction over that of the way, on as many \
     cores; less than 1 is slower. Fair sharing and pinned are closed forms.";

/// A case: a line of `packing.csv`.
#[derive(Clone, Debug, Serialize)]
pub(in crate::study::packing) struct BinaryRow {
    world: &'static str,
    machine: String,
    program: String,
    threads: usize,
    cores: usize,
    mode: &'static str,
    /// From begin to end, of runs whose result was right; empty if none was.
    time: Option<f64>,
    time_p10: Option<f64>,
    time_p90: Option<f64>,
    /// The time under thread reduction on as many cores over this.
    ratio_tr: Option<f64>,
    /// Time of the cores that the program was given, together, of all runs.
    user: f64,
    system: f64,
    idle: f64,
    /// Runs whose result was right, of so many.
    right: usize,
    runs: usize,
    /// What the first run whose result was not right ended with.
    otherwise: &'static str,
    unit: &'static str,
}

/// The numbers.
#[derive(Clone, Copy)]
pub(super) struct BinariesResults<'a> {
    pub(super) config: &'a BinariesConfig,
    pub(super) measured: &'a MeasuredTrials<BinaryCase>,
}

/// A case's runs.
type Found<'a> = &'a Runs<BinaryCase>;

/// The times of runs whose result was right, in seconds.
fn time(runs: Found<'_>) -> Option<Spread> {
    let right = runs.outcomes.iter();
    let right = right.filter(|outcome| outcome.verdict == Verdict::Right);
    let times: Vec<f64> = right.map(|outcome| outcome.seconds).collect();
    (!times.is_empty()).then(|| Spread::of(&times))
}

/// How many runs' results were right, and what the first other one ended with.
fn verified(runs: Found<'_>) -> (usize, Option<Verdict>) {
    let verdicts = || runs.outcomes.iter().map(|outcome| outcome.verdict);
    let right = verdicts().filter(|&verdict| verdict == Verdict::Right);
    let other = verdicts().find(|&verdict| verdict != Verdict::Right);
    (right.count(), other)
}

impl<'a> BinariesResults<'a> {
    fn of(self, program: &Path, threads: usize, cores: usize, way: &Way) -> Option<Found<'a>> {
        let case = self.config.case(program, threads, cores, way);
        self.measured.0.iter().find(|runs| runs.trial == case)
    }

    fn seconds(self, program: &Path, threads: usize, cores: usize, way: &Way) -> Option<f64> {
        Some(time(self.of(program, threads, cores, way)?)?.median)
    }

    /// The time of thread reduction over that of a way.
    fn ratio(self, program: &Path, threads: usize, cores: usize, way: &Way) -> Option<f64> {
        let seconds = |way| self.seconds(program, threads, cores, way);
        Some(seconds(&Way::Tr)? / seconds(way)?)
    }

    /// What all programs lose, as the poster shows it.
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

    /// All ways but the one that they are compared with.
    fn others(self) -> impl Iterator<Item = &'a Way> {
        self.config.ways.iter().filter(|way| **way != Way::Tr)
    }

    pub(super) fn answer(self) -> Answer<BinaryRow> {
        let config = self.config;
        let tables = config.threads.iter().map(|&threads| self.table(threads));
        let figures = config.threads.iter().enumerate();
        let figures = figures.filter_map(|(at, &threads)| {
            let part = match at {
                0 => String::new(),
                _ => format!("{threads}"),
            };
            Captioned::new(self.reduction(threads).figure(part), CAPTION)
        });
        Answer {
            figures: figures.collect(),
            blocks: tables.map(Block::Table).collect(),
            rows: self.rows(),
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
                    let runs = self.of(program, threads, cores, way);
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
                    Cell::new(mean.map_or("-".into(), |mean| format!("{mean:.3}")))
                }));
                row.extend(closed());
                rows.push(row);
            }
        }
        Table {
            caption: format!("{threads} threads: time of thread reduction over the way's time"),
            header,
            rows,
        }
    }

    fn rows(self) -> Vec<BinaryRow> {
        let setup = &self.config.setup;
        let row = |runs: Found<'_>| {
            let case = &runs.trial;
            let (right, other) = verified(runs);
            let spread = time(runs);
            let ms = |seconds: f64| (seconds * 1e6).round() / 1e3;
            let mean = |of: &dyn Fn(&super::case::BinarySample) -> f64| {
                runs.outcomes.iter().map(of).sum::<f64>() / runs.outcomes.len() as f64
            };
            let (user, system) = (mean(&|one| one.user), mean(&|one| one.system));
            let all = mean(&|one| one.seconds) * case.cores as f64;
            BinaryRow {
                world: setup.world,
                machine: setup.machine.clone(),
                program: case.name(),
                threads: case.threads,
                cores: case.cores,
                mode: case.way.name(),
                time: spread.map(|spread| ms(spread.median)),
                time_p10: spread.map(|spread| ms(spread.p10)),
                time_p90: spread.map(|spread| ms(spread.p90)),
                ratio_tr: self.ratio(&case.program, case.threads, case.cores, &case.way),
                user: ms(user),
                system: ms(system),
                idle: ms((all - user - system).max(0.0)),
                right,
                runs: runs.outcomes.len(),
                otherwise: other.map_or("", Verdict::name),
                unit: "ms",
            }
        };
        self.measured.0.iter().map(row).collect()
    }
}

/// A number of a case, and how many of its runs were not verified.
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
