//! How a simulation can fail.

use std::fmt;

/// Why a simulation ended before its program did.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SimulationError {
    /// All threads wait, and nothing is under way that could wake one.
    #[error("deadlock at cycle {at}: {threads}")]
    Deadlock {
        /// The cycle at which nothing was left to happen.
        at: u64,
        /// Which thread waits on what.
        threads: Waiting,
    },
    /// The limit on cycles was reached.
    #[error("the program still ran after {limit} cycles: {threads}")]
    Runaway {
        /// The limit.
        limit: u64,
        /// What each thread was doing.
        threads: Waiting,
    },
    /// The program's main closure panicked; the panic hook has printed why.
    #[error("the simulated program panicked: {0}")]
    Panicked(String),
    /// The simulated machine broke one of its own invariants: a defect of the
    /// simulator.
    #[error("the simulator is wrong: {0}")]
    Incoherent(String),
    /// The host would not give the simulated machine its memory.
    #[error("cannot make the simulated machine: {0}")]
    Host(String),
}

/// A list of threads and what each waits on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waiting(pub(crate) Vec<(String, String)>);

/// The most threads that the message names; a reader looks at no more.
const SHOWN: usize = 16;

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (thread, what)) in self.0.iter().take(SHOWN).enumerate() {
            let comma = if at == 0 { "" } else { "; " };
            write!(f, "{comma}thread {thread} {what}")?;
        }
        match self.0.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}

impl Waiting {
    /// Each thread's name and what it waits on.
    pub fn threads(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(thread, what)| (&**thread, &**what))
    }
}
