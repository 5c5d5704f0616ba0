//! How a pool is made, and why that can fail.

use super::registry::{PanicHandler, STACK_CAPACITY};
use super::threads::OfIndex;
use crate::times::SPIN_BUDGET;
use manycore_cores::elastic::Allotment;
use manycore_cores::topology::Affinity;
use manycore_platform::{Native, Platform};
use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Describes a pool before it is made; see [`Pool::builder`](crate::Pool::builder).
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
pub struct Builder<P: Platform = Native> {
    pub(super) settings: Settings,
    pub(super) allotment: Option<Allotment<P>>,
    /// In the place of `Nearest`.
    #[cfg(feature = "policies")]
    pub(super) policy: Option<crate::sleep::Make<P>>,
}

/// The settings that do not depend on the platform.
#[derive(Clone)]
pub(super) struct Settings {
    pub(super) threads: Option<usize>,
    pub(super) affinity: Affinity,
    pub(super) name: String,
    pub(super) names: Option<OfIndex<String>>,
    pub(super) on_start: Option<OfIndex<()>>,
    pub(super) on_exit: Option<OfIndex<()>>,
    pub(super) reserve: bool,
    pub(super) scopes_help_outer: bool,
    pub(super) stack_size: Option<usize>,
    pub(super) spin_budget: Duration,
    pub(super) stack_capacity: u32,
    pub(super) dedicated: bool,
    pub(super) adopts: bool,
    pub(super) lazy: bool,
    pub(super) panic_handler: Option<PanicHandler>,
    pub(super) explain: bool,
}

// By hand: a derived one would ask for `P: Clone`.
impl<P: Platform> Clone for Builder<P> {
    fn clone(&self) -> Self {
        Self {
            settings: self.settings.clone(),
            allotment: self.allotment.clone(),
            #[cfg(feature = "policies")]
            policy: self.policy,
        }
    }
}

impl<P: Platform> fmt::Debug for Builder<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("threads", &self.settings.threads)
            .field("affinity", &self.settings.affinity)
            .field("name", &self.settings.name)
            .finish_non_exhaustive()
    }
}

impl Builder<Native> {
    pub(super) fn new() -> Self {
        Self::on_platform()
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
            settings: Settings {
                threads: None,
                affinity: Affinity::None,
                name: "manycore".into(),
                names: None,
                on_start: None,
                on_exit: None,
                reserve: true,
                scopes_help_outer: false,
                stack_size: None,
                spin_budget: SPIN_BUDGET,
                stack_capacity: STACK_CAPACITY,
                dedicated: false,
                adopts: false,
                lazy: false,
                panic_handler: None,
                explain: false,
            },
            allotment: None,
            #[cfg(feature = "policies")]
            policy: None,
        }
    }
}

impl<P: Platform> Builder<P> {
    /// Whether all threads are the pool's own. By default a pool of `n` threads starts `n - 1`, and the
    /// thread that calls it is the last of the `n`. A dedicated pool starts `n`; callers of
    /// [`install`](crate::Pool::install), `join` and `scope` from outside hand their call over and wait for
    /// it, which takes some 10 us more.
    ///
    /// ```
    /// let pool = manycore::Pool::builder().threads(1).dedicated(true).build()?;
    /// let here = std::thread::current().id();
    /// assert_ne!(pool.install(|| std::thread::current().id()), here);
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    #[must_use]
    pub fn dedicated(mut self, dedicated: bool) -> Self {
        self.settings.dedicated = dedicated;
        self
    }

