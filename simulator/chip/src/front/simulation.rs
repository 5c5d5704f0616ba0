//! The run of a program: its settings, its results, and the loop that drives the engine.

use crate::account::{Labels, Sample, Trace};
use crate::config::Config;
use crate::engine::{Body, Engine, Progress, SimulationError, Statistics, Step, Thread};
use crate::memory::AddressMap;
use crate::os::ThreadId;
use std::io::{self, Write};

/// The settings of a run. [`run`](Self::run) runs a closure that uses the platform
/// [`Simulated`](crate::Simulated). [`run_guest`](Self::run_guest) runs a guest.
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
/// // A second run takes the same cycles and has the same hash.
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
    /// The cycles between two samples.
    samples: Option<u64>,
}

/// A finished run.
#[derive(Debug)]
pub struct Run<T> {
    /// The value that the program's main closure returned.
    pub value: T,
    /// The cycles and the hash of the run, and what the cores did in these cycles.
    pub statistics: Statistics,
    /// The counters at regular times, if [`Simulation::samples`] was called.
    pub samples: Vec<Sample>,
    /// The timeline, if [`Simulation::timeline`] was called.
    pub trace: Trace,
}

impl Run<()> {
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

    /// The same results, with the value that the program returned.
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
    /// Writes the timeline as Chrome's trace-event JSON, which <https://ui.perfetto.dev> opens. The
    /// timeline is empty unless [`Simulation::timeline`] was called.
    ///
    /// # Errors
    ///
    /// Returns the errors of `to`.
    pub fn write_timeline(&self, to: impl Write) -> io::Result<()> {
        self.trace.write(to)
    }
}

/// Bytes of virtual memory for a simulated thread's stack. Only touched pages cost memory.
const STACK: usize = 512 * 1024;

impl Simulation {
    /// A run on `machine` without a timeline. The limit is 2^56 cycles, which no working program
    /// reaches.
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

    /// Counts the events in caches, links, controllers and queues ([`Statistics::counters`]).
    /// Counting does not change simulated time.
    #[must_use]
    pub fn counters(mut self) -> Self {
        self.counters = true;
        self
    }

    /// Counts events, and stores the sums of all cores every `period` cycles ([`Run::samples`]). A sample is taken at
    /// the first event after its period. Beyond 1024 samples, every second sample is dropped and the period doubles.
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

    /// Ends the run with an error if the program has not ended after `cycles` cycles.
    #[must_use]
    pub fn limit(mut self, cycles: u64) -> Self {
        self.limit = cycles;
        self
    }

    /// A run of guests calls `stop` each time that it resumes a guest, and at least each million cycles while a lone
    /// guest computes. If `stop` returns `true`, the run ends as if it had reached its limit.
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

    /// Keeps a timeline ([`Run::trace`]) of up to `segments` activities of cores, and of up to as
    /// many sleeps and regions of threads.
    #[must_use]
    pub fn timeline(mut self, segments: usize) -> Self {
        self.segments = segments;
        self
    }

    /// Sets the bytes of stack of each simulated thread (512 KiB by default). Only touched pages
    /// cost memory.
    #[must_use]
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.stack = bytes;
        self
    }

    /// The description of the machine.
    #[must_use]
    pub fn machine(&self) -> &Config {
        &self.config
    }

    pub(super) fn stack(&self) -> usize {
        self.stack
    }

    /// The function that says whether the run must end.
    pub(super) fn stop(&self) -> Option<fn() -> bool> {
        self.stop
    }

    /// Makes the engine of a run that maps host addresses by `addresses`.
    pub(super) fn engine(&self, addresses: AddressMap) -> Result<Engine, SimulationError> {
        let mut engine = Engine::new(&self.config, addresses, self.limit, self.segments)?;
        if self.counters {
            engine.count(self.samples);
        }
        Ok(engine)
    }
}

/// A run on this machine with default settings.
impl From<&Config> for Simulation {
    fn from(machine: &Config) -> Self {
        Self::new(machine)
    }
}

/// The threads' names. Each contains the thread's number, since two names may be equal.
fn threads_of(threads: &[Thread]) -> Vec<String> {
    let threads = threads.iter().enumerate();
    threads
        .map(|(number, thread)| match thread.name.is_empty() {
            true => format!("thread {number}"),
            false => format!("{number}: {}", thread.name),
        })
        .collect()
}

/// Steps the engine until the program ends. Returns the cycle of its end. `resume` resumes a
/// thread's body on a core.
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
