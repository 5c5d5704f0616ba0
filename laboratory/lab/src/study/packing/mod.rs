//! The cost of packing the threads of a program onto fewer cores, and runtimes that follow their cores instead.
//! After "The Performance Impact of Thread Packing on Synchronization-Intensive Applications" by Park, Park, Han
//! and Baek ("the poster" in this folder).

mod account;
mod benchmark;
mod binaries;
mod case;
mod closed_form;
mod config;
mod declared;
mod extent;
mod figure;
mod follow;
mod host;
mod intervals;
mod keys;
mod load;
mod memory;
mod mode;
mod noted;
pub(crate) mod printed;
mod reduction;
mod results;
mod rows;
mod run;
mod tables;
mod threads;
mod variation;
mod world;

use super::compared::{Compared, SentenceOf};
use super::settings::Key;
use super::trial::{Answer, Extra, Inquiry, Setup, Text, Trials};
use super::{Plan, Request, Study};
use crate::report::section::Block;
use binaries::BinariesConfig;
use case::PackingCase;
use config::PackingConfig;
pub(super) use intervals::STUDY as INTERVALS;
use results::PackingResults;
use rows::PackingRow;

/// The study `packing`.
pub(super) const STUDY: &dyn Study = &Packing;

/// The study of the poster's programs, or of the user's programs.
#[derive(Debug)]
struct Packing;

/// The poster's programs.
const POSTER: Inquiry<PackingConfig> = inquiry(TEXT, PackingConfig::new);
/// The user's compiled programs.
const BINARIES: Inquiry<BinariesConfig> = inquiry(binaries::TEXT, BinariesConfig::new);

const fn inquiry<Q>(text: Text, ask: fn(&Request) -> anyhow::Result<Q>) -> Inquiry<Q> {
    Inquiry {
        name: "packing",
        question: "how much time a program of T threads loses on C cores, and how to lose nothing",
        home: "e5-2640x2",
        keys: keys::KEYS,
        text,
        is_brief: true,
        brief_orders: 0,
        has_intervals: false,
        sentence: None,
        ask,
    }
}

const TEXT: Text = Text {
    title: "Thread packing",
    lead: "A program that was started with some number of threads may be given fewer cores. Then threads \
     share cores, and a thread that has a core for itself waits for the others at each barrier. The \
     ways to run the program are: tr, a start with as many threads as cores; tp, with all threads, \
     which the system places; tp-pinned, with each thread bound to a core; elastic and wrap, runtimes \
     that follow their cores. The question and the first three ways are those of a poster by J. Park, \
     S. Park, M. Han and W. Baek.",
    how: &[
        "A program whose threads meet at barriers is given fewer cores than it has threads. Thread \
         reduction (tr) starts it with as many threads as cores, each on its own core. Thread packing \
         (tp) puts all of its threads under a mask of the cores, and leaves the rest to the system; \
         tp-pinned binds each thread to a core. elastic runs the program's phases as parallel loops on a \
         pool that follows its cores. wrap runs all of its ranks, at user level, on workers that follow \
         their cores. After a poster by Park, Park, Han and Baek (UNIST).",
        "The operating system of a simulated machine places, slices and balances threads by the \
         rules of Linux 5.12 to 6.5; a mask of C cores is the machine's first C cores. Programs \
         that are too large are declared, not executed. An item then takes the time of its \
         instructions and of its bytes: the cores that read memory share its bandwidth, and a \
         core has at most ten lines under way at once. The study verifies that every item ran \
         once. The work of one thread before the others begin is declared as well: it reads the \
         program's file from a disk of 150 MB/s, and makes the program's data. The time of a \
         program is the time of this work, plus the mean time of a step for each of its steps. In \
         the intervals of table I the threads only compute.",
        "A simulated run on constant cores is doubled until it is steady. Then its first half \
         does not count, and the mean time of a step in its second half is known to 0.5%, by the \
         means of eight batches (Student's interval, 95%). If a program ends before it is steady, \
         it runs from its first step to its last, and all steps count. A tilde marks a run that \
         is not steady although it is 32 times as long as the shortest run, or 50,000 barriers \
         long.",
        "On this host each round runs all cases in shuffled order, so that all meet the same \
         disturbance. A rank's work is a chain of additions. The first 2 ms of each run do not count. \
         The study does not check whether a run is steady, since noise from neighbours would prevent it.",
    ],
};

impl Study for Packing {
    fn name(&self) -> &'static str {
        POSTER.name
    }

    fn question(&self) -> &'static str {
        POSTER.question
    }

    fn home(&self) -> &'static str {
        POSTER.home
    }

    fn home_with(&self, set: &[String]) -> &'static str {
        let (key, value) = keys::BINARIES;
        let mut pairs = set.iter().filter_map(|pair| pair.split_once('='));
        match pairs.any(|(name, text)| (name.trim(), text.trim()) == (key, value)) {
            true => "native",
            false => self.home(),
        }
    }

    fn keys(&self) -> &'static [Key] {
        POSTER.keys
    }

    fn brief_cores(&self) -> &'static [usize] {
        &[4, 8, 12, 15, 16]
    }

    fn brief_orders(&self) -> u64 {
        POSTER.brief_orders
    }

    fn sentence(&self) -> Option<SentenceOf> {
        Some(reduction::sentence)
    }

    fn plan(&self, request: &Request) -> anyhow::Result<Box<dyn Plan>> {
        let (key, value) = keys::BINARIES;
        match request.settings.text(key) == Some(value) {
            true => BINARIES.plan(request),
            false => POSTER.plan(request),
        }
    }
}

impl Trials for PackingConfig {
    type Trial = PackingCase;
    type Row = PackingRow;

    fn setup(&self) -> &Setup {
        &self.setup
    }

    fn trials(&self) -> Vec<PackingCase> {
        self.cases()
    }

    fn answer(results: PackingResults<'_>) -> anyhow::Result<Answer<PackingRow>> {
        let rows = results.measured.iter();
        Ok(Answer {
            figures: figure::all(results),
            blocks: tables::all(results).into_iter().map(Block::Table).collect(),
            rows: rows.map(|runs| PackingRow::new(results, runs)).collect(),
            extra: Extra::default(),
        })
    }

    fn compared_trials(&self) -> Vec<PackingCase> {
        self.compared_cases()
    }

    fn compared(results: PackingResults<'_>) -> Option<Compared> {
        figure::compared_first(results)
    }
}