    /// Whether the thread that builds the pool becomes one of its workers, number 0, until that thread
    /// ends: for programs that call the pool from their main thread again and again. There is no other
    /// worker 0, [`dedicated`](Self::dedicated) or not.
    ///
    /// The adopted thread runs jobs only while it waits for jobs, or [yields](crate::yield_now). In a pool
    /// of one thread no other thread runs jobs: spawned jobs stay in the queue until then, and their calls
    /// (`install`, `scope`, `broadcast`) block.
    ///
    /// # The pool's end
    ///
    /// If the adopted thread drops the pool, the pool first runs all detached jobs, with that thread's
    /// help. If another thread drops it, it does not wait for the adopted thread: the other workers run all
    /// jobs, including jobs [sent](crate::Pool::spawn_broadcast) to worker 0, and then end. In a pool of
    /// one thread, spawned jobs wait until the adopted thread runs them: when it waits or yields next, and
    /// never if it does not. The same holds if a detached job drops the pool while the adopted thread runs
    /// that job.
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
        self.settings.adopts = adopt;
        self
    }

    /// Sets the function that is called with the payload of a panic in a job from
    /// [`spawn`](crate::Pool::spawn), which no caller awaits. Without a handler, or if the handler panics,
    /// the process is aborted.
    ///
    /// ```
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// let pool = manycore::Pool::builder()
    ///     .threads(1)
    ///     .panic_handler(move |payload| drop(sender.send(payload.is::<&str>())))
    ///     .build()?;
    /// pool.spawn(|| panic!("no caller waits"));
    /// assert!(receiver.recv().unwrap());
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    #[must_use]
    pub fn panic_handler<H>(mut self, handler: H) -> Self
    where
        H: Fn(Box<dyn Any + Send>) + Send + Sync + 'static,
    {
        self.settings.panic_handler = Some(Arc::new(handler));
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
    ///   only: it takes no unrelated job any more.
    ///
    /// The other workers run the jobs that it has spawned and not begun. Jobs that are sent to it,
    /// as by [`broadcast`](crate::Pool::broadcast), it runs itself, and parks again. A worker that
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
    pub fn follow(mut self, allotment: &Allotment<P>) -> Self {
        self.allotment = Some(allotment.clone());
        self
    }

    /// The threads that run a loop, including its caller. The default is the number of cores that the
    /// affinity mask and the cgroup quota leave; if the pool [follows](Self::follow) an allotment, it is
    /// the number of the machine's cores.
    ///
    /// The control groups are read again for pools that are built more than 10 ms later.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.settings.threads = Some(threads);
        self
    }

    /// The CPUs that threads are bound to. The first permit is the caller's: that thread belongs to the
    /// program and is not bound.
    ///
    /// By default they are bound to nothing. On a machine of several core groups the threads of a pool
    /// of more than 8 begin near the thread that makes it, a thread a core; the system may move them.
    #[must_use]
    pub fn affinity(mut self, affinity: Affinity) -> Self {
        self.settings.affinity = affinity;
        self
    }

    /// The name of the workers, followed by their rank, as debuggers show it.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.settings.name = name.into();
        self
    }

    /// The name of each thread by its number, in place of [`name`](Self::name) and the number.
    ///
    /// ```
    /// let pool = manycore::Pool::builder()
    ///     .threads(2)
    ///     .dedicated(true)
    ///     .names(|index| ["left", "right"][index].to_owned())
    ///     .build()?;
    /// let mut names = pool.broadcast(|_| std::thread::current().name().unwrap().to_owned());
    /// names.sort();
    /// assert_eq!(names, ["left", "right"]);
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    #[must_use]
    pub fn names(mut self, name: impl Fn(usize) -> String + Send + Sync + 'static) -> Self {
        self.settings.names = Some(Arc::new(name));
        self
    }

    /// Has each thread that the pool starts call `handler` with its number first. Threads that the pool
    /// starts later, in the place of waiting threads, have numbers from [`threads`](Self::threads) on.
    ///
    /// A panic in it is handled as one in a [detached job](Self::panic_handler).
    ///
    /// ```
    /// use std::sync::mpsc;
    ///
    /// let (started, starts) = mpsc::channel();
    /// let builder = manycore::Pool::builder().threads(2).dedicated(true);
    /// let pool = builder.on_thread_start(move |index| started.send(index).unwrap()).build()?;
    /// drop(pool);
    /// assert_eq!(starts.iter().take(2).sum::<usize>(), 0 + 1);
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    #[must_use]
    pub fn on_thread_start(mut self, handler: impl Fn(usize) + Send + Sync + 'static) -> Self {
        self.settings.on_start = Some(Arc::new(handler));
        self
    }

    /// Has each thread that the pool starts call `handler` with its number last; else as
    /// [`on_thread_start`](Self::on_thread_start).
    ///
    /// ```
    /// use std::sync::mpsc;
    ///
    /// let (ended, ends) = mpsc::channel();
    /// let builder = manycore::Pool::builder().threads(2).dedicated(true);
    /// let pool = builder.on_thread_exit(move |index| ended.send(index).unwrap()).build()?;
    /// drop(pool);
    /// assert_eq!(ends.iter().sum::<usize>(), 0 + 1);
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    #[must_use]
    pub fn on_thread_exit(mut self, handler: impl Fn(usize) + Send + Sync + 'static) -> Self {
        self.settings.on_exit = Some(Arc::new(handler));
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
        self.settings.stack_size = Some(bytes);
        self
    }

    /// The longest a worker spins for the next loop before it sleeps (60 us by
    /// default). Zero saves the most power and pays a wake-up, some 50 us, for
    /// every loop after a gap.
    #[must_use]
    pub fn spin_budget(mut self, budget: Duration) -> Self {
        self.settings.spin_budget = budget;
        self
    }

    /// Whether the pool keeps account of its loops, for [`Pool::decisions`](crate::Pool::decisions).
    /// Each loop then takes a lock and some 100 ns more. By default it does not.
    ///
    /// With the environment variable `MANYCORE_EXPLAIN=1` all pools of the program keep account, and
    /// print it on standard error when they end, or the program does.
    ///
    /// ```
    /// let pool = manycore::Pool::builder().explain(true).build()?;
    /// pool.parallel_for(0..1000, |_| ());
    /// for decision in pool.decisions() {
    ///     println!("{decision}");
    /// }
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    #[must_use]
    pub fn explain(mut self, explain: bool) -> Self {
        self.settings.explain = explain;
        self
    }

    /// Whether the number of threads was given.
    pub(super) fn knows_threads(&self) -> bool {
        self.settings.threads.is_some()
    }
}
