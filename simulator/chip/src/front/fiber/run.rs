//! Running a program on a simulated machine.

use super::super::arena::{self, Arena, ArenaError, Stack};
use super::body::Fiber;
use super::context::Entered;
use super::overflow;
use super::watchdog::Watch;
use crate::account::{Labels, Sample, Trace};
use crate::config::Config;
use crate::engine::{Engine, Progress, SimulationError, Statistics, Step};
use crate::memory::AddressMap;
use std::any::Any;
use std::cell::Cell;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

/// A program's run on a machine, to be.
///
/// ```
/// use manycore_chip::{Simulated, Simulation, config::Config};
/// use manycore_platform::{AtomicInteger, Ordering, Platform, ThreadSpec};
/// use std::sync::Arc;
///
/// let machine = Config::preset("atac-64")?;
/// let count = || {
///     let counter = Arc::new(<Simulated as Platform>::AtomicU64::from(0));
///     let threads: Vec<_> = (0..8)
///         .map(|core| {
///             let counter = Arc::clone(&counter);
///             let spec = ThreadSpec { cpus: vec![core], ..ThreadSpec::default() };
///             let body = move || {
///                 counter.fetch_add(1, Ordering::Relaxed);
///             };
///             Simulated::spawn(spec, Box::new(body)).unwrap()
///         })
///         .collect();
///     threads.into_iter().for_each(Simulated::join);
///     counter.fetch_add(0, Ordering::Relaxed)
/// };
/// let run = Simulation::new(&machine).run(count)?;
/// assert_eq!(run.value, 8);
/// // The same again: the same cycles, the same hash.
/// let again = Simulation::new(&machine).run(count)?;
/// assert_eq!(run.statistics.hash, again.statistics.hash);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Simulation {
    config: Config,
    limit: u64,
    segments: usize,
    stack: usize,
    counters: bool,
    /// The period of samples.
    samples: Option<u64>,
}

/// A finished run.
#[derive(Debug)]
pub struct Run<T> {
    /// What the program's main closure returned.
    pub value: T,
    /// How long it took, its fingerprint, and where the cycles went.
    pub statistics: Statistics,
    /// The counters from time to time, if [`Simulation::samples`] asked for them.
    pub samples: Vec<Sample>,
    /// The timeline, if [`Simulation::timeline`] asked for it.
    pub trace: Trace,
}

impl Run<()> {
    /// The run of an engine whose program ended at `end`.
    pub(crate) fn finished(mut engine: Engine, end: u64) -> Result<Self, SimulationError> {
        let statistics = engine.finish(end);
        if cfg!(debug_assertions) {
            engine.memory.check().map_err(SimulationError::Incoherent)?;
        }
        Ok(Self {
            value: (),
            statistics,
            samples: engine.take_samples(),
            trace: Trace::new(
                engine.timeline,
                engine.spans,
                end,
                engine.config.cores as usize,
                Labels {
                    chip: &engine.config.name,
                    ghz: engine.config.ghz,
                    names: engine.lines.names(),
                    threads: threads_of(&engine.threads),
                },
            ),
        })
    }

    /// The same run, with what its program returned.
    pub(crate) fn with<T>(self, value: T) -> Run<T> {
        Run {
            value,
            statistics: self.statistics,
            samples: self.samples,
            trace: self.trace,
        }
    }
}

impl<T> Run<T> {
    /// Writes the timeline as Chrome's trace-event JSON, which
    /// <https://ui.perfetto.dev> opens. Empty unless
    /// [`Simulation::timeline`] asked for it.
    ///
    /// # Errors
    ///
    /// What `to` says.
    pub fn write_timeline(&self, to: impl Write) -> io::Result<()> {
        self.trace.write(to)
    }
}

/// Virtual memory of a simulated thread's stack; only what it touches costs.
const STACK: usize = 512 * 1024;

thread_local! {
    static ARENA: Cell<*const Arena> = const { Cell::new(ptr::null()) };
}

/// A simulated thread's stack, in the memory of the machine that this host thread
/// simulates.
pub(super) fn thread_stack() -> Result<Stack, String> {
    in_arena(Arena::stack)
}

/// A stack of at least `bytes` for a coroutine of the program's own.
pub(super) fn stack(bytes: usize) -> Result<Stack, String> {
    in_arena(|arena| arena.stack_of(bytes))
}

fn in_arena(take: impl FnOnce(&Arena) -> Result<Stack, ArenaError>) -> Result<Stack, String> {
    let arena = ARENA.get();
    // SAFETY: set by `run` while its arena lives; called by simulated code
    // only, which runs inside of `run`.
    let arena = unsafe { arena.as_ref() };
    let arena = arena.ok_or("no simulation runs")?;
    super::platform::outside(|| take(arena).map_err(|error| error.to_string()))
}

impl Simulation {
    /// A run on `machine`, without a limit on cycles (but 2^62, which nothing
    /// reaches by doing anything) and without a timeline.
    pub fn new(machine: &Config) -> Self {
        Self {
            config: machine.clone(),
            limit: u64::MAX,
            segments: 0,
            stack: STACK,
            counters: false,
            samples: None,
        }
    }

    /// Counts what caches, links, controllers and queues do
    /// ([`Statistics::counters`]). It changes nothing in simulated time.
    #[must_use]
    pub fn counters(mut self) -> Self {
        self.counters = true;
        self
    }

