//! The errors of a simulation.

use std::fmt;

/// The reason why a simulation ended before its program did.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SimulationError {
    /// All threads wait, and no event can wake a thread.
    #[error("deadlock at cycle {at}: {threads}")]
    Deadlock {
        /// The cycle of the last event.
        at: u64,
        /// Each thread, and what it waits on.
        threads: Waiting,
    },
    /// The limit on cycles was reached.
    #[error("the program still ran after {limit} cycles: {threads}")]
    Runaway {
        /// The limit.
        limit: u64,
        /// The state of each thread.
        threads: Waiting,
    },
    /// The program's main closure panicked. The panic hook has printed the message.
    #[error("the simulated program panicked: {0}")]
    Panicked(String),
    /// The simulated machine broke an invariant: a defect of the simulator.
    #[error("the simulator is wrong: {0}")]
    Incoherent(String),
    /// The host refused a resource, such as the simulated machine's memory.
    #[error("cannot make the simulated machine: {0}")]
    Host(String),
}

/// A list of threads, and what each thread waits on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waiting(pub(crate) Vec<Waiter>);

/// A thread, what it does, and the address that the thread waits on, if that address has no name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Waiter {
    pub(crate) thread: String,
    pub(crate) what: String,
    pub(crate) address: Option<u64>,
}

const SHOWN: usize = 16;

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, Waiter { thread, what, .. }) in self.0.iter().take(SHOWN).enumerate() {
            let comma = if at == 0 { "" } else { "; " };
            let thread = thread.trim_start_matches("thread ");
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
        let waiters = self.0.iter();
        waiters.map(|waiter| (&*waiter.thread, &*waiter.what))
    }

    /// Replaces each simulated address without a name by the name that `name` returns for the thread's name and the
    /// address.
    fn name_addresses(&mut self, name: impl Fn(&str, u64) -> String) {
        for waiter in &mut self.0 {
            if let Some(address) = waiter.address.take() {
                let text = format!("address {address:#x}");
                let name = name(&waiter.thread, address);
                waiter.what = waiter.what.replace(&text, &name);
            }
        }
    }
}

impl SimulationError {
    /// Replaces each simulated address that a thread waits on, and that has no name, by the name
    /// that `name` returns for the thread's name and the address. A front end knows the variables of its program.
    ///
    /// ```
    /// use manycore_chip::guest::{Core, FIRST_ADDRESS, State};
    /// use manycore_chip::{Simulation, config::Config};
    ///
    /// let machine = Config::preset("atac-64")?;
    /// let main = |core: &mut Core<'_>| {
    ///     core.enter_futex_wait();
    ///     core.futex_wait(FIRST_ADDRESS + 8, None);
    ///     State::Suspended
    /// };
    /// let error = Simulation::new(&machine).run_guest(Box::new(main)).unwrap_err();
    /// assert!(error.to_string().contains("sleeps on the futex address 0x"));
    /// let error = error.naming(|_, address| format!("word {}", (address - FIRST_ADDRESS) / 8));
    /// assert!(error.to_string().contains("sleeps on the futex word 1"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn naming(mut self, name: impl Fn(&str, u64) -> String) -> Self {
        if let Self::Deadlock { threads, .. } | Self::Runaway { threads, .. } = &mut self {
            threads.name_addresses(name);
        }
        self
    }
}
