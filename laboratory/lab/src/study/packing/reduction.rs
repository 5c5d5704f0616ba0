//! Figure 1 of the poster (`mod.rs` names it): the time of thread reduction, divided by the time of other ways.

use super::closed_form::{fair, ideal, pinned};
use super::mode::Mode;
use super::results::mean;
use crate::measure::ratio::Ratio;
use crate::report::words::{list, more_or_less};
use crate::study::compared::{Compared, Sentence, difference};
use manycore_figure::{Axis, Content, DotRow, Figure, Panel, Point, Series, Value};

/// Programs with `threads` threads that run on fewer cores, with their times.
pub(super) struct Reduction<R> {
    pub(super) threads: usize,
    pub(super) cores: Vec<usize>,
    pub(super) programs: Vec<String>,
    /// All ways except thread reduction.
    pub(super) ways: Vec<String>,
    /// The name of the machine, for readers.
    pub(super) place: String,
    /// The ratio for a program, a number of cores and a way, if both times are known.
    pub(super) ratio: R,
}

impl<R: Fn(&str, usize, &str) -> Option<f64>> Reduction<R> {
    /// The mean of all programs, if the ratio of each is known.
    pub(super) fn mean(&self, cores: usize, way: &str) -> Option<f64> {
        let programs = self.programs.iter();
        mean(programs.map(|program| (self.ratio)(program, cores, way)))
    }

    /// The message about the greatest number of cores that is below the number of threads and has means.
    fn message(&self) -> String {
        let means = |cores| -> Vec<(&str, f64)> {
            let mean = |way: &'_ String| self.mean(cores, way);
            let ways = self.ways.iter();
            ways.filter_map(|way| Some((&**way, mean(way)?))).collect()
        };
        let few = self.cores.iter().filter(|&&cores| cores < self.threads);
        let found = few
            .rev()
            .chain(&self.cores)
            .find(|&&cores| !means(cores).is_empty());
        let cores = found.or(self.cores.last()).copied().unwrap_or(1);
        message(self.threads, cores, &means(cores))
    }

    /// A panel for each program, and a panel for the mean.
    pub(super) fn figure(&self, part: String) -> Figure {
        let each = self.programs.iter().map(|name| (name.clone(), Some(name)));
        let mean = (self.programs.len() > 1).then(|| ("geometric mean".to_owned(), None));
        let panels = each.chain(mean).map(|(title, program)| {
            let way = |way: &String| {
                let ratio = |&cores: &usize| match program {
                    Some(program) => (self.ratio)(program, cores, way),
                    None => self.mean(cores, way),
                };
                (way.clone(), self.cores.iter().map(ratio).collect())
            };
            let ways = self.ways.iter().map(way).collect();
            panel(title, self.threads, &self.cores, ways)
        });
        Figure {
            part,
            message: self.message(),
            note: format!(
                "Time if {} threads are reduced to one for each core (tr), divided by the time if \
                 they are packed onto the cores ({})",
                self.threads, self.place
            ),
            panels: match self.cores.is_empty() {
                true => Vec::new(),
                false => panels.collect(),
            },
        }
    }
}

/// Compares ways with thread reduction. `means` has the time of thread reduction, divided by the time of each way.
fn message(threads: usize, cores: usize, means: &[(&str, f64)]) -> String {
    let place = place(threads, cores);
    let said = means.iter();
    let said = said.map(|(way, ratio)| format!("{way} {}", more_or_less(1.0 / ratio - 1.0)));
    match means.is_empty() {
        true => format!("{place}: unknown, since not every program has a time"),
        false => format!("{place}: {}", list(&said.collect::<Vec<_>>())),
    }
}

/// The same comparison, under several orders of events or in several rounds.
pub(super) fn sentence(compared: &Compared) -> Sentence {
    let names = compared.names().into_iter();
    let ways = names.filter(|name| *name != Mode::Tr.name());
    let means: Vec<(&str, Ratio)> = ways
        .filter_map(|way| Some((way, compared.mean_ratio(way, Mode::Tr.name())?)))
        .collect();
    let said = means.iter();
    let said = said.map(|(way, ratio)| format!("{way} {}", difference(*ratio)));
    let place = &compared.place;
    Sentence {
        text: match means.is_empty() {
            true => format!("{place}: unknown, since not every program has a time"),
            false => format!(
                "{place}: {}{}",
                list(&said.collect::<Vec<_>>()),
                compared.ground()
            ),
        },
        ratios: means.iter().map(|(_, ratio)| (*ratio, 1.0)).collect(),
    }
}

/// The first words of the sentence.
pub(super) fn place(threads: usize, cores: usize) -> String {
    let number =
        |count: usize, thing: &str| format!("{count} {thing}{}", if count == 1 { "" } else { "s" });
    let [given, on, fewer] = [
        number(threads, "thread"),
        number(cores, "core"),
        number(cores, "thread"),
    ];
    format!("On {on} {given} take, compared with {fewer}")
}

/// A way to run the threads, and its ratio on each number of cores, if known.
pub(super) type Ratios = (String, Vec<Option<f64>>);

/// A panel with lines whose horizontal axis is the number of cores or, for a single number of cores, with dots.
pub(super) fn panel(title: String, threads: usize, cores: &[usize], ways: Vec<Ratios>) -> Panel {
    let content = match cores {
        [one] => dots(*one, ways),
        _ => lines(threads, cores, ways),
    };
    Panel { title, content }
}

fn time() -> Axis {
    Axis::linear("speed relative to tr", "")
}

fn lines(threads: usize, cores: &[usize], ways: Vec<Ratios>) -> Content {
    let against = |ratios: Vec<Option<f64>>| -> Vec<Point> {
        let points = cores.iter().zip(ratios);
        let known = points.filter_map(|(&cores, ratio)| Some(Point::exact(cores as f64, ratio?)));
        known.collect()
    };
    let closed = |name, form: fn(usize, usize) -> f64| {
        let ratio = |&cores: &usize| Some(ideal(threads, cores, 1.0) / form(threads, cores));
        Series::computed(name, against(cores.iter().map(ratio).collect()))
    };
    let measured = ways.into_iter();
    let mut series: Vec<Series> = measured
        .map(|(name, ratios)| Series::measured(name, against(ratios)))
        .collect();
    series.push(Series::level(Mode::Tr.name(), 1.0));
    series.push(closed("fair sharing", fair));
    series.push(closed("pinned", pinned));
    Content::Lines {
        x: Axis::linear("cores", ""),
        y: time(),
        series,
    }
}

fn dots(cores: usize, ways: Vec<Ratios>) -> Content {
    let row = |(label, ratios): Ratios| DotRow {
        label,
        dots: vec![ratios.first().copied().flatten().map(Value::exact)],
    };
    Content::Dots {
        x: time(),
        marks: vec![format!("{cores} cores")],
        rows: ways.into_iter().map(row).collect(),
        reference: Some(1.0),
    }
}