    /// Counts, and keeps the sums of all cores each `period` cycles
    /// ([`Run::samples`]): at the first event of the machine from then on. Where
    /// there are more than 1024 samples every second one goes, and the period doubles, so
    /// that a long run keeps no more than that.
    ///
    /// ```
    /// use manycore_chip::{Activity, Simulated, Simulation, config::Config};
    /// use manycore_platform::Platform;
    ///
    /// let machine = Config::preset("atac-64")?;
    /// let run = Simulation::new(&machine).samples(10_000).run(|| {
    ///     for _ in 0..100 {
    ///         Simulated::compute(900);
    ///         Simulated::yield_now();
    ///     }
    /// })?;
    /// let computed: Vec<u64> =
    ///     run.samples.iter().map(|sample| sample.total.cycles[Activity::Compute]).collect();
    /// assert!(computed.len() > 5 && computed.is_sorted());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn samples(mut self, period: u64) -> Self {
        self.samples = Some(period);
        self.counters()
    }

    /// Ends the run with an error if it is not done in so many cycles.
    #[must_use]
    pub fn limit(mut self, cycles: u64) -> Self {
        self.limit = cycles;
        self
    }

    /// Keeps a timeline ([`Run::trace`]) of up to `segments` segments of what cores did,
    /// and as many sleeps and regions of threads.
    #[must_use]
    pub fn timeline(mut self, segments: usize) -> Self {
        self.segments = segments;
        self
    }

    /// Bytes of stack for each simulated thread (512 KiB by default, of which
    /// only what is touched costs memory).
    #[must_use]
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.stack = bytes;
        self
    }

    /// Runs `program` as the main thread, on core 0, until it returns. Other
    /// threads that still run then are gone, as when a process exits; their
    /// destructors do not run.
    ///
    /// # Errors
    ///
    /// Deadlock, the limit on cycles, or a panic of `program` (a panic of
    /// another thread ends that thread only). Destructors of what the
    /// program's threads hold do not run.
    pub fn run<T>(&self, program: impl FnOnce() -> T) -> Result<Run<T>, SimulationError> {
        overflow::watch();
        let host = |error: arena::ArenaError| SimulationError::Host(error.to_string());
        let arena = Arena::new(self.stack).map_err(host)?;
        let addresses = AddressMap::new(arena.base());
        let mut engine = Engine::new(&self.config, addresses, self.limit, self.segments)?;
        if self.counters {
            engine.count(self.samples);
        }
        let mut result: Option<Result<T, Box<dyn Any + Send>>> = None;
        let slot = &raw mut result;
        let main = move || {
            let value = catch_unwind(AssertUnwindSafe(program));
            // SAFETY: `result` outlives the run, and nobody looks at it before.
            unsafe { slot.write(Some(value)) };
        };
        let main: Box<dyn FnOnce() + '_> = Box::new(main);
        // SAFETY: only the lifetime changes. The closure is run or abandoned
        // before this function returns: all threads are gone by then.
        let main: Box<dyn FnOnce()> = unsafe { std::mem::transmute(main) };
        engine.start(Box::new(Fiber::new(arena.stack().map_err(host)?, main)));
        ARENA.set(&raw const arena);
        let ended = drive(&raw mut engine, &arena);
        for thread in &mut engine.threads {
            if let Some(body) = thread.body.take() {
                body.abandon();
            }
        }
        ARENA.set(ptr::null());
        let end = ended?;
        let run = Run::finished(engine, end)?;
        match result {
            Some(Ok(value)) => Ok(run.with(value)),
            Some(Err(payload)) => {
                let text = payload
                    .downcast_ref::<&str>()
                    .map(|text| (*text).to_owned());
                let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
                let text = text.unwrap_or_else(|| "with a payload that is no text".to_owned());
                Err(SimulationError::Panicked(text))
            }
            None => Err(SimulationError::Incoherent(
                "the main thread ended without a result".into(),
            )),
        }
    }
}

/// The threads' names, each with its number, since names may be equal.
fn threads_of(threads: &[crate::engine::Thread]) -> Vec<String> {
    let threads = threads.iter().enumerate();
    threads
        .map(|(number, thread)| match thread.name.is_empty() {
            true => format!("thread {number}"),
            false => format!("{number}: {}", thread.name),
        })
        .collect()
}

/// Takes step after step until the main thread ends; when it did.
fn drive(engine: *mut Engine, arena: &Arena) -> Result<u64, SimulationError> {
    // SAFETY: as below.
    let mut watch = Watch::new(unsafe { &*engine });
    loop {
        // SAFETY: the engine is `run`'s, which refers to it in no other way
        // meanwhile; each reference here ends with its statement, before a
        // coroutine, which makes its own, is resumed.
        let step = unsafe { (*engine).step() };
        let core = match step {
            Step::Ended(at) => return Ok(at),
            Step::Failed(error) => return Err(error),
            Step::Resume(core) => core,
        };
        // SAFETY: as above.
        let Some((thread, mut body)) = (unsafe { (*engine).take_body(core) }) else {
            continue;
        };
        // SAFETY: as above.
        watch.resumes(thread, unsafe { &(*engine).threads });
        let progress = {
            // SAFETY: the engine stays in place, and is left to the coroutine.
            let _context = unsafe { Entered::new(engine, core) };
            let _memory = arena::enter(arena);
            body.resume(engine, core)
        };
        // SAFETY: as above.
        unsafe {
            match progress {
                Progress::Suspended => (*engine).put_body(thread, body),
                // A fiber never exits: its program ends with its main closure.
                Progress::Ended | Progress::Exited => {
                    drop(body);
                    (*engine).returned(core);
                }
            }
        }
    }
}
