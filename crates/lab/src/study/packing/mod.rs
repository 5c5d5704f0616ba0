//! What packing the threads of a program onto fewer cores costs, and what a runtime that
//! follows its cores does instead: after "The Performance Impact of Thread Packing on
//! Synchronization-Intensive Applications" (Park, Park, Han and Baek, poster).

mod account;
mod benchmark;
mod case;
mod closed_form;
mod config;
mod declared;
mod extent;
mod figure;
mod follow;
mod headline;
mod host;
mod keys;
mod load;
mod memory;
mod mode;
mod noted;
mod prose;
mod results;
mod rows;
mod run;
mod tables;
mod threads;
mod variation;
mod world;

use super::Study;
use super::trial::{Answer, Extra, Inquiry, MeasuredTrials, Question, Session, measure};
use crate::measure::journal::Journal;
use crate::report::section::Block;
use case::PackingCase;
use config::PackingConfig;
use results::PackingResults;
use rows::PackingRow;

/// The study `packing`.
pub(super) const STUDY: &dyn Study = &Inquiry {
    name: "packing",
    question: "what a program of T threads loses on C cores, and how to lose nothing",
    home: "e5-2640x2",
    keys: &keys::KEYS,
    ask: PackingConfig::new,
};

impl Question for PackingConfig {
    type Measured = MeasuredTrials<PackingCase>;
    type Row = PackingRow;

    fn measure(
        &self,
        session: &Session<'_>,
    ) -> anyhow::Result<(MeasuredTrials<PackingCase>, Journal)> {
        measure(session, &self.setup, &self.cases())
    }

    fn answer(&self, measured: &MeasuredTrials<PackingCase>) -> anyhow::Result<Answer<PackingRow>> {
        let results = PackingResults {
            config: self,
            measured,
        };
        let mut blocks = vec![Block::Paragraph(prose::what(results))];
        blocks.extend(tables::all(results).into_iter().map(Block::Table));
        blocks.extend(prose::findings(results).into_iter().map(Block::Paragraph));
        Ok(Answer {
            title: "Thread packing",
            lead: headline::LEAD,
            figures: figure::all(results),
            blocks,
            summary: prose::summary(results),
            rows: rows::rows(results),
            extra: Extra::default(),
        })
    }
}
