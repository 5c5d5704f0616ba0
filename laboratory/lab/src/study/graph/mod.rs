//! How fast each discipline of work stealing searches a graph whose frontiers are
//! small and uneven: what the broadcast thesis left to future work (Park 2013,
//! section 7.2.1).

mod case;
mod config;
mod figure;
mod headline;
mod keys;
mod program;
mod prose;
mod results;
mod rows;
mod search;
mod tables;

use super::Study;
use super::trial::{Answer, Extra, Inquiry, MeasuredTrials, Question, Session, measure};
use crate::measure::journal::Journal;
use crate::report::section::{Block, Captioned};
use case::GraphCase;
use config::GraphConfig;
use results::GraphResults;
use rows::GraphRow;

/// The study `graph`.
pub(super) const STUDY: &dyn Study = &Inquiry {
    name: "graph",
    question: "how fast each discipline of work stealing searches an R-MAT graph",
    home: "atac-64",
    keys: &keys::KEYS,
    ask: GraphConfig::new,
};

impl Question for GraphConfig {
    type Measured = MeasuredTrials<GraphCase>;
    type Row = GraphRow;

    fn measure(
        &self,
        session: &Session<'_>,
    ) -> anyhow::Result<(MeasuredTrials<GraphCase>, Journal)> {
        measure(session, &self.setup, &self.cases())
    }

    fn answer(&self, measured: &MeasuredTrials<GraphCase>) -> anyhow::Result<Answer<GraphRow>> {
        let results = GraphResults {
            config: self,
            measured,
        };
        let mut blocks = vec![Block::Paragraph(prose::what(results))];
        blocks.extend(tables::all(results).into_iter().map(Block::Table));
        Ok(Answer {
            title: "Graph search",
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
