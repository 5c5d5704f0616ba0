//! `manycore model`: fits, judges and applies models of the best block size.
//!
//! The models themselves are [`manycore::cost`]; here is what they are fitted
//! to and judged by. README.md tells what the data says.

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
mod parameters;
mod predict;
mod shipped;
mod taskflow;
mod text;
mod validation;

#[cfg(test)]
mod tests;

pub(crate) use data::PublishedCell;
pub(crate) use error::ModelError;
pub(crate) use eval::EvalReport;
pub(crate) use fit::FitReport;
pub(crate) use predict::PredictReport;

use data::Source;
use parameters::Parameters;
use std::path::{Path, PathBuf};

/// What `fit`, `predict` and `eval` take.
#[derive(Clone, Debug, Default)]
pub(crate) struct ModelOptions {
    /// The CSV file; the document's latencies if none.
    pub(crate) data: Option<PathBuf>,
    /// `fit` writes the prices of `ours` here, the others read them; those
    /// fitted to the document's latencies if none.
    pub(crate) params: Option<PathBuf>,
}

impl ModelOptions {
    fn source(&self) -> Result<Source, ModelError> {
        match &self.data {
            Some(path) => Source::open(path),
            None => Ok(shipped::latency()),
        }
    }

    fn parameters(&self) -> Result<Parameters, ModelError> {
        match &self.params {
            Some(path) => Parameters::load(path),
            None => Ok(Parameters::shipped()),
        }
    }
}

/// The latencies in a file, the document's if none.
pub(crate) fn published_latencies(file: Option<&Path>) -> Result<Vec<PublishedCell>, ModelError> {
    match file {
        Some(path) => Source::open(path)?.cells(),
        None => shipped::latency().cells(),
    }
}

/// `manycore model fit`.
pub(crate) fn fit(options: &ModelOptions) -> Result<FitReport, ModelError> {
    let report = FitReport::new(&options.source()?.cells()?)?;
    if let Some(path) = &options.params {
        report.parameters.save(path)?;
    }
    Ok(report)
}

/// `manycore model predict`.
pub(crate) fn predict(options: &ModelOptions) -> Result<PredictReport, ModelError> {
    let parameters = options.parameters()?;
    PredictReport::new(options.source()?.configurations()?, &parameters)
}

/// `manycore model eval`.
pub(crate) fn eval(options: &ModelOptions) -> Result<EvalReport, ModelError> {
    let parameters = options.parameters()?;
    EvalReport::new(&options.source()?.cells()?, &parameters)
}
