//! `manycore model eval`: the regret of each model's blocks on measured cells.

use super::baselines;
use super::data::PublishedCell;
use super::error::ModelError;
use super::fitting;
use super::form::{self, Preference};
use super::prices::{PriceList, data_factor, rounded};
use super::taskflow;
use super::text;
use super::validation::{Part, leave_out};
use crate::measure::statistics::Spread;
use crate::report::grid::Grid;
use manycore_programs::cost::published::Weights;
use serde::Serialize;
use std::fmt;

/// The constant blocks to compare with.
const CONSTANTS: u32 = 11;

/// A model's regrets over the cells for which it predicts a block.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Score {
    pub(crate) model: String,
    pub(crate) cells: usize,
    pub(crate) mean_regret: Option<f64>,
    pub(crate) median_regret: Option<f64>,
    pub(crate) p90_regret: Option<f64>,
    pub(crate) max_regret: Option<f64>,
    /// The mean and median of models that are fitted without the cell's configuration. `without_machine` is the same
    /// for models that are fitted without the cell's machine. `None` if no cells are left for a fit.
    pub(crate) without_configuration: Option<[f64; 2]>,
    pub(crate) without_machine: Option<[f64; 2]>,
}

impl Score {
    /// The score of a model that is not fitted to the cells, so that each cell is new to it.
    pub(super) fn of(model: impl Into<String>, regrets: &[f64]) -> Self {
        let cells = regrets.len();
        let spread = (cells > 0).then(|| Spread::of(regrets));
        Self {
            model: model.into(),
            cells,
            mean_regret: spread.map(|_| mean(regrets)),
            median_regret: spread.map(|spread| spread.median),
            p90_regret: spread.map(|spread| spread.p90),
            max_regret: regrets.iter().copied().reduce(f64::max),
            without_configuration: middle(regrets),
            without_machine: middle(regrets),
        }
    }

    /// The same score, for a model that was fitted to these cells.
    fn not_new(self) -> Self {
        Self {
            without_configuration: None,
            without_machine: None,
            ..self
        }
    }

    /// The score of a model that `fit` fits to the cells and that then picks a `block`.
    pub(super) fn fitted<M>(
        model: impl Into<String>,
        cells: &[PublishedCell],
        fit: impl Fn(&[&PublishedCell]) -> M,
        block: impl Fn(&M, &PublishedCell) -> f64,
    ) -> Self {
        let all = fit(&cells.iter().collect::<Vec<_>>());
        let seen = cells.iter().map(|cell| cell.regret(block(&all, cell)));
        let unseen = |part| middle(&leave_out(cells, part, &fit, &block)?);
        Self {
            without_configuration: unseen(Part::Configuration),
            without_machine: unseen(Part::Machine),
            ..Self::of(model, &seen.collect::<Vec<_>>())
        }
    }
}

fn mean(regrets: &[f64]) -> f64 {
    regrets.iter().sum::<f64>() / regrets.len() as f64
}

/// Returns the mean and the median, if there is any regret.
fn middle(regrets: &[f64]) -> Option<[f64; 2]> {
    (!regrets.is_empty()).then(|| [mean(regrets), Spread::of(regrets).median])
}

/// The score of `ours`, with the data exponent fitted to the cells.
pub(super) fn ours(prices: &PriceList, cells: &[PublishedCell]) -> Score {
    Score::fitted(
        "ours",
        cells,
        |cells| fitting::data_exponent(prices, cells),
        |&exponent, cell| {
            let block = prices.balance(&cell.at) * data_factor(&cell.at, exponent);
            rounded(block, cell.at.n) as f64
        },
    )
}

/// One score for each model. As JSON, a list of scores.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct EvalReport {
    pub(crate) scores: Vec<Score>,
}

