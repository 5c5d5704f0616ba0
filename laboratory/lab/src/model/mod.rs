//! `manycore model`: fits, judges and applies models of the best block size.
//!
//! The models themselves are [`manycore_programs::cost`]. This module has their data, and the measure that judges them.
//! `README.md` describes the models. `laboratory/lab/data/README.md` describes the data and names *the document*, the
//! paper that they are from. `ours` is the model of this repository.

mod baselines;
mod configuration;
mod data;
mod error;
mod eval;
mod fit;
mod fitting;
mod form;
#[cfg(test)]
pub(crate) mod fuzz;
mod least_squares;
mod predict;
mod presets;
mod prices;
mod shipped;
#[cfg(test)]
mod steps;
mod taskflow;
mod text;
mod validation;

#[cfg(test)]
mod tests;

pub(crate) use configuration::Configuration;
pub(crate) use data::{PublishedCell, Source};
pub(crate) use error::ModelError;
pub(crate) use eval::EvalReport;
pub(crate) use fit::FitReport;
pub(crate) use least_squares::minimise;
pub(crate) use predict::{Choices, PredictReport};
pub(crate) use presets::measure_presets;
pub(crate) use prices::PriceList;
pub(crate) use taskflow::{PrintedComparison, printed_comparisons};

use crate::machine::MachinePrices;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The arguments of `fit`, `predict` and `eval`.
#[derive(Clone, Debug, Default)]
pub(crate) struct ModelOptions {
    /// The CSV file. If there is none, the document's latencies apply.
    pub(crate) data: Option<PathBuf>,
    /// `fit` writes the prices of `ours` to this file, and the other commands read them. The
    /// default is the prices of the document's machines.
    pub(crate) params: Option<PathBuf>,
    /// For `predict`: the prices of a machine that was measured now. They replace all other prices.
    pub(crate) measured: Option<(String, MachinePrices)>,
}

impl ModelOptions {
    fn source(&self) -> Result<Source, ModelError> {
        match &self.data {
            Some(path) => Source::open(path),
            None => Ok(shipped::latency()),
        }
    }

    fn prices(&self) -> Result<PriceList, ModelError> {
        match (&self.measured, &self.params) {
            (Some((name, prices)), _) => Ok(PriceList::of_one(name, *prices)),
            (None, Some(path)) => PriceList::load(path),
            (None, None) => Ok(PriceList::shipped()),
        }
    }
}

/// Returns the latencies in a file or, without a file, the document's latencies.
pub(crate) fn published_latencies(file: Option<&Path>) -> Result<Vec<PublishedCell>, ModelError> {
    match file {
        Some(path) => Source::open(path)?.cells(),
        None => shipped::latency().cells(),
    }
}

/// `manycore model fit`, with `measured` prices instead of the shipped ones.
pub(crate) fn fit(
    options: &ModelOptions,
    measured: Option<BTreeMap<String, MachinePrices>>,
) -> Result<FitReport, ModelError> {
    let mut prices = PriceList::shipped();
    if let Some(machines) = measured {
        prices.machines = machines;
    }
    let report = FitReport::new(&options.source()?.cells()?, prices)?;
    if let Some(path) = &options.params {
        report.prices.save(path)?;
    }
    Ok(report)
}

/// `manycore model predict`.
pub(crate) fn predict(options: &ModelOptions) -> Result<PredictReport, ModelError> {
    let configurations = options.source()?.configurations()?;
    Ok(PredictReport::new(configurations, &options.prices()?))
}

/// `manycore model eval`.
pub(crate) fn eval(options: &ModelOptions) -> Result<EvalReport, ModelError> {
    let cells = options.source()?.cells()?;
    EvalReport::new(
        &cells,
        &options.prices()?,
        options.data.is_none(),
        options.params.is_some(),
    )
}
