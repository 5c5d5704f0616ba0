//! How a run can fail that is not the guest's own exit.

use manycore_chip::SimulationError;

/// Why a program could not be run, or not to its end.
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
    /// The program's file is none that can be run.
    #[error("{file}: {what}")]
    Program {
        /// The file.
        file: String,
        /// What is wrong with it, and what was expected.
        what: String,
    },
    /// The program does something that is not supported.
    #[error("{0}")]
    Unsupported(String),
    /// The machine stopped.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    /// All threads wait for each other.
    #[error("deadlock after {0} instructions: all threads sleep")]
    Deadlock(u64),
}
