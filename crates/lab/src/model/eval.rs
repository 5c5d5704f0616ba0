//! `manycore model eval`: what each model's blocks cost on measured cells.

use super::data::PublishedCell;
use super::error::ModelError;
use super::form::{self, Preference};
use super::parameters::Parameters;
use super::taskflow;
use super::text;
use super::validation;
use crate::measure::statistics::Spread;
use manycore_research::cost::published::Weights;
use serde::Serialize;
use std::fmt;

/// The constant blocks to compare with.
const CONSTANTS: u32 = 11;
/// Fewer cells than this are too few to fit to all but one of them.
const ENOUGH_TO_LEAVE_OUT: usize = 10;

/// A model's regrets over the cells that it says something about.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Score {
    pub(crate) model: String,
    pub(crate) cells: usize,
    pub(crate) mean_regret: Option<f64>,
    pub(crate) median_regret: Option<f64>,
    pub(crate) p90_regret: Option<f64>,
    pub(crate) max_regret: Option<f64>,
}

impl Score {
    pub(super) fn of(model: impl Into<String>, regrets: &[f64]) -> Self {
        let cells = regrets.len();
        let spread = (cells > 0).then(|| Spread::of(regrets));
        Self {
            model: model.into(),
            cells,
            mean_regret: spread.map(|_| regrets.iter().sum::<f64>() / cells as f64),
            median_regret: spread.map(|spread| spread.median),
            p90_regret: spread.map(|spread| spread.p90),
            max_regret: regrets.iter().copied().reduce(f64::max),
        }
    }
}

/// One score a model; as JSON, a list of them.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct EvalReport {
    pub(crate) scores: Vec<Score>,
}

impl EvalReport {
    pub(super) fn new(cells: &[PublishedCell], ours: &Parameters) -> Result<Self, ModelError> {
        let regrets = |block: &dyn Fn(&PublishedCell) -> f64| -> Vec<f64> {
            cells.iter().map(|cell| cell.regret(block(cell))).collect()
        };
        let formula = |weights: &Weights| {
            regrets(&|cell| {
                let value = weights.value(&cell.at.features());
                // Beyond a pole the formula means nothing; NaN becomes 1.
                value.max(1.0).min(cell.at.n as f64)
            })
        };
        let mut scores = vec![Score::of("published", &formula(&Weights::PUBLISHED))];
        for block in (0..CONSTANTS).map(|shift| 1_usize << shift) {
            let measured = cells.iter().filter_map(|cell| {
                let found = cell.measured.iter().find(|&&(at, _)| at == block);
                found.map(|&(_, latency)| latency / cell.best() - 1.0)
            });
            let measured: Vec<f64> = measured.collect();
            scores.push(Score::of(format!("constant-{block}"), &measured));
        }
        scores.push(Score::of("taskflow-guided", &taskflow::regrets(cells)?));
        let refitted = form::refit(&Preference::all()?);
        scores.push(Score::of("refitted", &formula(&refitted)));
        scores.push(Score::of(
            "ours",
            &regrets(&|cell| ours.block(&cell.at) as f64),
        ));
        if cells.len() >= ENOUGH_TO_LEAVE_OUT {
            let unseen = validation::by_cell(cells)?.unwrap_or_default();
            scores.push(Score::of("ours-cross-validated", &unseen));
        }
        Ok(Self { scores })
    }
}

impl fmt::Display for EvalReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = text::table(["model", "cells", "mean", "median", "p90", "worst"]);
        for score in &self.scores {
            let row = [
                score.mean_regret,
                score.median_regret,
                score.p90_regret,
                score.max_regret,
            ];
            let row = row.map(|regret| regret.map_or("-".into(), text::percent));
            table.add_row(
                [score.model.clone(), score.cells.to_string()]
                    .into_iter()
                    .chain(row),
            );
        }
        writeln!(
            f,
            "Regret: how much longer than the cell's best block a model's block takes."
        )?;
        writeln!(f, "{}", text::lines(table))?;
        writeln!(
            f,
            "A block that was not measured counts as the measured one nearest by ratio.\n\
             taskflow-guided: Taskflow's latency in the document's comparison, where its table has \
             the cell.\n\
             ours: with prices fitted before; ours-cross-validated: fitted to this file without \
             the cell."
        )
    }
}
