//! How block size, threads and task size decide the latency of a parallel
//! loop: the block-size document's experiment, with every partitioner beside
//! the fixed blocks.

mod config;
mod figure;
mod folding;
pub(super) mod grid;
mod headline;
mod keys;
mod load;
mod measure;
mod only;
mod policy;
mod prose;
mod regret;
mod rows;
mod simulated;
mod tables;

use super::trial::{Answer, Extra, Inquiry, Question, Session, measure_cells};
use super::{Request, Study};
use crate::measure::journal::Journal;
use crate::report::section::{Block, Captioned};
use config::BlockSizeConfig;
use manycore::topology::Topology;
use measure::MeasuredLoops;
use rows::BlockSizeRow;
use serde_json::json;
use simulated::compare;

pub(in crate::study) use grid::{LoopCell, Task, Workload};
pub(in crate::study) use load::time_natively;
pub(in crate::study) use policy::LoopPolicy;
pub(in crate::study) use simulated::{DocumentChip, simulate};

/// The study `block-size`.
pub(super) const STUDY: &dyn Study = &Inquiry {
    name: "block-size",
    question: "how block size, threads and task size decide the latency of a parallel loop",
    home: "native",
    keys: &keys::KEYS,
    ask,
};

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
        let place = match &self.chip {
            Some(chip) => format!("simulated: {}", chip.name()),
            None => "native".to_owned(),
        };
        let mut blocks = vec![Block::Paragraph(prose::what(self, measured))];
        let mut summary = prose::summary(&overall);
        let (mut meta, mut comparisons, mut caution) = (Vec::new(), Vec::new(), None);
        if let Some(chip) = &self.chip {
            comparisons = compare::comparisons(chip, &self.tables, measured);
            blocks.push(Block::Paragraph(prose::DOCUMENT.into()));
            if !comparisons.is_empty() {
                blocks.push(Block::Paragraph(prose::STEPS.into()));
            }
            let tables = compare::latencies(chip, measured, &comparisons);
            blocks.extend(tables.into_iter().map(Block::Table));
            if !comparisons.is_empty() {
                blocks.push(Block::Table(compare::ranks(&comparisons)));
                blocks.push(Block::Paragraph(prose::RANKS.into()));
            }
            summary += &(compare::summary(chip, &comparisons) + "\n");
        } else {
            let waited: f64 = measured.iter().map(|cell| cell.waited).sum();
            meta.push(("seconds_waited_for_a_cpu", json!(waited)));
            caution = prose::disturbance(measured, Topology::detect().usable().len());
            summary.extend(caution.iter().map(|text| format!("{text}\n")));
        }
        blocks.extend(tables::latencies(measured).into_iter().map(Block::Table));
        if self.chip.is_none() {
            blocks.extend(folding::blocks(measured));
        }
        if !overall.is_empty() {
            blocks.push(Block::Paragraph(prose::REGRET.into()));
            blocks.push(Block::Table(tables::default_by_cell(&regrets)));
            blocks.push(Block::Table(tables::regret_means(&overall)));
            blocks.push(Block::Table(tables::worst_cells(&overall)));
        }
        Ok(Answer {
            title: "Block size",
            lead: headline::LEAD,
            figures: Captioned::new(figure::figure(&place, measured, &overall), prose::FIGURE)
                .into_iter()
                .collect(),
            blocks,
            summary,
            rows: rows::rows(self, measured),
            extra: Extra {
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
