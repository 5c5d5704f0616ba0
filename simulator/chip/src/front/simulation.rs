//! A program's run: the machine, what is kept of it, and the loop that drives it.

use crate::account::{Labels, Sample, Trace};
use crate::config::Config;
use crate::engine::{Body, Engine, Progress, SimulationError, Statistics, Step, Thread};
use crate::memory::AddressMap;
use crate::os::ThreadId;
use std::io::{self, Write};

/// A program's run on a machine, to be: of a closure over the platform
/// [`Simulated`](crate::Simulated) ([`run`](Self::run)), or of a guest
/// ([`run_guest`](Self::run_guest)).
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
    stop: Option<fn() -> bool>,
    segments: usize,
    stack: usize,
    counters: bool,
    /// The period of samples.
    samples: Option<u64>,
}

/// A finished run.
#[derive(Debug)]
pub struct Run<T> {
    /// The value that the program's main closure returned.
    pub value: T,
    /// How long it took, its fingerprint, and where the cycles went.
    pub statistics: Statistics,
    /// The counters from time to time, if [`Simulation::samples`] asked for them.
    pub samples: Vec<Sample>,
    /// The timeline, if [`Simulation::timeline`] asked for it.
    pub trace: Trace,
}

impl Run<()> {
    /// The run of an engine after its program ended at `end`.
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
    /// The errors of `to`.
    pub fn write_timeline(&self, to: impl Write) -> io::Result<()> {
        self.trace.write(to)
    }
}

/// Virtual memory of a simulated thread's stack; only what it touches costs.
const STACK: usize = 512 * 1024;

impl Simulation {
    /// A run on `machine`, without a limit on cycles (but 2^62, which nothing
    /// reaches by doing anything) and without a timeline.
    pub fn new(machine: &Config) -> Self {
        Self {
            config: machine.clone(),
            limit: u64::MAX,
            stop: None,
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

    /// Counts, and keeps the sums of all cores each `period` cycles ([`Run::samples`]): at the
    /// first event of the machine from then on. Beyond 1024 samples every second sample goes, and
    /// the period doubles, so that a long run keeps at most 1024.
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

    /// Ends the run with an error if it is not done after `cycles` cycles.
    #[must_use]
    pub fn limit(mut self, cycles: u64) -> Self {
        self.limit = cycles;
        self
    }

    /// A run of guests asks `stop` each time that it resumes one. If `stop` says so, the run ends as at its limit.
    /// A thread that computes alone, and misses no cache, is not stopped.
    ///
    /// ```
    /// use manycore_chip::guest::{Core, State};
    /// use manycore_chip::{Simulation, config::Config};
    ///
    /// let machine = Config::preset("atac-64")?;
    /// let main = |core: &mut Core<'_>| {
    ///     core.enter_kernel();
    ///     core.yield_now();
    ///     State::Suspended
    /// };
    /// let simulation = Simulation::new(&machine).stop_when(|| true);
    /// let (_, stopped) = simulation.run_guest_until_stopped(Box::new(main))?;
    /// assert!(stopped.is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn stop_when(mut self, stop: fn() -> bool) -> Self {
        self.stop = Some(stop);
        self
    }

    /// Keeps a timeline ([`Run::trace`]) of up to `segments` segments of what cores did,
    /// and as many sleeps and regions of threads.
    #[must_use]
    pub fn timeline(mut self, segments: usize) -> Self {
        self.segments = segments;
        self
    }

    /// Bytes of stack for each simulated thread (512 KiB by default; only
    /// touched pages cost memory).
    #[must_use]
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.stack = bytes;
        self
    }

    /// The machine.
    #[must_use]
    pub fn machine(&self) -> &Config {
        &self.config
    }

    /// Bytes of stack for each simulated thread.
    pub(super) fn stack(&self) -> usize {
        self.stack
    }

    /// Asks whether the run is to end.
    pub(super) fn stop(&self) -> Option<fn() -> bool> {
        self.stop
    }

    /// The engine of a run with this map of addresses.
    pub(super) fn engine(&self, addresses: AddressMap) -> Result<Engine, SimulationError> {
        let mut engine = Engine::new(&self.config, addresses, self.limit, self.segments)?;
        if self.counters {
            engine.count(self.samples);
        }
        Ok(engine)
    }
}

/// A run on this machine, without a limit and with nothing kept.
impl From<&Config> for Simulation {
    fn from(machine: &Config) -> Self {
        Self::new(machine)
    }
}

/// The threads' names, each with its number, since names may be equal.
fn threads_of(threads: &[Thread]) -> Vec<String> {
    let threads = threads.iter().enumerate();
    threads
        .map(|(number, thread)| match thread.name.is_empty() {
            true => format!("thread {number}"),
            false => format!("{number}: {}", thread.name),
        })
        .collect()
}

/// Takes step after step until the program ends; when it did. `resume` has a thread's
/// body go on, on a core.
pub(super) fn drive(
    engine: &mut Engine,
    mut resume: impl FnMut(&mut Engine, u32, ThreadId, &mut dyn Body) -> Progress,
) -> Result<u64, SimulationError> {
    loop {
        let core = match engine.step() {
            Step::Ended(at) => return Ok(at),
            Step::Failed(error) => return Err(error),
            Step::Resume(core) => core,
        };
        let Some((thread, mut body)) = engine.take_body(core) else {
            continue;
        };
        match resume(engine, core, thread, &mut *body) {
            Progress::Suspended => engine.put_body(thread, body),
            Progress::Ended => {
                drop(body);
                engine.returned(core);
            }
            Progress::Exited => return Ok(engine.ports[core as usize].clock),
        }
    }
}
