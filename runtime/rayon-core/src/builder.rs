//! The description of a pool.

use crate::error::ThreadPoolBuildError;
use crate::handlers::{NameOf, PanicHandler, ThreadHandler};
use crate::pool::ThreadPool;
use crate::settings::Settings;
use crate::spawning::{CustomSpawn, DefaultSpawn, ThreadBuilder, ThreadSpawn};
use crate::{global, max_num_threads, trace};
use manycore::Pool;
use manycore::elastic::Watch;
use std::any::Any;
use std::sync::Arc;
use std::{env, fmt, io, thread};

/// Describes a pool before it is made.
///
/// ```
/// use rayon_core::ThreadPoolBuilder;
///
/// let pool = ThreadPoolBuilder::new().num_threads(2).thread_name(|i| format!("mine-{i}")).build()?;
/// let name = pool.install(|| std::thread::current().name().unwrap().to_owned());
/// assert!(name.starts_with("mine-"));
/// # Ok::<(), rayon_core::ThreadPoolBuildError>(())
/// ```
pub struct ThreadPoolBuilder<S = DefaultSpawn> {
    num_threads: usize,
    use_current_thread: bool,
    name_of: Option<NameOf>,
    stack_size: Option<usize>,
    panic_handler: Option<PanicHandler>,
    start_handler: Option<ThreadHandler>,
    exit_handler: Option<ThreadHandler>,
    pub(crate) settings: Settings,
    spawn: S,
}

impl Default for ThreadPoolBuilder {
    fn default() -> Self {
        Self {
            num_threads: 0,
            use_current_thread: false,
            name_of: None,
            stack_size: None,
            panic_handler: None,
            start_handler: None,
            exit_handler: None,
            settings: Settings::of_environment(),
            spawn: DefaultSpawn,
        }
    }
}

impl ThreadPoolBuilder {
    /// A pool with as many threads as cores.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes a pool while `with_pool` runs. The pool's threads may borrow values that outlive this call. Each new
    /// thread calls `wrapper`, which must [run](ThreadBuilder::run) its argument.
    ///
    /// # Errors
    ///
    /// As [`build`](Self::build).
    ///
    /// ```
    /// let local = [1, 2, 3];
    /// let sum = rayon_core::ThreadPoolBuilder::new().num_threads(2).build_scoped(
    ///     |thread| {
    ///         assert_eq!(local.len(), 3);
    ///         thread.run();
    ///     },
    ///     |pool| pool.install(|| local.iter().sum::<i32>()),
    /// )?;
    /// assert_eq!(sum, 6);
    /// # Ok::<(), rayon_core::ThreadPoolBuildError>(())
    /// ```
    pub fn build_scoped<W, F, R>(self, wrapper: W, with_pool: F) -> Result<R, ThreadPoolBuildError>
    where
        W: Fn(ThreadBuilder) + Sync,
        F: FnOnce(&ThreadPool) -> R,
    {
        let wrapper = &wrapper;
        thread::scope(|scope| {
            let spawn = |thread: ThreadBuilder| {
                let named = thread.to_std();
                named.spawn_scoped(scope, || wrapper(thread)).map(drop)
            };
            // The pool and its threads end before the scope does, even if `with_pool` panics.
            let pool = self.spawn_handler(spawn).build()?;
            Ok(with_pool(&pool))
        })
    }
}

impl<S: ThreadSpawn> ThreadPoolBuilder<S> {
    /// Makes the pool.
    ///
    /// # Errors
    ///
    /// An error if a thread cannot be started, or if a pool's thread asks for
    /// [`use_current_thread`](Self::use_current_thread).
    pub fn build(self) -> Result<ThreadPool, ThreadPoolBuildError> {
        let (pool, watch) = self.make()?;
        Ok(ThreadPool::of(pool, watch))
    }

    /// Makes the global pool, which the free functions use.
    ///
    /// # Errors
    ///
    /// An error if there is a global pool already, or an error of [`build`](Self::build).
    pub fn build_global(self) -> Result<(), ThreadPoolBuildError> {
        global::make(|| self.make_for_good())
    }

    /// Makes the pool, and the watch of the cores that it follows.
    fn make(self) -> Result<(Pool, Option<Watch>), ThreadPoolBuildError> {
        let asked = match self.num_threads {
            0 => threads_of_environment(),
            threads => Some(threads),
        };
        let watch = match self.settings.follow {
            true => Watch::start().map_err(|error| {
                eprintln!("manycore: MANYCORE_FOLLOW is ignored: {error}");
            }),
            false => Err(()),
        };
        let mut builder = self
            .settings
            .apply(Pool::builder())
            .name("rayon")
            .adopt_current_thread(self.use_current_thread);
        // By default there is a thread for each core. If the pool follows the cores, there is a thread for each core
        // that there may ever be.
        if let Some(threads) = asked {
            builder = builder.threads(threads.min(max_num_threads()));
        }
        if let Ok(watch) = &watch {
            builder = builder.follow(watch.allotment());
        }
        if let Some(bytes) = self.stack_size {
            builder = builder.stack_size(bytes);
        }
        if let Some(handler) = self.panic_handler {
            builder = builder.panic_handler(move |payload| handler(payload));
        }
        let builder = trace::threads(builder, self.start_handler, self.exit_handler);
        let pool = self.spawn.build(&builder, self.name_of)?;
        trace::made(&pool);
        Ok((pool, watch.ok()))
    }

