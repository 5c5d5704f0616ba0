//! How fork-join programs speed up under each way for idle workers to sleep
//! and be woken: the experiment of the sleep counters' document.

mod cell;
mod config;
mod figure;
mod measured;
mod native;
mod only;
mod pool;
mod published;
mod rows;
mod simulated;
mod speedup;
#[cfg(test)]
mod synthetic;
mod tables;

use super::settings::{Key, keys};
use super::trial::{Answer, Extra, Fingerprints, Inquiry, Question, Session, Text, measure_cells};
use super::{Comparison, Study};
use crate::measure::journal::Journal;
use crate::report::csv;
use crate::report::section::{Block, Captioned};
use config::SleepConfig;
use manycore::topology::Topology;
use measured::MeasuredPolicies;
use published::Published;
use rows::SleepRow;
use serde_json::json;

/// The study `sleep`.
pub(super) const STUDY: &dyn Study = &Inquiry {
    name: "sleep",
    question: "how fork-join programs speed up under each sleep policy of the pool",
    home: "native",
    keys: KEYS,
    text: TEXT,
    is_brief: true,
    brief_orders: 0,
    sentence: Some(figure::sentence),
    ask: SleepConfig::new,
};

/// The settings of this study.
const KEYS: &[Key] = keys![
    "mode"
        "sound, as-published (with the wake-ups that it loses), or both, a list [sound]",
    "size"
        "inputs: quick, or document, as in the document [quick; --full: document]",
    "runs" [1, 100_000]
        "timed runs of each policy in each cell [as many as there is time for; simulated: 7; --full: 15]",
    "seconds" [1, 1_000_000]
        "time for all cells together, not simulated [15; --full: 900]",
];

const TEXT: Text = Text {
    title: "Sleep",
    lead: "Threads of a pool that find no work go to sleep, and must be woken when there is some. A sleep \
     policy is how the pool keeps count of that, which itself takes time. Here policies are compared \
     on programs that split their work in two again and again (fork-join): packed is the policy of \
     rayon, a library of parallel loops, ours that of manycore, and most others come from an \
     experiment of 2022 by J. D. S. Fontena, which is called the document below.",
    how: &[
        "Fork-join programs run on threads of this machine or of a simulated one, where they are \
         bound to cores that fill one core group after the other. Each policy of a cell has a pool \
         of its own, a run for warmth, and then the runs that count; answers are verified. Natively \
         each round runs every policy of a cell in shuffled order. Kernels join through an indirect \
         call, the same for all policies.",
        "\"Fastest\" divides the fastest single-thread time of any policy by a policy's time, \
     \"own\" the policy's own single-thread time. \"To packed\" is a policy's time relative to that \
     of packed, rayon's, in the same mode: with one common single-thread time for both (then it \
     is the times' ratio), and with each its own. The document divided by each branch's own; \
     with the common one its losses on QuickSort and TSP vanish, as its author found a week later.",
        "The columns of 2022, which stand beside inputs of the document's size (--set size=document), are the document's own raw times, medians of 30 runs of rayon's \
     branches on two Xeon Gold 6130, analysed in the same two ways. A policy with a dash there, ours \
     among them, was none of these branches: 2022 has no time of it. The single-thread times of \
     MergeSort and QuickSort there have two levels (74.8 and 84 ms, 66.2 and 71.8 ms) that flip \
     between builds whatever the branch: placement of code. MergeSort's -17% is that, not \
     scheduling, which is why it is small against each policy's own single-thread time.",
        "Simulated policies differ only in the words they touch and the lines these share. A line that every \
     post reads and every change between busy and idle writes costs each post a miss; \
     sleep.lines.csv has these counts for all algorithms and thread counts, and those of all other \
     named lines.",
        "The document ends with two questions: what a varying frequency does, and what 64 threads do. \
     Two machines ask them: dahu-governed, whose cores run the slower the longer they idled (--on \
     dahu-governed --threads 32), and dahu-smt, whose cores have two hardware threads each (--on dahu-smt \
     --threads 32,64).",
    ],
};

/// Under the figure of times.
const FIGURE: &str = "A dot left of the line is faster than packed; a range that ends in an arrow goes on. Policies \
     without a mode are sound; those as published may lose a wake-up. Names say what differs from packed, whose \
     three counters are one word: split, each is a word; padded, each has a cache line of its own; sleepers, who posts \
     a job reads only how many threads sleep; nojec, without the counter of posts (jobs event counter); \
     lazy-inactive and no-inactive, idle threads that are awake are read late, or not counted; ours, manycore's.";

/// Under the figure of speedups.
const SPEEDUPS: &str =
    "Speedup against threads: the fastest single-thread time of any policy over the median time.";

impl Question for SleepConfig {
    type Measured = Vec<MeasuredPolicies>;
    type Row = SleepRow;

    fn measure(&self, session: &Session<'_>) -> anyhow::Result<(Vec<MeasuredPolicies>, Journal)> {
        let blank = |cell| MeasuredPolicies::new(cell, self.unit(), &self.policies);
        let cells = self.cells();
        measure_cells(
            session,
            &cells,
            self.seconds,
            blank,
            |record, host, share, progress| match (&self.chip, host) {
                (Some(chip), Some(host)) => simulated::measure(self, chip, record, host, progress),
                _ => native::measure(self, record, share, progress),
            },
        )
    }

    fn compare(&self, session: &Session<'_>) -> anyhow::Result<Comparison> {
        let compared = Self {
            threads: vec![self.most_threads()],
            ..self.clone()
        };
        let (measured, journal) = compared.measure(session)?;
        Ok(Comparison {
            compared: Some(figure::compared(self, &measured)),
            hash: measured.hash()?,
            journal,
        })
    }

    fn answer(&self, measured: &Vec<MeasuredPolicies>) -> anyhow::Result<Answer<SleepRow>> {
        let line_rows = rows::line_rows(self, measured);
        let published = Published::load()?;
        let place = match &self.chip {
            Some(_) => format!("simulated: {}", self.machine),
            None => "native".to_owned(),
        };
        let relative = figure::relative(&place, self, measured);
        let speedups = figure::speedups(&place, self, measured);
        let figures = [
            Captioned::new(relative, FIGURE),
            speedups.and_then(|figure| Captioned::new(figure, SPEEDUPS)),
        ];
        let mut extra = Extra {
            compared: Some(figure::compared(self, measured)),
            json: vec![("lines", json!(line_rows))],
            ..Extra::default()
        };
        let mut tables = tables::by_algorithm(self, &published, measured);
        if self.chip.is_some() {
            extra.more.push(("lines.csv", csv::text(&line_rows)?));
            tables.extend(tables::lines(self, measured));
        } else {
            extra.caution = measured::disturbance(measured, Topology::detect().usable().len());
        }
        tables.push(tables::by_threads(self, measured));
        tables.push(tables::overview(self, measured));
        Ok(Answer {
            figures: figures.into_iter().flatten().collect(),
            blocks: tables.into_iter().map(Block::Table).collect(),
            rows: rows::rows(self, measured),
            extra,
        })
    }
}
