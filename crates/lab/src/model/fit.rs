//! `manycore model fit`: prices from latencies, and how well they carry over.

use super::data::PublishedCell;
use super::error::ModelError;
use super::eval::Score;
use super::fitting;
use super::form::{self, Preference, STARTS};
use super::parameters::Parameters;
use super::{text, validation};
use manycore_research::cost::published::Weights;
use serde::Serialize;
use std::fmt;
use std::time::Instant;

/// What was fitted, to what, and how well.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct FitReport {
    pub(crate) parameters: Parameters,
    pub(crate) cells: usize,
    pub(crate) fit_ms: f64,
    /// The scores of `ours`: on the cells that it was fitted to, and on cells left out.
    pub(crate) scores: Vec<Score>,
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
    /// Rows on which the published weights give the published block, of `rows`.
    pub(crate) published_reproduces: usize,
    pub(crate) rows: usize,
    pub(crate) fit_ms: f64,
}

impl FitReport {
    pub(super) fn new(cells: &[PublishedCell]) -> Result<Self, ModelError> {
        let started = Instant::now();
        let parameters = fitting::fit(&cells.iter().collect::<Vec<_>>())?;
        let fit_ms = milliseconds(started);
        let seen = cells
            .iter()
            .map(|cell| cell.regret(parameters.block(&cell.at) as f64));
        let seen: Vec<f64> = seen.collect();
        let mut scores = vec![Score::of("fitted", &seen)];
        for (name, regrets) in [
            ("without the cell", validation::by_cell(cells)?),
            ("without its machine", validation::by_machine(cells)?),
            (
                "without its number of core groups",
                validation::by_core_groups(cells)?,
            ),
        ] {
            scores.extend(regrets.map(|regrets| Score::of(name, &regrets)));
        }
        Ok(Self {
            parameters,
            cells: cells.len(),
            fit_ms,
            scores,
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
        let prices = &self.parameters;
        writeln!(
            f,
            "ours, fitted to {} cells in {:.1} ms:",
            self.cells, self.fit_ms
        )?;
        let mut table = text::table(["price", "ns"]);
        let fixed = [
            ("claim", prices.claim_ns),
            ("handoff in a core group", prices.handoff_ns),
            ("crossing between groups", prices.crossing_ns),
            ("wake of one more thread", prices.wake_ns),
        ];
        let bytes = prices.byte_ns.iter();
        let bytes = bytes.map(|(machine, &ns)| (format!("byte on {machine}"), ns));
        for (name, ns) in fixed
            .map(|(name, ns)| (name.into(), ns))
            .into_iter()
            .chain(bytes)
        {
            let digits = if ns < 10.0 { 2 } else { 0 };
            table.add_row([name, format!("{ns:.digits$}")]);
        }
        writeln!(f, "{}\n", text::lines(table))?;
        let mut table = text::table(["regret of ours", "cells", "mean", "worst"]);
        for score in &self.scores {
            let regrets = [score.mean_regret, score.max_regret];
            let regrets = regrets.map(|regret| regret.map_or("-".into(), text::percent));
            table.add_row(
                [score.model.clone(), score.cells.to_string()]
                    .into_iter()
                    .chain(regrets),
            );
        }
        writeln!(f, "{}\n", text::lines(table))?;
        let form = &self.refitted;
        let [threads, read, write, compute] = form.beta;
        writeln!(
            f,
            "The document's formula as printed gives {} of the {} blocks that its table infers.\n\
             Its form, refitted to that table's preferred blocks from {STARTS} starts in {:.1} ms:\n\
             B = ({:.2} {:+.2} G) / ({:.2} {threads:+.2} T {read:+.2} R {write:+.2} W {compute:+.2} C)\n\
             loss {:.0}; with the published weights {:.0}",
            form.published_reproduces,
            form.rows,
            form.fit_ms,
            form.delta0,
            form.alpha,
            form.delta1,
            form.loss,
            form.published_loss
        )
    }
}
