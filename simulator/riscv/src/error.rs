//! The errors of a run. The guest's own exit status is not an error.

use crate::linux::System;
use crate::outcome::{Outcome, Timing};
use manycore_chip::SimulationError;

/// Why a program could not be run to its end.
///
/// ```
/// use manycore_riscv::{Program, RunError};
///
/// let error = Program::new("/nowhere").run_functionally(1).unwrap_err();
/// assert!(matches!(error, RunError::Program { .. }));
/// assert!(error.to_string().starts_with("/nowhere: cannot be read"));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The program's file cannot be run.
    #[error("{file}: {what}")]
    Program {
        /// The file.
        file: String,
        /// What is wrong with the file, and what was expected.
        what: String,
    },
    /// The program did something that is not supported.
    #[error("{what}")]
    Unsupported {
        /// The call or instruction, and its place in the program.
        what: String,
        /// The results of the run until then.
        outcome: Box<Outcome>,
    },
    /// A limit, a deadlock or `stop_when` stopped the program.
    #[error("{why}")]
    Stopped {
        /// The cause, and what the program's threads did.
        why: String,
        /// The results of the run until then.
        outcome: Box<Outcome>,
    },
    /// The simulator or its host failed.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
}

/// The result of a run that is over. If the run was stopped, `stopped` is the reason.
pub(crate) fn ended(
    system: &mut System,
    timing: Option<Timing>,
    stopped: Option<String>,
) -> Result<Outcome, RunError> {
    let outcome = Outcome::of(system, timing);
    if let Some(what) = system.take_failure() {
        let outcome = Box::new(outcome);
        return Err(RunError::Unsupported { what, outcome });
    }
    let Some(why) = stopped else {
        return Ok(outcome);
    };
    system.write_back();
    let outcome = Box::new(outcome);
    Err(RunError::Stopped { why, outcome })
}

impl RunError {
    /// The results of the run until it failed, if the program ran.
    ///
    /// ```
    /// # let hello = include!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/hello/file.rs"));
    /// use manycore_chip::{Simulation, config::Config};
    /// use manycore_riscv::Program;
    /// use std::io::sink;
    ///
    /// let machine = Config::preset("dahu")?;
    /// let program = Program::new(hello.path()).streams(sink(), sink());
    /// let error = program.run(Simulation::new(&machine).limit(10)).unwrap_err();
    /// let timing = error.outcome().expect("it ran").timing.as_ref();
    /// assert_eq!(timing.expect("it was timed").run.statistics.cycles, 10);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn outcome(&self) -> Option<&Outcome> {
        match self {
            Self::Unsupported { outcome, .. } | Self::Stopped { outcome, .. } => Some(outcome),
            Self::Program { .. } | Self::Simulation(_) => None,
        }
    }
}
