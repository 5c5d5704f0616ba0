//! How a pool is made, and why that can fail.

use super::{Context, Pool, Shared};
use crate::topology::{Affinity, AffinityError, Topology};
use manycore_platform::{Native, Platform, ThreadSpec};
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

/// The longest a worker spins for the next loop, unless the builder says
/// otherwise: about what falling asleep and being woken costs, so that
/// spinning in vain at most doubles the price of a gap.
const SPIN_BUDGET: Duration = Duration::from_micros(60);

/// The most threads a pool may have; far above any machine, below where the
/// board's indices and the shards' arithmetic would need care.
const MAX_THREADS: usize = 1 << 14;

/// Describes a pool before it is made; see [`Pool::builder`].
///
/// ```
/// use manycore::{Affinity, Pool};
/// use std::time::Duration;
///
/// let pool = Pool::builder()
///     .threads(2)
///     .affinity(Affinity::Compact)
///     .name("solver")
///     .stack_size(4 << 20)
///     .spin_budget(Duration::from_micros(20))
///     .build()?;
/// assert_eq!(pool.threads(), 2);
/// # Ok::<(), manycore::BuildError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Builder<P: Platform = Native> {
    threads: Option<usize>,
    affinity: Affinity,
    name: String,
    stack_size: Option<usize>,
    spin_budget: Duration,
    platform: PhantomData<P>,
}

/// Why a pool could not be made. No thread is left behind.
///
/// ```
/// use manycore::{BuildError, Pool};
///
/// let error = Pool::builder().threads(0).build().unwrap_err();
/// assert!(matches!(error, BuildError::ZeroThreads));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A pool needs at least the thread that calls it.
    #[error("a pool of zero threads cannot run anything; ask for at least 1")]
    ZeroThreads,
    /// More threads than a pool can hold.
    #[error("{asked} threads asked for; a pool holds at most {MAX_THREADS}")]
    TooManyThreads {
        /// The number asked for.
        asked: usize,
    },
    /// The affinity names CPUs that this process cannot use.
    #[error(transparent)]
    Affinity(#[from] AffinityError),
    /// The operating system would not make a thread, or not bind it.
    #[error("cannot start thread {rank} of {threads}{}: {source}", On(cpus))]
    Spawn {
        /// Which thread, from 1: the caller is thread 0.
        rank: usize,
        /// The threads asked for.
        threads: usize,
        /// The CPUs it was to be bound to; empty if to none.
        cpus: Vec<usize>,
        /// What the operating system said.
        source: io::Error,
    },
}

/// ` on CPUs ...`, or nothing.
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

/// What a pool has to run on.
#[derive(Clone, Copy)]
pub(crate) struct Cores {
    /// Cores that the mask and the quota leave.
    pub(crate) cores: usize,
    /// The core groups they are in.
    pub(crate) groups: usize,
}

impl Builder<Native> {
    pub(super) fn new() -> Self {
        Self::on_platform()
    }

    /// Makes the pool and starts its workers.
    ///
    /// # Errors
    ///
    /// Zero (or absurdly many) threads, an affinity that names CPUs this
    /// process cannot use, or the operating system refusing a thread; see
    /// [`BuildError`].
    ///
    /// ```
    /// use manycore::{Affinity, Pool};
    ///
    /// let error =
    ///     Pool::builder().threads(2).affinity(Affinity::List(vec![9_999])).build().unwrap_err();
    /// assert!(error.to_string().contains("9999"));
    /// ```
    pub fn build(&self) -> Result<Pool<Native>, BuildError> {
        let machine = Topology::detect();
        let threads = check(self.threads.unwrap_or_else(|| machine.default_threads()))?;
        let cpus = self.affinity.assign(&machine, threads)?;
        let cores = machine.default_threads();
        let mut groups: Vec<usize> = machine.usable().iter().map(|cpu| cpu.group).collect();
        groups.sort_unstable();
        groups.dedup();
        self.start(
            threads,
            Cores {
                cores,
                groups: groups.len(),
            },
            cpus,
        )
    }
}

