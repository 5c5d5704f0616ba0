use std::error::Error;
use std::{fmt, io};

/// Why a team could not be made. No thread is left behind.
///
/// ```
/// use manycore_cores::elastic::Allotment;
/// use manycore_team::{BuildError, Team};
///
/// let error = Team::<manycore_platform::Native>::new(0, Allotment::new(1)).unwrap_err();
/// assert!(matches!(error, BuildError::ZeroWorkers));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// A team needs at least the thread that runs it.
    ZeroWorkers,
    /// The system has no memory to notice forks with.
    Memory {
        /// The error of the operating system.
        source: io::Error,
    },
    /// The operating system refused to start a thread, or to bind it.
    Spawn {
        /// The worker's number, from 1. The thread that runs the team is worker 0.
        worker: usize,
        /// The requested number of workers.
        workers: usize,
        /// The CPUs to which the worker was to be bound, if any.
        cpus: Vec<usize>,
        /// The error of the operating system.
        source: io::Error,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ZeroWorkers => {
                f.write_str("a team of zero workers cannot run anything; ask for at least 1")
            }
            Self::Memory { source } => write!(f, "no memory for a team: {source}"),
            Self::Spawn {
                worker,
                workers,
                cpus,
                source,
            } => {
                write!(f, "cannot start worker {worker} of {workers}")?;
                if !cpus.is_empty() {
                    write!(f, " on CPUs {cpus:?}")?;
                }
                write!(f, ": {source}")
            }
        }
    }
}

impl Error for BuildError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::ZeroWorkers => None,
            Self::Memory { source } | Self::Spawn { source, .. } => Some(source),
        }
    }
}
