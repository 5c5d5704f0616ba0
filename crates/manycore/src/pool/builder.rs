//! How a pool is made, and why that can fail.

use super::registry::{PanicHandler, Plan, Registry, STACK_CAPACITY};
use super::{BuildError, Context, Pool};
use crate::World;
use crate::cost::Prices;
use crate::elastic::Allotment;
use crate::sleep::Nearest;
use crate::topology::{Affinity, Topology};
use crate::world::Make;
use manycore_platform::{Native, Platform, ThreadSpec};
use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The longest a worker spins for the next loop, unless the builder says
/// otherwise: about what falling asleep and being woken costs, so that
/// spinning in vain at most doubles the price of a gap.
const SPIN_BUDGET: Duration = Duration::from_micros(60);

/// The most threads a pool may have; far above any machine, below where the
/// board's indices and the shards' arithmetic would need care.
pub(super) const MAX_THREADS: usize = 1 << 14;

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
pub struct Builder<W: World = Native> {
    threads: Option<usize>,
    affinity: Affinity,
    name: String,
    stack_size: Option<usize>,
    spin_budget: Duration,
    stack_capacity: u32,
    dedicated: bool,
    adopts: bool,
    panic_handler: Option<PanicHandler>,
    allotment: Option<Allotment<W::Platform>>,
    prices: Option<Prices>,
    sleep: Make<W>,
}

// By hand: a derived one would ask for `P: Clone`.
impl<W: World> Clone for Builder<W> {
    fn clone(&self) -> Self {
        self.with_sleep(self.sleep)
    }
}

impl<W: World> fmt::Debug for Builder<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("threads", &self.threads)
            .field("affinity", &self.affinity)
            .field("name", &self.name)
            .finish_non_exhaustive()
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
}

impl<W: World<Platform = Native>> Builder<W> {
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
    pub fn build(&self) -> Result<Pool<W>, BuildError> {
        let machine = Topology::detect();
        // A pool that follows an allotment must be able to use all that it may ever be.
        let default = || match self.allotment {
            Some(_) => machine.cpus().len(),
            None => machine.default_threads(),
        };
        let threads = check(self.threads.unwrap_or_else(default))?;
        let cpus = self.affinity.assign(&machine, threads)?;
        let cores = machine.default_threads();
        let mut groups: Vec<usize> = machine.usable().iter().map(|cpu| cpu.group).collect();
        groups.sort_unstable();
        groups.dedup();
        // Threads that are bound to nothing are all equally near.
        let group_of = |cpus: &Vec<usize>| {
            let first = cpus.first()?;
            let cpu = machine.usable().iter().find(|cpu| cpu.id == *first)?;
            Some(cpu.group as u32)
        };
        let of_threads = cpus
            .iter()
            .map(|cpus| group_of(cpus).unwrap_or(0))
            .collect();
        self.start(
            threads,
            Cores {
                cores,
                groups: groups.len(),
            },
            of_threads,
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
            stack_capacity: STACK_CAPACITY,
            dedicated: false,
            adopts: false,
            panic_handler: None,
            allotment: None,
            prices: None,
            sleep: Nearest::new,
        }
    }
}

impl<W: World> Builder<W> {
    /// A pool in another [world](World) on the same platform, whose sleep policy `make` makes.
    #[doc(hidden)]
    #[must_use]
    pub fn in_world<V: World<Platform = W::Platform>>(self, make: Make<V>) -> Builder<V> {
        self.with_sleep(make)
    }

    fn with_sleep<V: World<Platform = W::Platform>>(&self, sleep: Make<V>) -> Builder<V> {
        Builder {
            threads: self.threads,
            affinity: self.affinity.clone(),
            name: self.name.clone(),
            stack_size: self.stack_size,
            spin_budget: self.spin_budget,
            stack_capacity: self.stack_capacity,
            dedicated: self.dedicated,
            adopts: self.adopts,
            panic_handler: self.panic_handler.clone(),
            allotment: self.allotment.clone(),
            prices: self.prices,
            sleep,
        }
    }

    /// Whether all threads are the pool's own. By default one is not: a pool of
    /// `n` threads starts `n - 1`, and the thread that calls it is the other one. A dedicated
    /// pool starts `n`; callers of [`install`](Pool::install), `join` and `scope`
    /// from outside hand their call over and wait for it, which takes some 10 us more.
    ///
    /// ```
    /// let pool = manycore::Pool::builder().threads(1).dedicated(true).build()?;
    /// let here = std::thread::current().id();
    /// assert_ne!(pool.install(|| std::thread::current().id()), here);
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    #[must_use]
    pub fn dedicated(mut self, dedicated: bool) -> Self {
        self.dedicated = dedicated;
        self
    }

