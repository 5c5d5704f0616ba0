//! The form of a study. The measurements of a [`Question`] give its answer.
//!
//! Most studies run small programs. A [`Trial`] is a program with everything that decides how it runs. Trials are
//! simulated side by side on the host's cores, or run natively in rounds. Other studies compare policies cell by cell
//! ([`measure_cells`]). Journal, interruption, progress, hashes and origin are the same for all studies.

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

/// A program with everything that decides how it runs. Trials are the keys of the journal.
pub(in crate::study) trait Trial:
    Clone + fmt::Debug + fmt::Display + PartialEq + Serialize + DeserializeOwned + Send + Sync
{
    /// The result of one run.
    type Sample: Clone + fmt::Debug + Serialize + DeserializeOwned + Send;

    /// The number of cores. Trials with the most cores take longest, so they are simulated first.
    fn cores(&self) -> usize;

    /// Runs the program on a simulated machine. Also returns the simulation's fingerprint.
    fn simulate(&self, machines: &Machines) -> anyhow::Result<(Self::Sample, u64)>;

    /// Runs the program on this host. `topology` lists the host's processors.
    fn run_here(&self, topology: &Topology, pinned: bool) -> anyhow::Result<Self::Sample>;
}
