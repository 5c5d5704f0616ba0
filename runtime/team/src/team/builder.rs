use super::error::BuildError;
use super::run::TeamSettings;
use super::workers::Workers;
use super::{Policy, Team};
use crate::fiber::Stacks;
use manycore_cores::elastic::Allotment;
use manycore_platform::{Native, Platform, ThreadSpec};
use std::sync::Arc;
use std::time::Duration;

/// The longest time that a worker spins by default: about the time of waking it.
const PATIENCE: Duration = Duration::from_micros(20);
/// The cost of a preemption: two switches, and the transfer of cache lines from another core.
const SWITCH_COST: Duration = Duration::from_nanos(500);

/// The bytes of the stack of a rank (one of a program's parts that meet at barriers). Only pages that the rank touches
/// cost memory.
const STACK_SIZE: usize = 512 << 10;

/// Settings for a new [`Team`].
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

    /// Sets the CPUs of each worker, as a set of logical CPUs. A worker without an entry may run on any CPU. So may
    /// worker 0, which is the caller of [`Team::run`].
    #[must_use]
    pub fn cpus(mut self, cpus: Vec<Vec<usize>>) -> Self {
        self.cpus = cpus;
        self
    }

    /// Sets the name of the workers in debuggers. The worker's number follows the name.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the size of the stack of a [`Stackful`](super::Stackful) rank in bytes. The default is 512 KiB. Only pages
    /// that the rank touches cost memory.
    #[must_use]
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.stack_size = bytes;
        self
    }

    /// Sets how ranks are divided among workers.
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.settings.policy = policy;
        self
    }

    /// Sets how long a worker without a rank stays awake. The default is 20 us, about the cost of waking it. Choose a
    /// shorter time if another thread can use the core at once.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.settings.patience = patience;
        self
    }

    /// Sets the cost of interrupting a rank and continuing it on another worker. The default is 0.5 us. The cost is
    /// higher if the rank works on data that the other worker's caches lack. The team does not divide a rank between
    /// workers for a smaller gain. A higher cost makes turns longer.
    #[must_use]
    pub fn switch_cost(mut self, cost: Duration) -> Self {
        self.settings.switch_cost = cost;
        self
    }

    /// Starts the workers.
    ///
    /// # Errors
    ///
    /// Returns an error if there are no workers, or if the platform refuses to start a thread or to bind it.
    pub fn build(self) -> Result<Team<P>, BuildError> {
        if self.workers == 0 {
            return Err(BuildError::ZeroWorkers);
        }
        // This comes before the team notes its generation (the number of forks so far), so that the team notices each
        // later fork.
        P::watch_forks().map_err(|source| BuildError::Memory { source })?;
        let patience = P::duration_to_ticks(self.settings.patience);
        // An error below drops this value. The drop ends the workers that have started.
        let mut team = Team {
            workers: Arc::new(Workers::new(self.allotment, patience)),
            // The list grows as the system grants threads, so a huge number of workers ends with the error of the
            // system.
            threads: Vec::new(),
            stacks: Arc::new(Stacks::new(self.stack_size)),
            settings: self.settings,
            generation: P::forks(),
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
