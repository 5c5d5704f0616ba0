//! The models of the block size as policies of one loop, beside the document's comparison of its
//! own model with Taskflow (Shuai 2021, section "Related work and comparison").

mod case;
mod config;
mod figure;
mod headline;
mod keys;
mod policy;
mod printed;
mod prose;
mod results;
mod rows;
mod tables;

use super::Study;
use super::trial::{Answer, Extra, Inquiry, MeasuredTrials, Question, Session, measure};
use crate::measure::journal::Journal;
use crate::report::section::{Block, Captioned};
use case::ModelCase;
use config::ModelsConfig;
use results::ModelResults;
use rows::ModelRow;

/// The study `models`.
pub(super) const STUDY: &dyn Study = &Inquiry {
    name: "models",
    question: "what a loop takes with the block that each cost model picks",
    home: "native",
    keys: &keys::KEYS,
    ask: ModelsConfig::new,
};

impl Question for ModelsConfig {
    type Measured = MeasuredTrials<ModelCase>;
    type Row = ModelRow;

    fn measure(
        &self,
        session: &Session<'_>,
    ) -> anyhow::Result<(MeasuredTrials<ModelCase>, Journal)> {
        measure(session, &self.setup, &self.cases())
    }

    fn answer(&self, measured: &MeasuredTrials<ModelCase>) -> anyhow::Result<Answer<ModelRow>> {
        let results = ModelResults::new(self, measured)?;
        let mut blocks = vec![Block::Paragraph(prose::what(self))];
        blocks.extend(tables::latencies(&results).into_iter().map(Block::Table));
        blocks.push(Block::Table(tables::means(&results)));
        blocks.push(Block::Paragraph(prose::RULE.into()));
        if tables::has_printed(&results) {
            blocks.push(Block::Paragraph(prose::PRINTED.into()));
        }
        Ok(Answer {
            title: "Cost models",
            lead: headline::LEAD,
            figures: Captioned::new(figure::figure(&results), prose::FIGURE)
                .into_iter()
                .collect(),
            blocks,
            summary: prose::summary(&results),
            rows: rows::rows(&results),
            extra: Extra::default(),
        })
    }
}
