//! `manycore model fit`: the fitted numbers, and how well they hold for other configurations and machines.

use super::data::PublishedCell;
use super::error::ModelError;
use super::eval::{Score, ours};
use super::fitting;
use super::form::{self, Preference, STARTS};
use super::prices::PriceList;
use super::text;
use crate::report::grid::Grid;
use manycore_programs::cost::published::Weights;
use serde::Serialize;
use std::fmt;
use std::time::Instant;

/// The loss of the document (Shuai's paper) after training, "on over 200 cases".
const PRINTED_LOSS: f64 = 2001.48;
const PRINTED_CASES: f64 = 200.0;

/// The result of a fit: its data and its quality.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct FitReport {
    /// Measured prices, and the exponent that was fitted.
    pub(crate) prices: PriceList,
    pub(crate) cells: usize,
    pub(crate) fit_ms: f64,
    pub(crate) score: Score,
    pub(crate) refitted: Refitted,
}

/// The document's formula, trained anew on the document's table.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Refitted {
    pub(crate) alpha: f64,
    pub(crate) delta0: f64,
    pub(crate) beta: [f64; 4],
    pub(crate) delta1: f64,
    pub(crate) loss: f64,
    pub(crate) published_loss: f64,
    /// The number of `rows` that the published weights reproduce.
    pub(crate) published_reproduces: usize,
    pub(crate) rows: usize,
    pub(crate) fit_ms: f64,
}

impl FitReport {
    /// Fits the exponent to `cells`, with the machines' prices as they are in `prices`.
    pub(super) fn new(cells: &[PublishedCell], prices: PriceList) -> Result<Self, ModelError> {
        let started = Instant::now();
        let data_exponent = fitting::data_exponent(&prices, &cells.iter().collect::<Vec<_>>());
        let fit_ms = milliseconds(started);
        Ok(Self {
            score: ours(&prices, cells),
            prices: PriceList {
                data_exponent,
                ..prices
            },
            cells: cells.len(),
            fit_ms,
            refitted: Refitted::new()?,
        })
    }
}

impl Refitted {
    fn new() -> Result<Self, ModelError> {
        let rows = Preference::all()?;
        let started = Instant::now();
        let weights = form::refit(&rows);
        Ok(Self {
            alpha: weights.alpha,
            delta0: weights.delta0,
            beta: weights.beta,
            delta1: weights.delta1,
            loss: form::loss(&weights, &rows),
            published_loss: form::loss(&Weights::PUBLISHED, &rows),
            published_reproduces: form::reproduced(&Weights::PUBLISHED, &rows),
            rows: rows.len(),
            fit_ms: milliseconds(started),
        })
    }
}

fn milliseconds(started: Instant) -> f64 {
    started.elapsed().as_secs_f64() * 1e3
}

impl fmt::Display for FitReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "ours: the block size that balances measured prices, times (1024 / bytes of an \
             iteration)^{:.2}.\nThe exponent was fitted to {} cells (loops on machines) in {:.1} \
             ms. Prices in ns:",
            self.prices.data_exponent, self.cells, self.fit_ms
        )?;
        let mut table = Grid::new(&[
            "machine", "claim", "handoff", "crossing", "launch", "wake", "byte",
        ]);
        for (machine, prices) in &self.prices.machines {
            let prices = prices.named().map(|(_, ns)| match ns {
                ..10.0 => format!("{ns:.2}"),
                _ => format!("{ns:.0}"),
            });
            table.add_row([machine.clone()].into_iter().chain(prices));
        }
        writeln!(f, "{table}\n")?;
        let mut table = Grid::new(&["regret of ours", "mean", "median"]);
        let score = &self.score;
        let seen = score.mean_regret.zip(score.median_regret);
        for (name, middle) in [
            ("fitted", seen.map(|(mean, median)| [mean, median])),
            ("without its configuration", score.without_configuration),
            ("without its machine", score.without_machine),
        ] {
            let middle = middle.map_or(["-".into(), "-".into()], |both| both.map(text::percent));
            table.add_row([name.to_owned()].into_iter().chain(middle));
        }
        writeln!(f, "{table}\n")?;
        let form = &self.refitted;
        let [threads, read, write, compute] = form.beta;
        writeln!(
            f,
            "The formula of R. Shuai's paper (2021) gives {} of the {} blocks in the paper's \
             table of inferred blocks.\n\
             The paper states a loss of {PRINTED_LOSS} in {PRINTED_CASES} cases, which is {:.0} \
             per case. In the {} rows that it prints, the loss is\n\
             {:.0}, which is {:.0} per row. So these rows alone have {:.1} times the loss that \
             the paper states for all cases.\n\
             A formula of the same form, fitted to these rows from {STARTS} starts in {:.1} ms:\n\
             B = ({:.2} {:+.2} G) / ({:.2} {threads:+.2} T {read:+.2} R {write:+.2} W \
             {compute:+.2} C)\n\
             loss {:.0}",
            form.published_reproduces,
            form.rows,
            PRINTED_LOSS / PRINTED_CASES,
            form.rows,
            form.published_loss,
            form.published_loss / form.rows as f64,
            form.published_loss / PRINTED_LOSS,
            form.fit_ms,
            form.delta0,
            form.alpha,
            form.delta1,
            form.loss,
        )
    }
}