fn check(threads: usize) -> Result<usize, BuildError> {
    match threads {
        0 => Err(BuildError::ZeroThreads),
        1..=MAX_THREADS => Ok(threads),
        asked => Err(BuildError::TooManyThreads { asked }),
    }
}

impl<P: Platform> Builder<P> {
    /// Describes a pool on any platform, such as a simulated machine, to be
    /// made by [`build_on`](Self::build_on).
    ///
    /// ```
    /// use manycore::{Builder, Native, Pool};
    ///
    /// let builder = Builder::<Native>::on_platform().name("solver");
    /// // Two threads, bound to nothing, on a machine of two cores in a group.
    /// let pool = builder.build_on(2, 1, vec![vec![]; 2])?;
    /// assert_eq!(pool.threads(), 2);
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    pub fn on_platform() -> Self {
        Self {
            threads: None,
            affinity: Affinity::None,
            name: "manycore".into(),
            stack_size: None,
            spin_budget: SPIN_BUDGET,
            platform: PhantomData,
        }
    }

    /// The threads that run a loop, its caller counted; by default as many as
    /// the cores that the affinity mask and the cgroup quota leave.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Where the threads are bound. The first place is the caller's; it is not
    /// bound, since its thread is the program's own, and is left to it.
    #[must_use]
    pub fn affinity(mut self, affinity: Affinity) -> Self {
        self.affinity = affinity;
        self
    }

    /// The name of the workers, followed by their rank, as debuggers show it.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// The workers' stack size in bytes; by default the standard library's.
    #[must_use]
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.stack_size = Some(bytes);
        self
    }

    /// The longest a worker spins for the next loop before it sleeps (60 us by
    /// default). Zero saves the most power and pays a wake-up, some 50 us, for
    /// every loop after a gap.
    #[must_use]
    pub fn spin_budget(mut self, budget: Duration) -> Self {
        self.spin_budget = budget;
        self
    }

    /// Makes a pool of one thread for each entry of `cpus`, bound to the CPUs
    /// in it (empty: free), on a machine of so many `cores` in so many core
    /// `groups`. [`threads`](Self::threads) and [`affinity`](Self::affinity)
    /// are not looked at: they are about this host.
    ///
    /// # Errors
    ///
    /// No entry at all, absurdly many, or the platform refusing a thread.
    pub fn build_on(
        &self,
        cores: usize,
        groups: usize,
        cpus: Vec<Vec<usize>>,
    ) -> Result<Pool<P>, BuildError> {
        self.start(cpus.len(), Cores { cores, groups }, cpus)
    }

    /// Starts the workers on `cpus`, a set for every thread.
    pub(crate) fn start(
        &self,
        threads: usize,
        cores: Cores,
        cpus: Vec<Vec<usize>>,
    ) -> Result<Pool<P>, BuildError> {
        let threads = check(threads)?;
        let shared = Arc::new(Shared::new(threads, cores, self.spin_budget));
        shared.name();
        // Dropped on an error below, which ends the workers made so far.
        let mut pool = Pool {
            shared,
            workers: Vec::with_capacity(threads - 1),
        };
        for (rank, cpus) in cpus.into_iter().enumerate().take(threads).skip(1) {
            let spec = ThreadSpec {
                name: format!("{}-{rank}", self.name),
                stack_size: self.stack_size,
                cpus: cpus.clone(),
            };
            let shared = Arc::clone(&pool.shared);
            let body = move || {
                let context = Context::new(&*shared, rank, None);
                context.enter(|| shared.work(rank));
            };
            let worker = P::spawn(spec, Box::new(body)).map_err(|source| BuildError::Spawn {
                rank,
                threads,
                cpus,
                source,
            })?;
            pool.workers.push(worker);
        }
        Ok(pool)
    }
}
