//! The studies. A new study needs a file here and a line in `list.rs`. It then has a command, help, and a section of
//! the report.

mod barrier;
pub(crate) mod block_size;
mod chip;
pub(crate) mod compared;
mod cost_inputs;
mod graph;
mod list;
mod models;
pub(crate) mod order;
pub(crate) mod ordered;
pub(crate) mod packing;
pub(crate) mod peers;
mod robustness;
pub(crate) mod settings;
mod sleep;
mod spawn;
mod stealing;
mod streamcluster;
mod team;
mod trial;
mod unit;
pub(crate) mod unknown;

use crate::failure::bad_input;
use crate::instrument;
use crate::measure::journal::Journal;
use crate::report::files::OutFolder;
use crate::report::section::{Captioned, Section};
use crate::world::World;
use compared::{Compared, SentenceOf};
pub(crate) use list::{STUDIES, find, help};
use manycore_figure::FigureForm;
use order::Orders;
use settings::{Key, Settings};
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// The most threads of a study on this host. The threads wait for each other, so they should fit on
/// a machine.
const MOST_THREADS: usize = 1024;

/// A question, and the measurements that answer it.
pub(crate) trait Study: Sync {
    /// The name that the user types. The names of the files begin with it.
    fn name(&self) -> &'static str;

    /// The question, for `--help`.
    fn question(&self) -> &'static str;

    /// The default machine, as a value of `--on`.
    fn home(&self) -> &'static str;

    /// The default machine for a user's `--set` pairs, since some pairs require another machine.
    fn home_with(&self, _set: &[String]) -> &'static str {
        self.home()
    }

    /// The settings that the study knows.
    fn keys(&self) -> &'static [Key];

    /// The numbers of cores in a quick report on the default machine. If empty, the study decides.
    fn brief_cores(&self) -> &'static [usize] {
        &[]
    }

    /// Whether the study is short enough for a quick report.
    fn is_brief(&self) -> bool {
        true
    }

    /// The number of orders of events (seeds of random delays: `order.rs`) in a quick report on the
    /// default machine. Under these orders the report measures the times that the study's sentence
    /// (its finding in words) compares. It always measures the machine without perturbation too.
    fn brief_orders(&self) -> u64 {
        0
    }

    /// Whether the study's own tables and figures have intervals over orders of events. If so, `--orders` needs no
    /// sweep.
    fn has_intervals(&self) -> bool {
        false
    }

    /// The function that makes the study's sentence. `None` if the sentence does not compare times under several orders
    /// of events.
    fn sentence(&self) -> Option<SentenceOf> {
        None
    }

    /// Checks a request and decides what to measure. Writes nothing.
    fn plan(&self, request: &Request) -> anyhow::Result<Box<dyn Plan>>;
}

/// A request that has passed the checks of [`Study::plan`].
pub(crate) trait Plan: Sync {
    /// Measures, which can take minutes. Writes only a journal (a file of measurements).
    fn measure(&self, out: &OutFolder) -> anyhow::Result<Findings>;

    /// The hash of everything that decides what is measured.
    fn question_hash(&self) -> anyhow::Result<String>;

    /// Measures only the times that the study's sentence compares.
    fn compare(&self, out: &OutFolder) -> anyhow::Result<Comparison>;
}

/// The times that a study's sentence compares.
#[derive(Debug)]
pub(crate) struct Comparison {
    pub(crate) compared: Option<Compared>,
    /// The hash of all simulations.
    pub(crate) hash: String,
    pub(crate) journal: Journal,
}

/// A user's request to a study.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) world: World,
    pub(crate) settings: Settings,
    /// The numbers of threads. If empty, the machine decides.
    pub(crate) threads: Vec<NonZeroUsize>,
    /// If empty, the study decides.
    pub(crate) cores: Vec<NonZeroUsize>,
    /// If empty, everything is measured.
    pub(crate) only: Vec<String>,
    pub(crate) full: bool,
    pub(crate) seed: u64,
    /// The orders of events, for a study with [intervals](Study::has_intervals). `None`: the machine's one order.
    pub(crate) orders: Option<Orders>,
    /// Whether to discard what an interrupted run has measured.
    pub(crate) fresh: bool,
}

impl Request {
    /// A request of a test: everything but the world and the settings is as without flags.
    #[cfg(test)]
    fn plain(world: World, settings: Settings) -> Self {
        Self {
            world,
            settings,
            threads: Vec::new(),
            cores: Vec::new(),
            only: Vec::new(),
            full: false,
            seed: 1,
            orders: None,
            fresh: false,
        }
    }

    /// For studies that count threads: refuses `--cores`, and too many threads on this host.
    fn counts_threads(&self) -> anyhow::Result<()> {
        if !self.cores.is_empty() {
            return Err(bad_input(
                "--cores: this study counts threads; expected --threads",
            ));
        }
        let native = matches!(self.world, World::Native);
        match self.threads.iter().find(|count| count.get() > MOST_THREADS) {
            Some(count) if native => Err(bad_input(format!(
                "--threads {count}: expected at most {MOST_THREADS} on this host"
            ))),
            _ => Ok(()),
        }
    }

