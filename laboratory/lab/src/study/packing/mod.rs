//! What packing the threads of a program onto fewer cores costs, and what a runtime that
//! follows its cores does instead: after "The Performance Impact of Thread Packing on
//! Synchronization-Intensive Applications" (Park, Park, Han and Baek, poster).

mod account;
mod benchmark;
mod binaries;
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
pub(crate) mod printed;
mod prose;
mod reduction;
mod results;
mod rows;
mod run;
mod tables;
mod threads;
mod variation;
mod world;

use super::settings::Key;
use super::trial::{Answer, Extra, Inquiry, MeasuredTrials, Question, Session, measure};
use super::{Plan, Request, Study};
use crate::measure::journal::Journal;
use crate::report::section::Block;
use binaries::BinariesConfig;
use case::PackingCase;
use config::PackingConfig;
use results::PackingResults;
use rows::PackingRow;

/// The study `packing`.
pub(super) const STUDY: &dyn Study = &Packing;

/// Asks for the poster's programs, or for the user's.
#[derive(Debug)]
struct Packing;

/// The poster's.
const POSTER: Inquiry<PackingConfig> = inquiry(PackingConfig::new);
/// Compiled ones of the user's.
const BINARIES: Inquiry<BinariesConfig> = inquiry(BinariesConfig::new);

const fn inquiry<Q>(ask: fn(&Request) -> anyhow::Result<Q>) -> Inquiry<Q> {
    Inquiry {
        name: "packing",
        question: "what a program of T threads loses on C cores, and how to lose nothing",
        home: "e5-2640x2",
        keys: &keys::KEYS,
        ask,
    }
}

impl Study for Packing {
    fn name(&self) -> &'static str {
        POSTER.name
    }

    fn question(&self) -> &'static str {
        POSTER.question
    }

    fn home(&self) -> &'static str {
        POSTER.home
    }

    fn home_with(&self, set: &[String]) -> &'static str {
        let (key, value) = keys::BINARIES;
        let mut pairs = set.iter().filter_map(|pair| pair.split_once('='));
        match pairs.any(|(name, text)| (name.trim(), text.trim()) == (key, value)) {
            true => "native",
            false => self.home(),
        }
    }

    fn keys(&self) -> &'static [Key] {
        POSTER.keys
    }

    fn plan(&self, request: &Request) -> anyhow::Result<Box<dyn Plan>> {
        let (key, value) = keys::BINARIES;
        match request.settings.text(key) == Some(value) {
            true => BINARIES.plan(request),
            false => POSTER.plan(request),
        }
    }
}

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
