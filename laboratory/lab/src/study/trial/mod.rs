//! The form of a study: a [`Question`] is measured, and answered by what was
//! found.
//!
//! Most studies run small programs, each with all that decides how it runs (a
//! [`Trial`]): simulated side by side on the host's cores, or natively in
//! rounds. Others compare policies cell by cell ([`measure_cells`]). Journal,
//! interruption, progress, hashes and origin are the same for all and are here.

mod binding;
mod cells;
mod clock;
mod experiment;
mod machines;
mod measure;

mod setup;

pub(in crate::study) use binding::Binding;
pub(in crate::study) use cells::{CellRecord, measure_cells, simulate_policies};
pub(in crate::study) use clock::pass_until;
pub(in crate::study) use experiment::{
    Answer, Extra, Fingerprints, Inquiry, Question, Session, Text,
};
pub(in crate::study) use machines::Machines;
pub(in crate::study) use measure::{Results, Runs, Trials};
pub(in crate::study) use setup::{PIN, RUNS, SECONDS, Setup};

use manycore::topology::Topology;
use serde::{Serialize, de::DeserializeOwned};
use std::fmt;

/// A program and all that decides how it runs: a key of the journal.
pub(in crate::study) trait Trial:
    Clone + fmt::Debug + fmt::Display + PartialEq + Serialize + DeserializeOwned + Send + Sync
{
    /// The result of one run.
    type Sample: Clone + fmt::Debug + Serialize + DeserializeOwned + Send;

    /// Trials with the most cores are simulated first: they take longest.
    fn cores(&self) -> usize;

    /// Runs it on a simulated machine; with the simulation's fingerprint.
    fn simulate(&self, machines: &Machines) -> anyhow::Result<(Self::Sample, u64)>;

    /// Runs it on this host. `topology` has its processors.
    fn run_here(&self, topology: &Topology, pinned: bool) -> anyhow::Result<Self::Sample>;
}
