//! How well tasks that begin on few cores spread over all: the thesis's
//! benchmark of work stealing.

mod case;
mod config;
mod figure;
mod headline;
mod keys;
mod prose;
mod results;
mod rows;
mod tables;

use super::Study;
use super::trial::{Answer, Extra, Inquiry, MeasuredTrials, Question, Session, measure};
use crate::measure::journal::Journal;
use crate::report::section::{Block, Captioned};
use case::StealingCase;
use config::StealingConfig;
pub(super) use config::disciplines_of;
use results::StealingResults;
use rows::StealingRow;

/// The study `stealing`.
pub(super) const STUDY: &dyn Study = &Inquiry {
    name: "stealing",
    question: "how fast each discipline of work stealing spreads tasks from where they begin",
    home: "atac-64",
    keys: &keys::KEYS,
    ask: StealingConfig::new,
};

impl Question for StealingConfig {
    type Measured = MeasuredTrials<StealingCase>;
    type Row = StealingRow;

    fn measure(
        &self,
        session: &Session<'_>,
    ) -> anyhow::Result<(MeasuredTrials<StealingCase>, Journal)> {
        measure(session, &self.setup, &self.cases())
    }

    fn answer(
        &self,
        measured: &MeasuredTrials<StealingCase>,
    ) -> anyhow::Result<Answer<StealingRow>> {
        let results = StealingResults {
            config: self,
            measured,
        };
        let mut blocks = vec![Block::Paragraph(prose::what(results))];
        let tables = tables::stretches(results).into_iter();
        blocks.extend(tables.chain(tables::counts(results)).map(Block::Table));
        blocks.extend(
            Some(prose::claims(results))
                .filter(|text| !text.is_empty())
                .map(Block::Paragraph),
        );
        blocks.extend(tables::answering(results).map(Block::Table));
        blocks.extend(prose::why(results).map(Block::Paragraph));
        Ok(Answer {
            title: "Work stealing",
            lead: headline::LEAD,
            figures: Captioned::new(figure::figure(results), prose::FIGURE)
                .into_iter()
                .collect(),
            blocks,
            summary: prose::summary(results),
            rows: rows::rows(results),
            extra: Extra::default(),
        })
    }
}
