//! `manycore figure FILE.csv`: draws figure 1 of the poster (`mod.rs` names it) from a table of times. Another command
//! ran the programs.

use super::mode::Mode;
use super::reduction::Reduction;
use crate::failure::bad_input;
use crate::model::{ModelError, Source};
use manycore_figure::Figure;
use std::collections::BTreeMap;
use std::path::Path;

/// The required columns. An optional column `class` distinguishes programs of one name, and an
/// optional column `world` names the kind of machine.
const COLUMNS: [&str; 7] = [
    "machine", "program", "threads", "cores", "mode", "time", "unit",
];

/// The most figures, panels of a figure, and lines of a panel that a reader can distinguish.
const MOST: [(&str, usize); 3] = [
    ("machines and numbers of threads", 24),
    ("programs", 24),
    ("modes other than `tr`", 8),
];

const COUNT: &str = "a whole number from 1 to 4096";
const TIME: &str = "a number above 0, or nothing if no result was right";

/// A figure's times, of one machine and one number of threads.
#[derive(Default)]
struct Times {
    machine: String,
    threads: usize,
    /// The names of the programs, in the order of the table.
    programs: Vec<String>,
    ways: Vec<String>,
    cores: Vec<usize>,
    /// The times, by program, cores and way (of running the threads).
    times: BTreeMap<(String, usize, String), f64>,
}

/// The figures of a table, one for each machine and number of threads.
///
/// # Errors
///
/// If a row is not a measurement, or if no time can be compared with thread reduction.
pub(crate) fn figures(path: &Path) -> anyhow::Result<Vec<Figure>> {
    let refused = |error: ModelError| bad_input(error.to_string());
    let wrong = |what: String| bad_input(format!("{}{what}", path.display()));
    let source = Source::open(path).map_err(refused)?;
    let sheet = source.sheet(&COLUMNS).map_err(refused)?;
    let mut all: Vec<Times> = Vec::new();
    let mut unit = None;
    for row in sheet.rows() {
        let line = row.line();
        let count = |column| row.parse(column, COUNT, |count| (1..=4096).contains(count));
        let threads = count("threads").map_err(refused)?;
        let cores = count("cores").map_err(refused)?;
        if cores > threads {
            return Err(wrong(format!(
                ", line {line}: {threads} threads on {cores} cores; expected no more cores than threads"
            )));
        }
        let found = row.text("unit").to_owned();
        let first = unit.get_or_insert_with(|| found.clone());
        if *first != found {
            return Err(wrong(format!(
                ", line {line}: the unit `{found}`; expected `{first}`, as in the rows before"
            )));
        }
        let machine = match row.text("world") {
            "simulated" => format!("simulated: {}", row.text("machine")),
            _ => row.text("machine").to_owned(),
        };
        let at = all
            .iter()
            .position(|one| one.machine == machine && one.threads == threads);
        let at = at.unwrap_or_else(|| {
            all.push(Times {
                machine,
                threads,
                ..Times::default()
            });
            all.len() - 1
        });
        let program = format!("{} {}", row.text("program"), row.text("class"));
        let (program, way) = (program.trim().to_owned(), row.text("mode").to_owned());
        all[at].note(&program, cores, &way);
        let found = [all.len(), all[at].programs.len(), all[at].ways.len()];
        if let Some((found, (what, most))) =
            found.into_iter().zip(MOST).find(|(n, (_, most))| n > most)
        {
            return Err(wrong(format!(
                ", line {line}: {found} {what}; expected at most {most}"
            )));
        }
        if row.text("time").is_empty() {
            continue;
        }
        let time: f64 = row
            .parse("time", TIME, |time: &f64| time.is_finite() && *time > 0.0)
            .map_err(refused)?;
        let told = format!("{program}, {threads} threads on {cores} cores, {way}");
        if all[at].times.insert((program, cores, way), time).is_some() {
            return Err(wrong(format!(
                ", line {line}: a second time of {told}; expected one time"
            )));
        }
    }
    all.retain(Times::compares);
    if all.is_empty() {
        return Err(wrong(
            ": no program has a time of `tr` and one of another mode on as many cores; expected both"
                .into(),
        ));
    }
    let alone = all.len() == 1;
    let figures = all.into_iter().map(|one| {
        let part = match alone {
            true => String::new(),
            // The `part` becomes part of the name of the figure's file.
            false => format!(
                "{}-{}",
                one.machine
                    .replace(|letter: char| !letter.is_alphanumeric(), "-"),
                one.threads
            ),
        };
        one.reduction().figure(part)
    });
    Ok(figures.collect())
}

impl Times {
    /// Adds the program, the way and the cores of a measurement, if they are new.
    fn note(&mut self, program: &str, cores: usize, way: &str) {
        let news = |all: &[String], name| !all.iter().any(|other| other == name);
        if news(&self.programs, program) {
            self.programs.push(program.to_owned());
        }
        if way != Mode::Tr.name() && news(&self.ways, way) {
            self.ways.push(way.to_owned());
        }
        if let Err(place) = self.cores.binary_search(&cores) {
            self.cores.insert(place, cores);
        }
    }