    /// Refuses `--threads`, for studies that count cores.
    fn counts_cores(&self) -> anyhow::Result<()> {
        match self.threads.is_empty() {
            true => Ok(()),
            false => Err(bad_input(
                "--threads: this study counts cores; expected --cores",
            )),
        }
    }
}

/// The findings of a study, in each form that a caller needs.
#[derive(Debug)]
pub(crate) struct Findings {
    /// The prefix of the files' names: study and machine.
    pub(crate) file: String,
    /// The tables and figures, with their meaning.
    pub(crate) section: Section,
    pub(crate) csv: String,
    /// The times that the study's sentence compares.
    pub(crate) compared: Option<Compared>,
    /// Further files: the part of the name after `NAME.MACHINE.`, and the content.
    pub(crate) more: Vec<(&'static str, String)>,
    /// The origin of the numbers: `NAME.MACHINE.meta.json`.
    pub(crate) meta: serde_json::Value,
    /// All findings, for `--format json`.
    pub(crate) json: serde_json::Value,
    /// The journal, which the caller removes once the result files are written.
    pub(crate) journal: Journal,
}

impl Findings {
    /// A summary in a few lines.
    pub(crate) fn summary(&self) -> String {
        let message = self.section.figures.first();
        let message = message.map(|shown| shown.figure.message.clone());
        let hash = self.meta["hash"].as_str();
        let hash = hash.map(|hash| format!("hash of all simulations: {hash}"));
        let lines = self.section.caution.iter().cloned();
        let lines = lines.chain(message).chain(hash);
        lines.map(|line| line + "\n").collect()
    }
}

/// The caption of the figure of `--stats`.
const STACKS: &str = "How the cores spent their time. A bar stands for all cores of a simulation \
                      together. `serialised` is the part of accesses in which a request waited \
                      until the home of its line had served other requests.";

/// Carries out a plan, and writes the study's files after the last measurement. The measurements stay in the journal.
///
/// Each file is written under two names. The name with the machine keeps it apart from the results of other machines.
/// The name of the study alone has the latest result.
pub(crate) fn run(
    study: &dyn Study,
    plan: &dyn Plan,
    form: &FigureForm,
    out: &OutFolder,
) -> anyhow::Result<(Findings, Vec<[PathBuf; 2]>)> {
    let mut findings = plan.measure(out)?;
    let paths = write(study, &mut findings, form, out)?;
    Ok((findings, paths))
}

/// Writes the study's files.
pub(crate) fn write(
    study: &dyn Study,
    findings: &mut Findings,
    form: &FigureForm,
    out: &OutFolder,
) -> anyhow::Result<Vec<[PathBuf; 2]>> {
    if let Some((csv, figure)) = instrument::counted(&findings.section.place)? {
        findings.more.push(("stats.csv", csv));
        findings
            .section
            .figures
            .extend(Captioned::new(figure, STACKS));
    }
    let meta = serde_json::to_string_pretty(&findings.meta)? + "\n";
    // The name in each entry is what follows `NAME.` and `NAME.MACHINE.` in the files' names.
    let mut files = vec![("csv".to_owned(), findings.csv.clone().into_bytes())];
    for shown in &findings.section.figures {
        let drawn = form.files(&shown.figure.part, &shown.figure)?;
        let ending = |name: String| name.trim_start_matches('.').to_owned();
        files.extend(drawn.into_iter().map(|(name, bytes)| (ending(name), bytes)));
    }
    files.push(("meta.json".to_owned(), meta.into_bytes()));
    for (ending, contents) in &findings.more {
        files.push(((*ending).to_owned(), contents.clone().into_bytes()));
    }
    let mut paths = Vec::new();
    for (ending, contents) in files {
        let write = |name: &str| out.write(&format!("{name}.{ending}"), &contents);
        paths.push([write(&findings.file)?, write(study.name())?]);
        let kept = format!("{}.{ending}", findings.file);
        findings.section.files.push(kept);
    }
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a study in `out`, on this host, with the settings `set`.
    fn run_in(out: &OutFolder, study: &'static dyn Study, set: &[&str]) -> Findings {
        let pairs: Vec<String> = set.iter().map(|&pair| pair.into()).collect();
        let settings = Settings::parse(&pairs, study.keys()).unwrap();
        let plan = study.plan(&Request::plain(World::Native, settings));
        run(
            study,
            &*plan.unwrap(),
            &FigureForm::parse(&[]).unwrap(),
            out,
        )
        .unwrap()
        .0
    }

    /// A report that was killed after the end of a study runs the study again. A second native
    /// measurement would have other times.
    #[test]
    fn a_study_that_is_done_is_not_measured_again() {
        let home = tempfile::tempdir().unwrap();
        let out = OutFolder::prepare(home.path()).unwrap();
        let loops = [
            "n=8",
            "rounds=1",
            "blocks=1",
            "reads=64",
            "writes=64",
            "comps=64",
        ];
        for (study, set) in [
            (block_size::STUDY, &loops[..]),
            // This study runs in rounds, for 1 s.
            (barrier::STUDY, &["episodes=10", "seconds=1"]),
        ] {
            let first = run_in(&out, study, set);
            let again = run_in(&out, study, set);
            assert_eq!(again.csv, first.csv, "{}", study.name());
            again.journal.remove().unwrap();
            assert_ne!(run_in(&out, study, set).csv, first.csv);
        }
    }
}
