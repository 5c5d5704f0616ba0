//! The builder: the settings of a pool.

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
    /// The function that makes the sleep policy, if the pool does not use the default policy, `Nearest`.
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

// Written by hand, since a derived implementation would require `P: Clone`.
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
    /// Describes a pool on any platform, such as a simulated machine. [`build_on`](Self::build_on) makes the
    /// pool.
    ///
    /// ```
    /// use manycore::{Builder, Native, Pool};
    ///
    /// let builder = Builder::<Native>::on_platform().name("solver");
    /// // Two unbound threads, on a machine with two cores in one core group.
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
    /// Sets whether the pool starts all its threads itself. By default a pool of `n` threads starts `n - 1`, and the
    /// thread that calls the pool is the last of the `n`. A dedicated pool starts `n`. A caller of
    /// [`install`](crate::Pool::install), `join` or `scope` from outside then hands its call to one of the pool's
    /// threads and waits. This takes about 10 us more.
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

    /// Sets whether the pool adopts the thread that builds it. An adopted thread is worker 0 of the pool until the
    /// thread ends. This is for programs that call the pool from their main thread again and again. No other thread is
    /// worker 0, whether the pool is [`dedicated`](Self::dedicated) or not.
    ///
    /// The adopted thread runs jobs only while it waits for jobs, or [yields](crate::yield_now). In a pool of one
    /// thread no other thread runs jobs. So spawned jobs stay in the queue until the adopted thread waits or
    /// yields, and calls of other threads (`install`, `scope`, `broadcast`) block until then.
    ///
    /// # The pool's end
    ///
    /// If the adopted thread drops the pool, the pool first runs all detached jobs, with that thread's help. If another
    /// thread drops the pool, the drop does not wait for the adopted thread. The other workers run all jobs, including
    /// jobs [sent](crate::Pool::spawn_broadcast) to worker 0, and then end. In a pool of one thread, spawned jobs wait
    /// until the adopted thread waits or yields next. If that thread never does, those jobs never run. The same holds
    /// if a detached job drops the pool while the adopted thread runs that job.
    ///
    /// The adopted thread remains worker 0 of the pool that has ended. If it spawns, joins or broadcasts in that
    /// pool afterwards, it runs those jobs itself.
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

    /// Sets the handler of panics in jobs that no caller awaits, such as those from
    /// [`spawn`](crate::Pool::spawn). The handler gets the panic's payload. Without a handler, or if the handler
    /// panics, the process is aborted.
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

    /// Makes the pool follow an allotment, which is a number of cores that may change while the pool runs. A worker
    /// runs while the allotment allows it to run. Otherwise the worker is parked, and uses no core.
    ///
    /// A thread from outside that calls a loop, a `join` or a scope is worker 0 and always runs. When another worker is
    /// no longer allowed, it leaves its work as follows:
    ///
    /// * It leaves a loop after its current block. The other participants share its remaining iterations.
    /// * It leaves a job when the job has ended. If the job waits for other jobs, in a `join` or a scope, or for a
    ///   loop of its own, the worker helps with those jobs or with that loop until they end. The worker takes no
    ///   unrelated job.
    ///
    /// The other workers run the jobs that this worker has spawned and that have not begun. If a job is sent to this
    /// worker, for example by [`broadcast`](crate::Pool::broadcast), this worker runs that job itself, and parks
    /// again. When a worker is allowed again, the worker wakes at once and helps with a loop in progress.
    ///
    /// While the allotment allows one core, the pool behaves like a pool of one thread. A job that blocks until another
    /// job has begun may then block until the allotment grows. If the allotment shrinks to one core after the body of
    /// an [`in_place_scope`](crate::Pool::in_place_scope) has begun, and the body waits for its jobs, it may block in
    /// the same way. When the pool ends, all workers take part in the remaining work, whatever the allotment is.
    ///
    /// Leave the threads unbound, or bind them to cores that they keep. The allotment says how many threads run,
    /// not where.
    ///
    /// # Cost
    ///
    /// A worker reads the allotment's word once for each block. While the word does not change, it stays in the
    /// worker's cache. A `join` does not read the word.
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

    /// Sets the number of threads that run a loop, including its caller. The default is the number of cores that
    /// the affinity mask and the cgroup quota allow. If the pool [follows](Self::follow) an allotment, the default
    /// is the number of the machine's cores.
    ///
    /// Pools that are built within 10 ms of each other may share one reading of the quota.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.settings.threads = Some(threads);
        self
    }

    /// Sets the CPUs that the pool's threads are bound to. A thread from outside that calls the pool, and so becomes
    /// worker 0, is not bound: that thread belongs to the program.
    ///
    /// A thread that waits for long may later continue as another [index](super::Pool::current_thread_index). The pool then
    /// binds the thread to the CPUs of that index, also if the program has set the thread's affinity meanwhile.
    ///
    /// By default the threads are not bound. If the machine has several core groups and the pool has more than 8
    /// threads, the threads begin near the thread that makes the pool, one on each core. The operating system may move
    /// them.
    #[must_use]
    pub fn affinity(mut self, affinity: Affinity) -> Self {
        self.settings.affinity = affinity;
        self
    }

    /// Sets the name of the threads, which debuggers show. The thread's number follows the name.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.settings.name = name.into();
        self
    }

    /// Sets a function that names each thread by its number, in place of [`name`](Self::name).
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

    /// Sets a handler for the start of threads. Each thread that the pool starts first calls the handler with its
    /// number. Threads that the pool starts later, in place of waiting threads, have numbers from
    /// [`threads`](Self::threads) on.
    ///
    /// A panic in the handler is handled like a panic in a [detached job](Self::panic_handler).
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

    /// Sets a handler for the end of threads. Each thread that the pool starts calls the handler last, with its
    /// number. In all other respects the handler is like that of [`on_thread_start`](Self::on_thread_start).
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

    /// Sets the workers' stack size in bytes. The default is that of the standard library, 2 MiB.
    ///
    /// If a size is set, calls from outside run on the pool's own threads, as in a [dedicated](Self::dedicated) pool.
    /// So each call has a stack of at least that size.
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

    /// Sets the longest time that a worker spins for the next loop before it sleeps (60 us by default). Zero saves the
    /// most power, but then each loop after a pause waits about 50 us for a wake-up.
    #[must_use]
    pub fn spin_budget(mut self, budget: Duration) -> Self {
        self.settings.spin_budget = budget;
        self
    }

    /// Sets whether the pool records its loops for [`Pool::decisions`](crate::Pool::decisions). Each loop then
    /// acquires a lock and lasts about 100 ns longer. By default the pool records nothing.
    ///
    /// With the environment variable `MANYCORE_EXPLAIN=1` all pools of the program record their loops. They print
    /// the records on standard error when the pool or the program ends.
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

    /// Whether the number of threads was set.
    pub(super) fn knows_threads(&self) -> bool {
        self.settings.threads.is_some()
    }
}