    /// Whether the thread that builds the pool becomes one of its workers, number
    /// 0, for as long as it lives: for programs whose main thread calls the pool
    /// again and again. There is no other worker 0, [`dedicated`](Self::dedicated)
    /// or not.
    ///
    /// The adopted thread runs jobs only while it waits for some, or
    /// [yields](crate::yield_now). In a pool of one thread no other thread runs any: jobs that
    /// other threads spawn stay in the queue until then, and their calls (`install`, `scope`,
    /// `broadcast`) block.
    ///
    /// # The pool's end
    ///
    /// If the adopted thread drops the pool, the pool first runs all detached jobs, with
    /// that thread's help. If another thread drops it, it does not wait for the adopted
    /// thread: the other workers run all jobs there are, also those that were
    /// [sent](Pool::spawn_broadcast) to worker 0, and then end. In a pool of
    /// one thread, spawned jobs wait until the adopted thread runs them: when it waits
    /// or yields next, and never if it does not. The same holds
    /// for both kinds where a detached job that the adopted thread is running drops
    /// the pool.
    ///
    /// The thread remains worker 0 of the pool that has ended. If it spawns, joins or
    /// broadcasts in that pool afterwards, it runs those jobs itself.
    ///
    /// ```
    /// std::thread::spawn(|| {
    ///     let pool = manycore::Pool::builder().threads(2).adopt_current_thread(true).build()?;
    ///     assert_eq!(pool.current_thread_index(), Some(0));
    ///     assert_eq!(manycore::join(|| 1, || 2), (1, 2)); // in this pool
    ///     Ok::<(), manycore::BuildError>(())
    /// })
    /// .join()
    /// .unwrap()?;
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    #[must_use]
    pub fn adopt_current_thread(mut self, adopt: bool) -> Self {
        self.adopts = adopt;
        self
    }

    /// Sets the function that is called with the payload of a panic for which no caller
    /// waits: that of a job from [`spawn`](Pool::spawn). Without a handler, or if the handler
    /// panics, the process is aborted.
    ///
    /// ```
    /// let (tell, told) = std::sync::mpsc::channel();
    /// let pool = manycore::Pool::builder()
    ///     .threads(1)
    ///     .panic_handler(move |payload| drop(tell.send(payload.is::<&str>())))
    ///     .build()?;
    /// pool.spawn(|| panic!("nobody waits"));
    /// assert!(told.recv().unwrap());
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    #[must_use]
    pub fn panic_handler<H>(mut self, handler: H) -> Self
    where
        H: Fn(Box<dyn Any + Send>) + Send + Sync + 'static,
    {
        self.panic_handler = Some(Arc::new(handler));
        self
    }

    /// Has the pool follow an allotment: worker `w` runs while that allows `w`, and
    /// otherwise is parked, without using its core.
    ///
    /// The caller of a loop, a `join` or a scope from outside is worker 0 and always
    /// runs. A worker that is no longer allowed leaves
    ///
    /// * a loop after the block that it is running; the others share what it had left;
    /// * a job when that has ended. A job that waits for others, in a `join` or a scope,
    ///   or that has called a loop of its own, goes on until it has ended, with those
    ///   only: it takes no stranger's job any more.
    ///
    /// The other workers run the jobs that it has spawned and not begun. Jobs that are sent to
    /// it, as by [`broadcast`](Pool::broadcast), it runs itself, and parks again. A worker that
    /// is allowed again is woken at once, and helps with a loop in progress.
    ///
    /// While one core is allowed the pool behaves like a pool of one thread: a job that
    /// blocks until another has begun may then block until the allotment grows.
    /// The end of the pool does not wait for the allotment: all workers take part in it.
    ///
    /// The threads should be bound to nothing, or to cores that they keep: the
    /// allotment says how many run, not where.
    ///
    /// # Cost
    ///
    /// A worker reads the allotment's word once a block, from its cache while nothing
    /// changes; `join` and a pool that follows nothing do not.
    ///
    /// ```
    /// use manycore::Pool;
    /// use manycore::elastic::Allotment;
    /// use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    ///
    /// let allotment = Allotment::new(1);
    /// let pool = Pool::builder().threads(3).follow(&allotment).build()?;
    /// let sum = AtomicUsize::new(0);
    /// pool.parallel_for(0..1_000, |i| {
    ///     if i == 500 {
    ///         allotment.set(3); // two more from here
    ///     }
    ///     sum.fetch_add(i, Relaxed);
    /// });
    /// assert_eq!(sum.into_inner(), 499_500);
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    #[must_use]
    pub fn follow(mut self, allotment: &Allotment<W::Platform>) -> Self {
        self.allotment = Some(allotment.clone());
        self
    }

    /// The most `join`s that may be open inside one another on one thread before
    /// deeper ones are no longer offered to thieves (65,536 by default); 24 bytes of
    /// address space each, for each thread.
    ///
    /// ```
    /// let pool = manycore::Pool::builder().threads(1).open_joins(2).build()?;
    /// let (_, (_, (_, deep))) = pool.join(|| 1, || pool.join(|| 2, || pool.join(|| 3, || 4)));
    /// assert_eq!(deep, 4);
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    #[must_use]
    pub fn open_joins(mut self, most: u32) -> Self {
        self.stack_capacity = most;
        self
    }

