//! How fork-join programs speed up under each way for idle workers to sleep
//! and be woken: the experiment of the sleep counters' document.

mod beside;
mod cell;
mod config;
mod figure;
mod headline;
mod keys;
mod measured;
mod native;
mod only;
mod pool;
mod prose;
mod published;
mod rows;
mod simulated;
mod speedup;
#[cfg(test)]
mod synthetic;
mod tables;

use super::Study;
use super::trial::{Answer, Extra, Inquiry, Question, Session, measure_cells};
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
    keys: &keys::KEYS,
    ask: SleepConfig::new,
};

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

    fn answer(&self, measured: &Vec<MeasuredPolicies>) -> anyhow::Result<Answer<SleepRow>> {
        let line_rows = rows::line_rows(self, measured);
        let published = Published::load()?;
        let place = match &self.chip {
            Some(_) => format!("simulated: {}", self.machine),
            None => "native".to_owned(),
        };
        let mut figures: Vec<Captioned> = Vec::new();
        let relative = figure::relative(&place, self, measured);
        figures.extend(Captioned::new(relative, prose::FIGURE));
        let speedups = figure::speedups(&place, self, measured);
        figures.extend(speedups.and_then(|figure| Captioned::new(figure, prose::SPEEDUPS)));
        let mut summary = prose::summary(self, measured);
        let published_text = match self.is_documents() {
            true => prose::PUBLISHED,
            false => prose::SMALLER,
        };
        let texts = [
            prose::what(self, measured),
            prose::BASELINES.into(),
            published_text.into(),
        ];
        let mut blocks: Vec<Block> = texts.map(Block::Paragraph).into();
        let (mut more, mut caution) = (Vec::new(), None);
        if self.chip.is_some() {
            let judged = beside::judged(self, &published, measured);
            blocks.extend(judged.map(Block::Paragraph));
            let padding = beside::padding(self, &published, measured);
            blocks.extend(padding.map(Block::Paragraph));
            blocks.push(Block::Paragraph(prose::QUESTIONS.into()));
            more.push(("lines.csv", csv::text(&line_rows)?));
        } else {
            let cpus = Topology::detect().usable().len();
            caution = prose::disturbance(measured, cpus);
            if let Some(caution) = &caution {
                summary = format!("{caution}\n{summary}");
            }
        }
        let tables = tables::by_algorithm(self, &published, measured);
        blocks.extend(tables.into_iter().map(Block::Table));
        if self.chip.is_some() {
            blocks.push(Block::Paragraph(prose::LINES.into()));
            blocks.extend(tables::lines(self, measured).map(Block::Table));
        }
        blocks.push(Block::Table(tables::by_threads(self, measured)));
        blocks.push(Block::Table(tables::overview(self, measured)));
        Ok(Answer {
            title: "Sleep",
            lead: headline::LEAD,
            figures,
            blocks,
            summary,
            rows: rows::rows(self, measured),
            extra: Extra {
                caution,
                more,
                meta: Vec::new(),
                json: vec![("lines", json!(line_rows))],
            },
        })
    }
}
