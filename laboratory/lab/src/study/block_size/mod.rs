//! How block size, threads and task size decide the latency of a parallel
//! loop: the block-size document's experiment, with every partitioner beside
//! the fixed blocks.

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

/// The study `block-size`.
pub(super) const STUDY: &dyn Study = &Inquiry {
    name: "block-size",
    question: "how block size, threads and task size decide the latency of a parallel loop",
    home: "native",
    keys: keys::KEYS,
    text: TEXT,
    is_brief: true,
    brief_orders: 0,
    sentence: Some(regret::sentence),
    ask,
};

const TEXT: Text = Text {
    title: "Block size",
    lead: "A parallel loop gives its iterations to threads in blocks. Small blocks make threads claim \
     often; large ones leave threads without work at the end. Which size is best depends on loop \
     and machine. The default of manycore picks it without being told. The task that the loops run \
     is that of a paper by R. Shuai (2021), which is called the document below.",
    how: &[
        "A thread claims a block of iterations at a time from a counter that all threads share \
         (fixed block sizes, as in the document), or as one of the partitioners says. Natively each \
         round runs every policy of a cell once, in shuffled order, and every policy is audited \
         first: each iteration ran exactly once and wrote what it should. Simulated threads are bound \
         to cores that fill one core group after the other. There each policy of a cell is a \
         simulation of its own, which runs the loop for warmth and then the rounds that count. The \
         document's pool is warm after one loop, ours when two in a row are not 5% faster than all \
         before.",
        "Regret is a partitioner's latency over that of the best fixed block of this very run, minus \
     one; below zero it beat every block. The best of many noisy numbers is partly luck, so the \
     best block is picked on one half of the rounds and compared on the other, both ways round; \
     \"plain\" picks and compares on the same rounds, which overstates the regret.",
    ],
};

/// Under the figure.
const FIGURE: &str = "Medians, with bars from the 10th to the 90th percentile; a bar that a disturbed host made far \
     longer than the others ends in an arrow. Small blocks pay for many claims; large ones leave \
     threads idle at the end. Where the dashed line touches the bottom of its curve nothing was \
     left to tune.";

/// Before the document's tables, which are simulated.
const DOCUMENT: &str = "The document measured a pool of its own. Each thread sleeps on a condition variable until \
     the caller, which wakes one after the other, has put the loop into its queue; the caller \
     takes part, so T threads make T + 1 participants. Where threads are in several core groups, \
     every claim takes the line of the counter away from all tasks, which read their sizes there. That \
     pool is simulated here with each block size; all other rows are our pool's, in which the caller is \
     one of the T.";

/// The same, where the document has tables of the machine.
const STEPS: &str = "The document's loops have 4096 iterations, in the table of 1024^4 additions on the Threadripper \
     3970X 8192: only these, and T + 1 participants, explain how its latencies step where blocks are few. \
     (Three of its columns for 8 threads step as with 4.)";

/// After the rank correlations.
const RANKS: &str = "The inputs are the machine's latencies, six instructions a byte, and what waking costs; \
     nothing is fitted to the tables. What limits the correlation is their noise: between blocks \
     4 and 64 they are flat to a few percent, and columns that differ only in unit_comp, which \
     takes no time, order those blocks differently. One latency is a slip of print (4132000 \
     among 418000s). On the W-3225R at 8 threads the document loses more from block 128 on than \
     a caller beside the eighth thread explains: here hardware threads of a core do not slow \
     each other. The Gold 5225R ran faster than the 2.2 GHz by which \
     cycles become time here, so its latencies come out longer by about the turbo's part.";

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
