//! How fast each discipline of work stealing searches a graph whose frontiers are
//! small and uneven: what the broadcast thesis left to future work (Park 2013,
//! section 7.2.1).

mod case;
mod config;
mod figure;
mod keys;
mod program;
mod prose;
mod results;
mod rows;
mod search;
mod tables;

use super::Study;
use super::trial::{Answer, Extra, Inquiry, Measured, Question, Session, measure};
use crate::measure::journal::Journal;
use crate::report::section::Block;
use case::Case;
use config::Config;
use results::Results;
use rows::Row;

/// The study `graph`.
pub(super) const STUDY: &dyn Study = &Inquiry {
    name: "graph",
    question: "how fast each discipline of work stealing searches an R-MAT graph",
    home: "atac-64",
    keys: &keys::KEYS,
    ask: Config::new,
};

impl Question for Config {
    type Measured = Measured<Case>;
    type Row = Row;

    fn measure(&self, session: &Session<'_>) -> anyhow::Result<(Measured<Case>, Journal)> {
        measure(session, &self.setup, &self.cases())
    }

    fn answer(&self, measured: &Measured<Case>) -> anyhow::Result<Answer<Row>> {
        let results = Results {
            config: self,
            measured,
        };
        let svg = figure::render(results);
        let mut blocks = vec![
            Block::Paragraph(prose::what(results)),
            Block::Figure {
                svg: svg.clone(),
                caption: prose::FIGURE.into(),
            },
        ];
        blocks.extend(tables::all(results).into_iter().map(Block::Table));
        Ok(Answer {
            title: "Graph search",
            blocks,
            summary: prose::summary(results),
            rows: rows::rows(results),
            svg,
            extra: Extra::default(),
        })
    }
}
