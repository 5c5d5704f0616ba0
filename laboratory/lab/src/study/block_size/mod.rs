//! How block size, threads and task size decide the latency of a parallel loop: the experiment of R. Shuai's paper
//! (2021; "the document" in this folder), with all partitioners in addition to fixed blocks.

mod config;
mod figure;
mod folding;
pub(super) mod grid;
mod keys;
mod load;
mod measure;
mod only;
mod policy;
mod regret;
mod rows;
mod simulated;
mod tables;

use super::trial::{Answer, Extra, Inquiry, Question, Session, Text, measure_cells};
use super::{Request, Study};
use crate::measure::journal::Journal;
use crate::report::section::{Block, Captioned};
use config::BlockSizeConfig;
use manycore::topology::Topology;
use measure::MeasuredLoops;
use rows::BlockSizeRow;
use serde_json::json;
use simulated::compare;

pub(in crate::study) use grid::{LoopCell, LoopTask, Workload};
pub(in crate::study) use load::time_natively;
pub(in crate::study) use policy::LoopPolicy;
pub(in crate::study) use rows::groups_here;
pub(in crate::study) use simulated::{DocumentChip, simulate};

pub(super) const STUDY: &dyn Study = &Inquiry {
    name: "block-size",
    question: "how block size, threads and task size decide the latency of a parallel loop",
    home: "native",
    keys: keys::KEYS,
    text: TEXT,
    is_brief: true,
    brief_orders: 0,
    has_intervals: false,
    sentence: Some(regret::sentence),
    ask,
};

const TEXT: Text = Text {
    title: "Block size",
    lead: "A parallel loop gives its iterations to threads in blocks. If blocks are small, threads \
     claim often; if they are large, threads have no work at the end. Which size is best depends on the \
     loop and the machine. The default of manycore chooses the size itself. The loops run the task of a \
     paper by R. Shuai (2021), called the document below.",
    how: &[
        "A thread claims one block of iterations at a time: from a counter that all threads share \
         (fixed block sizes, as in the document), or by the rule of a partitioner. Natively each \
         round runs every policy of a cell once, in shuffled order. Before that, an audit checks that \
         under every policy each iteration runs exactly once and writes what it should. Simulated \
         threads are bound to cores, and fill one core group after the other. Each policy of a cell \
         is a simulation of its own. It first runs the loop to warm the pool, and then runs the \
         rounds that count. The document's pool is warm after one loop. The pool of manycore is warm \
         when two loops in a row are not 5% faster than all loops before.",
        "Regret is the latency with a partitioner, divided by the latency with the best fixed \
     block of the same run, minus one. If it is negative, the partitioner is faster than every \
     fixed block. The best of many noisy numbers is partly luck. So the best block is picked on \
     one half of the rounds and compared on the other half, and the other way round. \"plain\" \
     picks and compares on the same rounds, which overstates the regret.",
    ],
};

/// The figure's caption.
const FIGURE: &str = "Medians, with bars from the 10th to the 90th percentile. If a disturbed host made a bar far \
     longer than the others, it ends in an arrow. Small blocks pay for many claims; large blocks leave \
     threads idle at the end. Where the dashed line touches the lowest point of its curve, tuning \
     gains nothing.";

/// Comes before the latencies of the document's pool, which is simulated.
const DOCUMENT: &str = "The document measured a pool of its own. Each thread sleeps on a \
     condition variable until the caller has put the loop into the thread's queue. The caller \
     wakes one thread after the other and then takes part, so T threads make T + 1 participants. \
     If the threads are in several core groups, every claim takes the counter's cache line away \
     from all tasks, which read their sizes there. This pool is simulated with each block size. \
     All other rows were measured with manycore's pool, in which the caller is one of the T \
     threads.";

/// Comes after these latencies, if the document has tables of the machine.
const STEPS: &str = "The document's loops have 4096 iterations; those with 1024^4 additions on the Threadripper \
     3970X have 8192. Only these numbers, and T + 1 participants, explain how the document's latencies step \
     where blocks are few. (Three of its columns for 8 threads step as columns for 4 threads do.)";

