//! The study `sleep`: how fork-join programs speed up under each sleep policy, which decides how idle workers sleep and
//! are woken. It repeats Fontena's experiment on sleep counters of 2022.

mod agreement;
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
use super::{Comparison, Study, order};
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
    has_intervals: true,
    sentence: Some(figure::sentence),
    ask: SleepConfig::new,
};

/// The settings of this study.
const KEYS: &[Key] = keys![
    "mode"
        "a list: sound, as-published (which loses wake-ups), or both [sound]",
    "size"
        "inputs: quick, or document (as in Fontena's experiment) [quick; --full: document]",
    "runs" [1, 100_000]
        "timed runs of each policy in each cell [native: as many as fit into `seconds`; simulated: 7; --full: 15]",
    "seconds" [1, 1_000_000]
        "seconds for all native runs together [15; --full: 900]",
];

const TEXT: Text = Text {
    title: "Sleep",
    lead: "Threads of a pool that find no work go to sleep, and must be woken when there is new work. A sleep policy \
     is the way in which the pool counts its sleeping threads, which itself takes time. This study compares \
     policies on programs that split their work in two again and again (fork-join). `packed` is the policy of \
     rayon, a library of parallel loops. `ours` is the policy of manycore. Most other policies come from an \
     experiment of 2022 by J. D. S. Fontena.",
    how: &[
        "Fork-join programs run on threads of this machine or of a simulated machine. Simulated \
         threads are bound to cores and fill one core group after the other. Each policy of a \
         cell has its own pool, a warm-up run, and then the runs that count; answers are \
         verified. On this machine each round runs every policy of a cell, in shuffled order. \
         Programs join through an indirect call, the same for all policies. With --orders N each \
         simulation runs under N orders of events, which small random delays decide. A time is \
         then the median over orders. A speedup or a ratio is the geometric mean over orders of its \
         values under each order, so it can differ from the ratio of the shown times. The figures, \
         the table of times relative to packed, and sleep.csv have its 95% interval (Student's).",
        "A speedup \"fastest\" is the fastest single-thread time of any policy divided by a \
     policy's time. A speedup \"own\" is the policy's own single-thread time divided by its time. \
     \"To packed\" compares a policy with packed, rayon's policy, in the same mode: by time, and \
     by the speedups \"own\". Fontena used each branch's own single-thread time. With a \
     common single-thread time, the losses on QuickSort and TSP vanish, as the author found a \
     week later.",
        "The columns of 2022 are shown with --set size=document. They are Fontena's measured times: medians of 30 \
     runs of rayon's branches on two Xeon Gold 6130, analysed in the same two ways. A policy that was not among \
     these branches, such as ours, has a dash. His single-thread times of MergeSort and QuickSort have two levels (74.8 and 84 ms, 66.2 and 71.8 ms). Builds \
     of every branch flip between them, because of the placement of code. This explains MergeSort's -17%, which \
     scheduling does not: the number is small relative to each policy's own single-thread time.",
        "In a simulation, policies differ only in the words that they access and in the cache lines that these \
     words share. If every post of a job reads a line and every change between busy and idle writes it, each \
     post has a miss. sleep.lines.csv has the accesses to all named lines, for all algorithms and numbers of \
     threads.",
        "Fontena ends with two questions: what is the effect of a varying frequency, and of 64 threads? Two \
     machines answer them. Cores of dahu-governed run slower the longer they idled (--on dahu-governed \
     --threads 32). Cores of dahu-smt have two hardware threads each (--on dahu-smt --threads 32,64).",
    ],
};

/// The caption of the figure of times.
const FIGURE: &str = "A dot left of the line is faster than packed. A range with an arrow continues beyond the \
     figure. Policies without a mode are sound; those as published may lose a wake-up. The three counters of \
     packed are one word. Names say what differs: split, each counter is a word; padded, each word has its own \
     cache line; sleepers, a post of a job reads only the number of sleeping threads; nojec, there is no \
     counter of posts (jobs event counter); lazy-inactive, a post reads the number of awake idle threads only \
     if threads sleep; no-inactive, there is no such number; ours, manycore's policy.";

/// The caption of the figure of speedups.
const SPEEDUPS: &str = "Speedup by number of threads: the fastest single-thread time of any \
     policy divided by the policy's time.";

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
            orders: vec![order::PLAIN],
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
        let orders = measured::by_order(measured, &self.orders);
        let relative = figure::relative(&place, self, measured, &orders);
        let speedups = figure::speedups(&place, self, &published, measured, &orders);
        let figures = [
            Captioned::new(relative, FIGURE),
            speedups.and_then(|figure| Captioned::new(figure, SPEEDUPS)),
        ];
        let mut extra = Extra {
            compared: Some(figure::compared(self, measured)),
            json: vec![("lines", json!(line_rows))],
            ..Extra::default()
        };
        let mut tables = tables::by_algorithm(self, &published, measured, &orders);
        if self.chip.is_some() {
            extra.more.push(("lines.csv", csv::text(&line_rows)?));
            tables.extend(tables::lines(self, measured));
        } else {
            extra.caution = measured::disturbance(measured, Topology::detect().usable().len());
        }
        if self.has_published_inputs() {
            tables.extend(agreement::table(self, &published, &orders));
        }
        tables.push(tables::by_threads(self, &orders));
        tables.push(tables::overview(self, &orders));
        Ok(Answer {
            figures: figures.into_iter().flatten().collect(),
            blocks: tables.into_iter().map(Block::Table).collect(),
            rows: rows::rows(self, measured, &orders),
            extra,
        })
    }
}