    /// The threads that run a loop, its caller counted; by default as many as
    /// the cores that the affinity mask and the cgroup quota leave, or, if the pool
    /// [follows](Self::follow) an allotment, as the machine has.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Where the threads are bound. The first place is the caller's: its thread is the
    /// program's own, and is not bound.
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

    /// The workers' stack size in bytes; by default the standard library's, 2 MiB.
    ///
    /// With a size given all calls from outside run on stacks of at least that size: on
    /// the pool's own threads, as in a [dedicated](Self::dedicated) pool.
    ///
    /// ```
    /// let pool = manycore::Pool::builder().threads(1).stack_size(16 << 20).build()?;
    /// let here = std::thread::current().id();
    /// assert_ne!(pool.install(|| std::thread::current().id()), here);
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
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

    /// What the machine charges for the steps of a loop, from which `fixed-block` and `sharded`
    /// without a size pick one. By default the pool measures a claim when it is built, and
    /// takes the rest from [`Prices::default`].
    ///
    /// ```
    /// use manycore::cost::Prices;
    ///
    /// // As `manycore machine` prints them.
    /// let prices = Prices { handoff_ns: 24.0, crossing_ns: 76.0, ..Prices::default() };
    /// let pool = manycore::Pool::builder().threads(2).prices(prices).build()?;
    /// pool.with("fixed-block".parse().unwrap()).parallel_for(0..1_000, |_| ());
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    #[must_use]
    pub fn prices(mut self, prices: Prices) -> Self {
        self.prices = Some(prices);
        self
    }

    /// Makes a pool of one thread for each entry of `cpus`, bound to the CPUs
    /// in it (empty: free), on a machine of so many `cores` in so many core
    /// `groups`. [`threads`](Self::threads) and [`affinity`](Self::affinity)
    /// are ignored, because they are about this host.
    ///
    /// # Errors
    ///
    /// No entry at all, absurdly many, or the platform refusing a thread.
    pub fn build_on(
        &self,
        cores: usize,
        groups: usize,
        cpus: Vec<Vec<usize>>,
    ) -> Result<Pool<W>, BuildError> {
        // Cores are numbered group by group.
        let size = cores.div_ceil(groups.max(1)).max(1);
        let group = |cpus: &Vec<usize>| cpus.first().map_or(0, |&cpu| (cpu / size) as u32);
        let of_threads = cpus.iter().map(group).collect();
        self.start(cpus.len(), Cores { cores, groups }, of_threads, cpus)
    }

    /// Whether the number of threads was given.
    pub(super) fn knows_threads(&self) -> bool {
        self.threads.is_some()
    }

    /// Whether callers from outside never take part.
    fn keeps_caller_slot(&self) -> bool {
        !self.adopts && (self.dedicated || self.stack_size.is_some())
    }

    /// Starts the workers on `cpus`, a set for every thread, in the core groups
    /// `of_threads`.
    pub(crate) fn start(
        &self,
        threads: usize,
        cores: Cores,
        of_threads: Vec<u32>,
        cpus: Vec<Vec<usize>>,
    ) -> Result<Pool<W>, BuildError> {
        let threads = check(threads)?;
        if self.adopts && Context::<W::Platform>::is_taken() {
            return Err(BuildError::AlreadyInPool);
        }
        let memory = |source| BuildError::Memory { threads, source };
        // Before the pool notes its generation: a fork from here on is seen.
        W::Platform::watch_forks().map_err(memory)?;
        let registry = Registry::new(Plan {
            sleep: self.sleep,
            groups: of_threads,
            stack_capacity: self.stack_capacity,
            panic_handler: self.panic_handler.clone(),
            thread: ThreadSpec {
                name: self.name.clone(),
                stack_size: self.stack_size,
                cpus: Vec::new(),
            },
            cpus: cpus.clone(),
            adopted: self.adopts,
            keeps_caller_slot: self.keeps_caller_slot(),
            cores,
            spin_budget: self.spin_budget,
            allotment: self.allotment.clone(),
            prices: self.prices,
        })
        .map_err(memory)?;
        registry.name();
        // Dropped on an error below, which ends the workers made so far.
        let pool = Pool { registry };
        let registry = &*pool.registry;
        let mut first = 1;
        if self.adopts || self.keeps_caller_slot() {
            let entered = registry.shared().caller_slot().take();
            debug_assert!(entered, "nobody knows of the pool yet");
        }
        if self.adopts {
            // The thread keeps its worker to its end, and the registry with it.
            std::mem::forget(Arc::clone(&pool.registry));
            Context::of_worker(registry.worker(0)).adopt();
        } else if self.keeps_caller_slot() {
            first = 0;
        }
        for (rank, cpus) in cpus.into_iter().enumerate().skip(first) {
            registry
                .start_worker(rank, rank)
                .map_err(|source| BuildError::Spawn {
                    rank,
                    threads,
                    cpus,
                    source,
                })?;
        }
        Ok(pool)
    }
}