impl EvalReport {
    /// If the cells are `published`, they are the cells from which some models were made, so no cell is new to those
    /// models. `given` says whether the user gives the exponent in `prices`. It may have been fitted to these cells.
    pub(super) fn new(
        cells: &[PublishedCell],
        prices: &PriceList,
        published: bool,
        given: bool,
    ) -> Result<Self, ModelError> {
        let of_document = |model: &str, regrets: &[f64]| match published {
            true => Score::of(model, regrets).not_new(),
            false => Score::of(model, regrets),
        };
        let regrets = |block: &dyn Fn(&PublishedCell) -> f64| -> Vec<f64> {
            cells.iter().map(|cell| cell.regret(block(cell))).collect()
        };
        let formula = |weights: &Weights, cell: &PublishedCell| {
            let value = weights.value(&cell.at.features());
            // Beyond a pole the formula has no meaning. There the NaN becomes 1.
            value.max(1.0).min(cell.at.n as f64)
        };
        let weighted = regrets(&|cell| formula(&Weights::PUBLISHED, cell));
        let refitted = form::refit(&Preference::all()?);
        let mut scores = vec![
            of_document("published", &weighted),
            of_document("refitted", &regrets(&|cell| formula(&refitted, cell))),
            Score::fitted("refitted-here", cells, form::refit_to_cells, formula),
        ];
        for block in (0..CONSTANTS).map(|shift| 1_usize << shift) {
            let measured = cells.iter().filter_map(|cell| {
                let found = cell.measured.iter().find(|&&(at, _)| at == block);
                found.map(|&(_, latency)| latency / cell.best() - 1.0)
            });
            let measured: Vec<f64> = measured.collect();
            scores.push(Score::of(format!("constant-{block}"), &measured));
        }
        scores.push(Score::fitted(
            "constant-fitted",
            cells,
            baselines::constant,
            |&block, _| block,
        ));
        scores.push(Score::fitted(
            "one-duration",
            cells,
            |cells| baselines::duration(prices, cells),
            |&ns, cell| baselines::block_lasting(prices, ns, cell),
        ));
        scores.push(Score::of("taskflow-guided", &taskflow::regrets(cells)?));
        let priced = regrets(&|cell| rounded(prices.balance(&cell.at), cell.at.n) as f64);
        scores.push(Score::of("prices-alone", &priced));
        let shipped = regrets(&|cell| prices.block(&cell.at) as f64);
        scores.push(match given {
            true => Score::of("ours-params", &shipped).not_new(),
            false => of_document("ours-shipped", &shipped),
        });
        scores.push(ours(prices, cells));
        Ok(Self { scores })
    }
}

impl fmt::Display for EvalReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |regret: Option<f64>| regret.map_or("-".into(), text::percent);
        let mut table = Grid::new(&[
            "model",
            "cells",
            "mean",
            "median",
            "p90",
            "worst",
            "without its\nconfiguration",
            "without its\nmachine",
        ]);
        for score in &self.scores {
            let unseen = [score.without_configuration, score.without_machine];
            let unseen = unseen.map(|both| match both {
                Some([mean, median]) => {
                    format!("{} {}", text::percent(mean), text::percent(median))
                }
                None => "-".into(),
            });
            let seen = [
                score.mean_regret,
                score.median_regret,
                score.p90_regret,
                score.max_regret,
            ];
            table.add_row(
                [score.model.clone(), score.cells.to_string()]
                    .into_iter()
                    .chain(seen.map(percent))
                    .chain(unseen),
            );
        }
        writeln!(
            f,
            "Regret: how much longer a loop takes with the block size of a model than with the \
             best block size. A cell is one loop on one machine."
        )?;
        writeln!(f, "{table}")?;
        writeln!(
            f,
            "A block size that was not measured counts as the measured block size with the \
             nearest ratio to it.\n\
             The last two columns have the mean and the median regret of models that were fitted \
             without the configuration\n\
             of the cell, or without its machine. A model that is not fitted to cells has the \
             same numbers there.\n\
             published: the formula of R. Shuai's paper (2021). refitted: a formula of this form, \
             fitted to the paper's\n\
             table of preferred blocks. refitted-here: a formula of this form, fitted to the best \
             blocks of these cells.\n\
             constant-fitted: the block size that is best for all these cells. one-duration: \
             blocks that all take the time\n\
             that is best for these cells.\n\
             taskflow-guided: the latency of Taskflow in the paper's comparison, for the cells of \
             that comparison.\n\
             prices-alone: the block size that balances the prices that `manycore machine` \
             measures. ours: this block size\n\
             times a power of the bytes, with a fitted exponent. ours-shipped: with the exponent \
             in this program.\n\
             ours-params: with the exponent in the file of --params, which may have been fitted \
             to these cells."
        )
    }
}
