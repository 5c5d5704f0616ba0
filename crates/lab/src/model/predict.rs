//! `manycore model predict`: the block that each model picks.

use super::configuration::Configuration;
use super::error::ModelError;
use super::form::{self, Preference};
use super::parameters::Parameters;
use super::text;
use manycore_research::cost::published::Weights;
use serde::Serialize;
use std::fmt;

/// The blocks for one configuration.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Prediction {
    #[serde(flatten)]
    pub(crate) at: Configuration,
    pub(crate) published: usize,
    pub(crate) refitted: usize,
    pub(crate) ours: usize,
    /// What `ours` expects of its block.
    pub(crate) ours_latency_ns: f64,
}

/// One prediction a configuration; as JSON, a list of them.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct PredictReport {
    pub(crate) predictions: Vec<Prediction>,
}

impl PredictReport {
    pub(super) fn new(all: Vec<Configuration>, ours: &Parameters) -> Result<Self, ModelError> {
        let refitted = form::refit(&Preference::all()?);
        let predictions = all.into_iter().map(|at| {
            let features = at.features();
            let block = ours.block(&at);
            Prediction {
                published: Weights::PUBLISHED.block(&features, at.n),
                refitted: refitted.block(&features, at.n),
                ours: block,
                ours_latency_ns: ours.latency(&at, block),
                at,
            }
        });
        Ok(Self {
            predictions: predictions.collect(),
        })
    }
}

impl fmt::Display for PredictReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = text::table([
            "machine",
            "groups",
            "threads",
            "read",
            "write",
            "comp",
            "n",
            "published",
            "refitted",
            "ours",
            "expected",
        ]);
        for row in &self.predictions {
            let at = &row.at;
            let numbers = [at.unit_read, at.unit_write, at.unit_comp].map(|n| n.to_string());
            let blocks = [at.n, row.published, row.refitted, row.ours].map(|n| n.to_string());
            let head = [
                at.machine.clone(),
                at.core_groups.to_string(),
                at.threads.to_string(),
            ];
            let latency = format!("{:.0} us", row.ours_latency_ns / 1e3);
            table.add_row(
                head.into_iter()
                    .chain(numbers)
                    .chain(blocks)
                    .chain([latency]),
            );
        }
        writeln!(
            f,
            "The block size that each model picks, and the latency that ours expects."
        )?;
        writeln!(f, "{}", text::lines(table))
    }
}