    /// The time of thread reduction divided by the time of a way.
    fn ratio(&self, program: &str, cores: usize, way: &str) -> Option<f64> {
        let time = |way: &str| self.times.get(&(program.to_owned(), cores, way.to_owned()));
        Some(time(Mode::Tr.name())? / time(way)?)
    }

    /// Whether a time can be compared with that of thread reduction.
    fn compares(&self) -> bool {
        let mut known = self.times.keys();
        known.any(|(program, cores, way)| {
            way != Mode::Tr.name() && self.ratio(program, *cores, way).is_some()
        })
    }

    fn reduction(self) -> Reduction<impl Fn(&str, usize, &str) -> Option<f64>> {
        Reduction {
            threads: self.threads,
            cores: self.cores.clone(),
            programs: self.programs.clone(),
            ways: self.ways.clone(),
            place: self.machine.clone(),
            ratio: move |program: &str, cores, way: &str| self.ratio(program, cores, way),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use manycore_figure::{Content, Part};

    const HEADER: &str = "machine,program,class,threads,cores,mode,time,unit";

    fn found(rows: &str) -> Result<Vec<Figure>, String> {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("t.csv");
        std::fs::write(&path, format!("{HEADER}\n{rows}")).unwrap();
        figures(&path).map_err(|error| error.to_string())
    }

    #[test]
    fn a_panel_a_program_and_one_of_the_mean() {
        let rows = "m,cg,S,16,15,tr,100,cycles\nm,cg,S,16,15,tp,200,cycles\nm,cg,S,16,8,tr,100,cycles\n\
                    m,cg,S,16,8,tp,100,cycles\nm,ft,S,16,15,tr,100,cycles\nm,ft,S,16,15,tp,800,cycles\n\
                    m,ft,S,16,8,tr,100,cycles\nm,ft,S,16,8,tp,,cycles\n";
        let figures = found(rows).unwrap();
        assert_eq!(figures.len(), 1);
        let figure = &figures[0];
        assert_eq!(
            figure.message,
            "On 15 cores 16 threads take, compared with 15 threads: tp 300.0% more"
        );
        let titles: Vec<&str> = figure.panels.iter().map(|panel| &*panel.title).collect();
        assert_eq!(titles, ["cg S", "ft S", "geometric mean"]);
        let tp = |panel: usize| {
            let Content::Lines { series, .. } = &figure.panels[panel].content else {
                panic!("lines over the numbers of cores");
            };
            let Part::Measured(points) = &series[0].part else {
                panic!("measured")
            };
            points
                .iter()
                .map(|point| (point.x, point.y.at))
                .collect::<Vec<_>>()
        };
        assert_eq!(tp(0), [(8.0, 1.0), (15.0, 0.5)]);
        // If a program has no time, there is no mean over programs.
        assert_eq!(tp(1), [(15.0, 0.125)]);
        assert_eq!(tp(2), [(15.0, 0.25)]);
    }

    #[test]
    fn machines_and_numbers_of_threads_have_figures_of_their_own() {
        let row = |machine, threads| {
            format!("{machine},a,,{threads},1,tr,1,s\n{machine},a,,{threads},1,tp,2,s\n")
        };
        let figures = found(&(row("m", 2) + &row("m", 4) + &row("../n", 2))).unwrap();
        let parts: Vec<&str> = figures.iter().map(|figure| &*figure.part).collect();
        assert_eq!(parts, ["m-2", "m-4", "---n-2"]);
    }

    #[test]
    fn what_is_no_measurement_is_named() {
        for (rows, expected) in [
            (
                "m,a,,2,1,tr,x,s\n",
                "line 2: `time` is `x`; expected a number above 0",
            ),
            (
                "m,a,,2,1,tr,0,s\n",
                "line 2: `time` is `0`; expected a number above 0",
            ),
            (
                "m,a,,0,1,tr,1,s\n",
                "line 2: `threads` is `0`; expected a whole number",
            ),
            (
                "m,a,,2,3,tr,1,s\n",
                "line 2: 2 threads on 3 cores; expected no more cores",
            ),
            (
                "m,a,,2,1,tr,1,s\nm,a,,2,1,tr,1,s\n",
                "line 3: a second time of a, 2 threads",
            ),
            (
                "m,a,,2,1,tr,1,s\nm,a,,2,1,tp,1,ms\n",
                "line 3: the unit `ms`; expected `s`",
            ),
            (
                "m,a,,2,1,tr,1,s\nm,a,,2,2,tp,1,s\n",
                "t.csv: no program has a time of `tr`",
            ),
            ("m,a,,2,1,tp,1,s\n", "expected both"),
        ] {
            let error = found(rows).unwrap_err();
            assert!(error.contains(expected), "{rows}: {error}");
        }
    }
}