/// Comes after the rank correlations.
const RANKS: &str = "The inputs of the simulation are the machine's latencies, six instructions \
     per byte, and the cost of waking. Nothing is fitted to the tables. The noise of the tables \
     limits the correlation. Between blocks of 4 and 64 their latencies differ by only a few \
     percent. Columns that differ only in unit_comp, which takes no time, order those blocks \
     differently. One latency is a misprint (4132000 among 418000s). On the W-3225R with 8 \
     threads, the caller shares a core with the eighth thread. With blocks of 128 or more, the \
     document's latencies grow there more than the simulated latencies, because simulated \
     hardware threads of a core do not slow each other. The Gold 5225R ran faster than 2.2 GHz, \
     by which cycles are converted to time here. So its simulated latencies are too long by about \
     the share of the turbo.";

fn ask(request: &Request) -> anyhow::Result<BlockSizeConfig> {
    let config = BlockSizeConfig::new(request)?;
    for cell in grid::cells(&config) {
        load::Kernel::check(cell.workload)?;
    }
    Ok(config)
}

impl Question for BlockSizeConfig {
    type Measured = Vec<MeasuredLoops>;
    type Row = BlockSizeRow;

    fn measure(&self, session: &Session<'_>) -> anyhow::Result<(Vec<MeasuredLoops>, Journal)> {
        let cells = grid::cells(self);
        let policies = |cell: grid::LoopCell| self.policies(cell.workload.n);
        let blank = |cell| MeasuredLoops::new(cell, self.unit(), &policies(cell));
        measure_cells(
            session,
            &cells,
            self.seconds,
            blank,
            |record, host, share, progress| {
                let policies = policies(record.cell);
                match (&self.chip, host) {
                    (Some(chip), Some(host)) => {
                        simulated::measure(self, chip, record, &policies, host, progress)
                    }
                    _ => measure::measure(self, record, &policies, share, progress),
                }
            },
        )
    }

    fn answer(&self, measured: &Vec<MeasuredLoops>) -> anyhow::Result<Answer<BlockSizeRow>> {
        let regrets = regret::regrets(measured);
        let overall = regret::overall(&regrets);
        let compared = regret::compared(measured, self.chip.is_some());
        let place = match &self.chip {
            Some(chip) => format!("simulated: {}", chip.name()),
            None => "native".to_owned(),
        };
        let paragraph = |text: &str| Block::Paragraph(text.into());
        let mut blocks = Vec::new();
        let (mut meta, mut comparisons, mut caution) = (Vec::new(), Vec::new(), None);
        if let Some(chip) = &self.chip {
            comparisons = compare::comparisons(chip, &self.tables, measured);
            blocks.push(paragraph(DOCUMENT));
            let tables = compare::latencies(chip, measured, &comparisons);
            blocks.extend(tables.into_iter().map(Block::Table));
            if !comparisons.is_empty() {
                blocks.push(paragraph(STEPS));
                blocks.push(Block::Table(compare::ranks(&comparisons)));
                blocks.push(paragraph(RANKS));
            }
        } else {
            let waited: f64 = measured.iter().map(|cell| cell.waited).sum();
            meta.push(("seconds_waited_for_a_cpu", json!(waited)));
            caution = measure::disturbance(measured, Topology::detect().usable().len());
        }
        blocks.extend(tables::latencies(measured).into_iter().map(Block::Table));
        if self.chip.is_none() {
            blocks.extend(folding::blocks(measured));
        }
        if !overall.is_empty() {
            blocks.push(Block::Table(tables::default_by_cell(&regrets)));
            blocks.push(Block::Table(tables::regret_means(&overall)));
            blocks.push(Block::Table(tables::worst_cells(&overall)));
        }
        Ok(Answer {
            figures: Captioned::new(figure::figure(&place, measured, &compared), FIGURE)
                .into_iter()
                .collect(),
            blocks,
            rows: rows::rows(self, measured),
            extra: Extra {
                compared: Some(compared),
                caution,
                more: Vec::new(),
                meta,
                json: vec![
                    ("regrets", json!(regrets)),
                    ("overall", json!(overall)),
                    ("document", json!(comparisons)),
                ],
            },
        })
    }
}
