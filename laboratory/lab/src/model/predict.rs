//! `manycore model predict`: the block that each model picks.

use super::configuration::Configuration;
use super::form::{self, Preference};
use super::prices::{PriceList, rounded};
use crate::report::grid::Grid;
use manycore_programs::cost::published::Weights;
use serde::Serialize;
use std::fmt;
use std::sync::LazyLock;

/// The form of the document (Shuai's paper), fitted anew to the document's table.
static REFITTED: LazyLock<Weights> = LazyLock::new(|| {
    let rows = Preference::all().expect("the shipped table is checked by a test");
    form::refit(&rows)
});

/// The blocks that the models pick for a configuration.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Choices {
    pub(crate) published: usize,
    pub(crate) refitted: usize,
    /// The choice of manycore's partitioner `fixed-block`, from the prices and the time of an iteration.
    pub(crate) prices_alone: usize,
    pub(crate) ours: usize,
}

impl PriceList {
    /// The choice of each model.
    pub(crate) fn choices(&self, at: &Configuration) -> Choices {
        let features = at.features();
        Choices {
            published: Weights::PUBLISHED.block(&features, at.n),
            refitted: REFITTED.block(&features, at.n),
            prices_alone: rounded(self.balance(at), at.n),
            ours: self.block(at),
        }
    }
}

/// The blocks for one configuration.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Prediction {
    #[serde(flatten)]
    pub(crate) at: Configuration,
    #[serde(flatten)]
    pub(crate) choices: Choices,
    /// The latency that `ours` predicts for its block.
    pub(crate) ours_latency_ns: f64,
}

/// One prediction for each configuration. As JSON, a list of predictions.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct PredictReport {
    pub(crate) predictions: Vec<Prediction>,
}

impl PredictReport {
    pub(super) fn new(all: Vec<Configuration>, prices: &PriceList) -> Self {
        let predictions = all.into_iter().map(|at| {
            let choices = prices.choices(&at);
            Prediction {
                ours_latency_ns: prices.latency(&at, choices.ours),
                choices,
                at,
            }
        });
        Self {
            predictions: predictions.collect(),
        }
    }
}

impl fmt::Display for PredictReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Grid::new(&[
            "machine",
            "groups",
            "threads",
            "read",
            "write",
            "comp",
            "n",
            "published",
            "refitted",
            "prices\nalone",
            "ours",
            "expected",
        ]);
        for row in &self.predictions {
            let (at, choices) = (&row.at, &row.choices);
            let numbers = [at.unit_read, at.unit_write, at.unit_comp].map(|n| n.to_string());
            let blocks = [
                at.n,
                choices.published,
                choices.refitted,
                choices.prices_alone,
                choices.ours,
            ];
            let head = [
                at.machine.clone(),
                at.core_groups.to_string(),
                at.threads.to_string(),
            ];
            let latency = format!("{:.0} us", row.ours_latency_ns / 1e3);
            table.add_row(
                head.into_iter()
                    .chain(numbers)
                    .chain(blocks.map(|n| n.to_string()))
                    .chain([latency]),
            );
        }
        writeln!(
            f,
            "The block size that each model picks, and the latency that the model `ours` predicts."
        )?;
        writeln!(f, "{table}")
    }
}
