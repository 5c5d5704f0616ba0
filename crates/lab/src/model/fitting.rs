//! Fits the prices of `ours` to measured latencies.
//!
//! The sum of squares of three kinds of residuals, each in units of what it
//! may be off by:
//!
//! * **Latencies**: the logarithm of predicted over measured. Most of a cell's
//!   common error is left out: it is the weather of that run, and no choice of
//!   a block depends on it. A block far from the cell's best has little weight:
//!   the model is only used near the best. A large residual grows linearly: the
//!   tables contain slips of a factor ten.
//! * **Preferred blocks** of the document's configurations with several core
//!   groups, for which the latencies are few (4 cells, all with two groups):
//!   octaves between the balanced block and the preferred one.
//! * **Priors**: what the literature and common sense say, within a factor.

use super::configuration::{Configuration, ITERATIONS};
use super::data::PublishedCell;
use super::error::ModelError;
use super::form::Preference;
use super::least_squares::minimise;
use super::parameters::Parameters;
use manycore::cost::balanced_block;
use std::collections::BTreeSet;

/// What a latency may be off by, as a share, before anything is odd: about 6%,
/// and half of that common to neighbouring blocks, which makes them worth a
/// third as many.
const LATENCY_ERROR: f64 = 0.10;
/// From here on a residual grows linearly.
const SLIP: f64 = 0.05;
/// At this regret a block has a quarter of the weight of the best one.
const NEAR: f64 = 0.3;
/// The share of a cell's common error that is the weather's.
const WEATHER: f64 = 0.8;
/// In octaves. The rows are powers of two, and where the latencies are known
/// mostly larger than what is best there.
const PREFERENCE_ERROR: f64 = 1.0;

/// Nanoseconds, and the standard deviation of their logarithm.
const CLAIM: (f64, f64) = (80.0, 0.5);
const HANDOFF: (f64, f64) = (12.0, 0.5);
const CROSSING: (f64, f64) = (500.0, 0.5);
const WAKE: (f64, f64) = (5_000.0, 0.5);
const BYTE: (f64, f64) = (0.65, 0.3);

/// The machine that the document has with more than two core groups.
const MANY_GROUPS: &str = "AMD 3970X";

/// Fits to `cells`, which may be none.
pub(super) fn fit(cells: &[&PublishedCell]) -> Result<Parameters, ModelError> {
    let machines: BTreeSet<&str> = cells.iter().map(|cell| cell.at.machine.as_str()).collect();
    let machines: Vec<&str> = match machines.is_empty() {
        true => vec!["any"],
        false => machines.into_iter().collect(),
    };
    let preferences = preferences()?;
    let mut priors = vec![CLAIM, HANDOFF, CROSSING, WAKE];
    priors.resize(4 + machines.len(), BYTE);
    let start: Vec<f64> = priors.iter().map(|(value, _)| value.ln()).collect();
    let found = minimise(&start, |logs| {
        let parameters = from_logs(logs, &machines);
        let mut residuals = Vec::new();
        for cell in cells {
            latency_residuals(cell, &parameters, &mut residuals);
        }
        for (at, preferred) in &preferences {
            let (machine, task) = (parameters.machine(at), parameters.task(at));
            let octaves = (balanced_block(&machine, &task, at.n) / preferred).log2();
            residuals.push(octaves / PREFERENCE_ERROR);
        }
        for (log, (value, deviation)) in logs.iter().zip(&priors) {
            residuals.push((log - value.ln()) / deviation);
        }
        residuals
    });
    Ok(from_logs(&found, &machines))
}

fn from_logs(logs: &[f64], machines: &[&str]) -> Parameters {
    let bytes = machines.iter().zip(&logs[4..]);
    Parameters {
        claim_ns: logs[0].exp(),
        handoff_ns: logs[1].exp(),
        crossing_ns: logs[2].exp(),
        wake_ns: logs[3].exp(),
        byte_ns: bytes
            .map(|(name, log)| ((*name).into(), log.exp()))
            .collect(),
    }
}

fn latency_residuals(cell: &PublishedCell, parameters: &Parameters, residuals: &mut Vec<f64>) {
    let best = cell.best();
    let errors = cell.measured.iter().map(|&(block, latency)| {
        let error = (parameters.latency(&cell.at, block) / latency).ln();
        let regret = latency / best - 1.0;
        (error, 1.0 / (1.0 + (regret / NEAR).powi(2)))
    });
    let errors: Vec<(f64, f64)> = errors.collect();
    let common = errors
        .iter()
        .map(|(error, weight)| error * weight * weight)
        .sum::<f64>()
        / errors
            .iter()
            .map(|(_, weight)| weight * weight)
            .sum::<f64>();
    residuals.extend(errors.iter().map(|(error, weight)| {
        let error = (error - WEATHER * common) * weight;
        // The square of this is quadratic below the slip, linear above.
        let tamed = SLIP * (2.0 * ((1.0 + (error / SLIP).powi(2)).sqrt() - 1.0)).sqrt();
        tamed.copysign(error) / LATENCY_ERROR
    }));
}

/// Configurations of several core groups, and the block that the document
/// prefers there.
fn preferences() -> Result<Vec<(Configuration, f64)>, ModelError> {
    let rows = Preference::all()?.into_iter();
    let several = rows.filter(|row| row.features.core_groups > 100.0);
    let rows = several.map(|row| {
        let at = Configuration {
            machine: MANY_GROUPS.into(),
            core_groups: (row.features.core_groups / 100.0) as usize,
            threads: row.features.threads as usize,
            unit_read: row.read,
            unit_write: row.write,
            unit_comp: 1,
            n: ITERATIONS,
        };
        (at, row.preferred)
    });
    Ok(rows.collect())
}
