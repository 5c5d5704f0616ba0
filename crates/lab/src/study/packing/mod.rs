//! What packing the threads of a program onto fewer cores costs, and what a runtime that
//! follows its cores does instead: after "The Performance Impact of Thread Packing on
//! Synchronization-Intensive Applications" (Park, Park, Han and Baek, poster).

mod account;
mod benchmark;
mod case;
mod closed_form;
mod config;
mod declared;
mod host;
mod keys;
mod load;
mod mode;
mod noted;
mod results;
mod rows;
mod run;
mod tables;
mod world;

use super::Study;
use super::trial::{Answer, Inquiry, Measured, Question, Setup};
use crate::report::section::Block;
use case::Case;
use config::Config;
use results::Results;
use rows::Row;

/// The study `packing`.
pub(super) const STUDY: &dyn Study = &Inquiry {
    name: "packing",
    question: "what a program of T threads loses on C cores, and how to lose nothing",
    home: "e5-2640x2",
    keys: &keys::KEYS,
    ask: Config::new,
};

impl Question for Config {
    type Trial = Case;
    type Row = Row;

    fn setup(&self) -> &Setup {
        &self.setup
    }

    fn trials(&self) -> Vec<Case> {
        self.cases()
    }

    fn answer(&self, measured: &Measured<Case>) -> Answer<Row> {
        let results = Results {
            config: self,
            measured,
        };
        let blocks = tables::all(results).into_iter().map(Block::Table);
        Answer {
            title: "Thread packing",
            blocks: blocks.collect(),
            summary: String::new(),
            rows: rows::rows(results),
            svg: String::new(),
        }
    }
}
