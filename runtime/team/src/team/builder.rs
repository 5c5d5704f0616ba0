//! How a team is made.

use super::error::BuildError;
use super::run::TeamSettings;
use super::workers::Workers;
use super::{Policy, Team};
use crate::fiber::Stacks;
use manycore_cores::elastic::Allotment;
use manycore_platform::{Native, Platform, ThreadSpec};
use std::sync::Arc;
use std::time::Duration;

/// The longest that a worker spins by default: about what it takes to wake it.
const PATIENCE: Duration = Duration::from_micros(20);
/// A preemption: two switches, and the queue between them as lines from another core.
const SWITCH_COST: Duration = Duration::from_nanos(500);

/// Bytes of a rank's stack; only what the rank touches is memory.
const STACK_SIZE: usize = 512 << 10;

/// How to make a [`Team`].
///
/// ```
/// use manycore_cores::elastic::Allotment;
/// use manycore_team::{Policy, Team};
///
/// let team: Team = Team::builder(2, Allotment::new(2)).policy(Policy::Fifo).build()?;
/// assert_eq!(team.workers(), 2);
/// # Ok::<(), manycore_team::BuildError>(())
/// ```
#[derive(Clone, Debug)]
pub struct TeamBuilder<P: Platform = Native> {
    workers: usize,
    allotment: Allotment<P>,
    cpus: Vec<Vec<usize>>,
    name: String,
    stack_size: usize,
    settings: TeamSettings,
}

impl<P: Platform> TeamBuilder<P> {
    pub(super) fn new(workers: usize, allotment: Allotment<P>) -> Self {
        Self {
            workers,
            allotment,
            cpus: vec![],
            name: "team".into(),
            stack_size: STACK_SIZE,
            settings: TeamSettings {
                policy: Policy::default(),
                patience: PATIENCE,
                switch_cost: SWITCH_COST,
            },
        }
    }

    /// The CPUs of the workers: a set of logical CPUs each. Workers without an entry are free, and
    /// so is worker 0, the caller of [`Team::run`].
    #[must_use]
    pub fn cpus(mut self, cpus: Vec<Vec<usize>>) -> Self {
        self.cpus = cpus;
        self
    }

    /// The name of the workers, followed by their number, as debuggers show it.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// The size of a [`Stackful`](super::Stackful) rank's stack in bytes, 512 KiB by default; only
    /// pages that it touches cost memory.
    #[must_use]
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.stack_size = bytes;
        self
    }

    /// How ranks are divided among workers.
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.settings.policy = policy;
        self
    }

    /// How long a worker without a rank stays awake. The default, 20 us, is about the cost of
    /// waking it. Choose less if another thread can use the core at once.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.settings.patience = patience;
        self
    }

    /// The cost of interrupting a rank and continuing it on another worker, 0.5 us by default. It
    /// is more if the rank works on much data, which the caches there do not have. Ranks are not
    /// cut for a smaller gain, and a higher cost makes turns longer.
    #[must_use]
    pub fn switch_cost(mut self, cost: Duration) -> Self {
        self.settings.switch_cost = cost;
        self
    }

    /// Starts the workers.
    ///
    /// # Errors
    ///
    /// No worker at all, or the platform refusing a thread, or to bind it.
    pub fn build(self) -> Result<Team<P>, BuildError> {
        if self.workers == 0 {
            return Err(BuildError::ZeroWorkers);
        }
        let patience = P::duration_to_ticks(self.settings.patience);
        // Dropped on an error below, which ends the workers made so far.
        let mut team = Team {
            workers: Arc::new(Workers::new(self.allotment, patience)),
            threads: Vec::with_capacity(self.workers - 1),
            stacks: Arc::new(Stacks::new(self.stack_size)),
            settings: self.settings,
        };
        for worker in 1..self.workers {
            let spec = ThreadSpec {
                name: format!("{}-{worker}", self.name),
                stack_size: None,
                cpus: self.cpus.get(worker).cloned().unwrap_or_default(),
            };
            let workers = Arc::clone(&team.workers);
            let cpus = spec.cpus.clone();
            let thread = P::spawn(spec, Box::new(move || workers.work(worker)));
            team.threads
                .push(thread.map_err(|source| BuildError::Spawn {
                    worker,
                    workers: self.workers,
                    cpus,
                    source,
                })?);
        }
        Ok(team)
    }
}
