//! The errors of building a pool.

use manycore_cores::topology::AffinityError;
use std::error::Error;
use std::{fmt, io};

/// The largest number of threads that a pool may have. It is far above the cores of any machine, and small enough that
/// the board's indices and the shards' arithmetic cannot overflow.
pub(super) const MAX_THREADS: usize = (1 << 14) - 1;

/// Why a pool could not be made. Threads that were started for the pool have been ended.
///
/// ```
/// use manycore::{BuildError, Pool};
///
/// let error = Pool::builder().threads(0).build().unwrap_err();
/// assert!(matches!(error, BuildError::ZeroThreads));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// A pool needs at least the thread that calls it.
    ZeroThreads,
    /// The number of threads is larger than a pool can have.
    TooManyThreads {
        /// The number of threads asked for.
        asked: usize,
    },
    /// The global pool exists already. An earlier [`build_global`](crate::Builder::build_global) has made it, or
    /// the first call that needed it.
    GlobalExists,
    /// The environment variable for the global pool's threads has a value that is no number of threads.
    Environment {
        /// The variable's name.
        variable: &'static str,
        /// The variable's value. Bytes that are not UTF-8 are replaced.
        value: String,
    },
    /// The current thread cannot be adopted, since it is part of a pool.
    AlreadyInPool,
    /// The affinity names CPUs that this process cannot use.
    Affinity(AffinityError),
    /// There is no memory for the pool's data: about 1.6 MiB of address space for each thread, in addition to its
    /// [stack](crate::Builder::stack_size).
    Memory {
        /// The threads asked for.
        threads: usize,
        /// The system's refusal.
        source: io::Error,
    },
    /// The operating system refused to make or to bind a thread.
    Spawn {
        /// The thread's number. Thread 0 is the caller, unless the pool is [dedicated](crate::Builder::dedicated).
        rank: usize,
        /// The threads asked for.
        threads: usize,
        /// The CPUs for the thread. Empty if the builder does not bind it.
        cpus: Vec<usize>,
        /// The operating system's error.
        source: io::Error,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ZeroThreads => {
                f.write_str("a pool of zero threads cannot run anything; ask for at least 1")
            }
            Self::TooManyThreads { asked } => write!(
                f,
                "{asked} threads asked for; a pool holds at most {MAX_THREADS}"
            ),
            Self::GlobalExists => {
                f.write_str("there is a global pool already; configure it before anything uses it")
            }
            Self::Environment { variable, value } => write!(
                f,
                "{variable} is {value:?}; it must be a whole number from 1 to {MAX_THREADS}, or, \
                 for the default, 0 or empty"
            ),
            Self::AlreadyInPool => {
                f.write_str("the current thread is already part of a pool; only one can adopt it")
            }
            Self::Affinity(error) => error.fmt(f),
            Self::Memory { threads, source } => write!(
                f,
                "no memory for {threads} threads: {source}; ask for fewer, or for fewer open joins"
            ),
            Self::Spawn {
                rank,
                threads,
                cpus,
                source,
            } => write!(
                f,
                "cannot start thread {rank} of {threads}{}: {source}",
                On(cpus)
            ),
        }
    }
}

impl Error for BuildError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Affinity(error) => error.source(),
            Self::Memory { source, .. } | Self::Spawn { source, .. } => Some(source),
            _ => None,
        }
    }
}

impl From<AffinityError> for BuildError {
    fn from(error: AffinityError) -> Self {
        Self::Affinity(error)
    }
}

/// Displays ` on CPUs ...`, or nothing if the list is empty.
struct On<'a>(&'a [usize]);

impl fmt::Display for On<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [] => Ok(()),
            [cpu] => write!(f, " on CPU {cpu}"),
            cpus => write!(f, " on CPUs {cpus:?}"),
        }
    }
}