    /// As `make`, for a pool that lives as long as the process.
    fn make_for_good(self) -> Result<Pool, ThreadPoolBuildError> {
        let (pool, watch) = self.make()?;
        // The watch continues until the process ends.
        std::mem::forget(watch);
        Ok(pool)
    }
}

impl ThreadPoolBuilder {
    /// The global pool with default settings.
    pub(crate) fn make_global() -> Result<Pool, ThreadPoolBuildError> {
        match Self::new().make_for_good() {
            // If the system has no threads, the caller runs everything.
            Err(error) if error.is_unsupported() => {
                let alone = || Pool::builder().threads(1);
                let adopted = alone().adopt_current_thread(true).build();
                Ok(adopted.or_else(|_| alone().build())?)
            }
            made => made,
        }
    }
}

impl<S> ThreadPoolBuilder<S> {
    /// Lets `spawn` make the pool's threads. The thread that builds the pool calls `spawn` once for each of these
    /// threads. `spawn` makes another thread [run](ThreadBuilder::run) its argument.
    pub fn spawn_handler<F>(self, spawn: F) -> ThreadPoolBuilder<CustomSpawn<F>>
    where
        F: FnMut(ThreadBuilder) -> io::Result<()>,
    {
        ThreadPoolBuilder {
            num_threads: self.num_threads,
            use_current_thread: self.use_current_thread,
            name_of: self.name_of,
            stack_size: self.stack_size,
            panic_handler: self.panic_handler,
            start_handler: self.start_handler,
            exit_handler: self.exit_handler,
            settings: self.settings,
            spawn: CustomSpawn(spawn),
        }
    }

    /// Sets the function that names the threads by their numbers.
    pub fn thread_name<F>(mut self, closure: F) -> Self
    where
        F: FnMut(usize) -> String + 'static,
    {
        self.name_of = Some(Box::new(closure));
        self
    }

    /// Sets the number of threads. 0, the default, means the number in the environment variable `RAYON_NUM_THREADS`,
    /// or else the number of cores.
    pub fn num_threads(mut self, num_threads: usize) -> Self {
        self.num_threads = num_threads;
        self
    }

    /// Makes the current thread a thread of the pool, number 0, while the pool lives.
    pub fn use_current_thread(mut self) -> Self {
        self.use_current_thread = true;
        self
    }

    /// Sets the handler of panics that no caller waits for. Without a handler the process is aborted.
    pub fn panic_handler<H>(mut self, panic_handler: H) -> Self
    where
        H: Fn(Box<dyn Any + Send>) + Send + Sync + 'static,
    {
        self.panic_handler = Some(Arc::new(panic_handler));
        self
    }

    /// Sets the size of the threads' stacks in bytes.
    pub fn stack_size(mut self, stack_size: usize) -> Self {
        self.stack_size = Some(stack_size);
        self
    }

    /// Does nothing, as in rayon. See [`scope_fifo`](crate::scope_fifo) and [`spawn_fifo`](crate::spawn_fifo).
    #[deprecated(note = "use `scope_fifo` and `spawn_fifo` for similar effect")]
    pub fn breadth_first(self) -> Self {
        self
    }

    /// Sets the function that each new thread of the pool calls first, with its number.
    pub fn start_handler<H>(mut self, start_handler: H) -> Self
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        self.start_handler = Some(Box::new(start_handler));
        self
    }

    /// Sets the function that each thread of the pool calls last, with its number.
    pub fn exit_handler<H>(mut self, exit_handler: H) -> Self
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        self.exit_handler = Some(Box::new(exit_handler));
        self
    }
}

impl<S> fmt::Debug for ThreadPoolBuilder<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadPoolBuilder")
            .field("num_threads", &self.num_threads)
            .field("use_current_thread", &self.use_current_thread)
            .field("stack_size", &self.stack_size)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// The number in `RAYON_NUM_THREADS`. If that is no number, the number in the variable's older name. `None` if the
/// number is 0.
fn threads_of_environment() -> Option<usize> {
    let number = |name| -> Option<usize> { env::var(name).ok()?.parse().ok() };
    let asked = number("RAYON_NUM_THREADS").or_else(|| number("RAYON_RS_NUM_CPUS"));
    asked.filter(|&threads| threads > 0)
}
