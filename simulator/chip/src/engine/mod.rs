//! Simulated time: decides which core runs next, and the order of events.
//!
//! # Order
//!
//! Effects that other cores can notice happen in the order of simulated time, and at equal times in the order of core
//! numbers. The host runs one core at a time: the core with the earliest clock. A core that only computes and hits its
//! own caches keeps running, even past the clocks of other cores, up to its *horizon*:
//!
//! * An event of the machine may change any cache. Examples are a request at a line's home (the place that serialises
//!   the line's requests) and a wake-up. So no core runs beyond the next event.
//! * Another core that continues at time t may have a miss at t. Its request needs at least the *lookahead*, the time
//!   to leave its tile (the hardware threads that share an L1), to reach a home. So no core's caches change before t
//!   plus the lookahead. Hardware threads of one tile hit the same caches, so no core runs beyond the clock of such a
//!   sibling.
//!
//! For all other requests (such as a futex, a message, or a new thread), a core waits until it is
//! the earliest.
//!
//! # The two sides
//!
//! A front end (`front::fiber` or `front::guest`) implements [`Body`] and calls the methods of
//! [`asks`].

mod agenda;
mod asks;
mod counting;
mod error;
mod hash;
mod kernel;
mod message;
mod outcome;
mod overlap;
mod pace;
mod port;
mod spin;
mod thread;

pub(crate) use asks::Asked;
pub use error::{SimulationError, Waiting};
pub use outcome::{Messages, Statistics};
pub(crate) use port::Port;
pub use thread::Before;
pub(crate) use thread::{Body, DISTURBED, LATE, Progress, Reply, Thread};

use crate::account::{Activity, Census, Lines, Source, Spans, Taken, Timeline};
use crate::config::{Config, Writes};
use crate::memory::{AddressMap, Arrival, Class, Memory, Request, Served};
use crate::network::{self, Optical};
use crate::os::{FutexTable, Scheduler, ThreadId};
use agenda::{Agenda, Event, Next};
use hash::EventHash;
use overlap::Overlap;
use pace::Pace;
use port::Mode;
use thread::State;

/// A machine in the middle of a run.
pub(crate) struct Engine {
    pub(crate) config: Config,
    pub(crate) memory: Memory,
    pub(crate) addresses: AddressMap,
    pub(crate) ports: Box<[Port]>,
    pub(crate) threads: Vec<Thread>,
    agenda: Agenda,
    scheduler: Scheduler,
    futexes: FutexTable,
    pub(crate) optical: Option<Optical>,
    /// Cores that wait for a message.
    listeners: Vec<u32>,
    pub(crate) lines: Lines,
    pub(crate) timeline: Timeline,
    pub(crate) spans: Spans,
    hash: EventHash,
    lookahead: u64,
    limit: u64,
    /// The time of the limit or of the next sample, whichever is earlier.
    pause: u64,
    /// The counters, if they were asked for.
    census: Option<Box<Census>>,
    line_shift: u32,
    events: u64,
    write_through: bool,
    cpi_1024: u64,
    /// `cpi_1024`, or `None` if the cycles of an instruction vary or instructions are counted.
    plain_cpi_1024: Option<u64>,
    /// The state for machines whose cores are at times slower than `cpi_1024`.
    pace: Option<Pace>,
    /// The instructions after which a long computation looks again how slow its core is.
    pub(crate) paced: u64,
    /// Lines on their way to cores that do not wait for them.
    overlap: Option<Overlap>,
    defect: Option<String>,
    outlives_main: bool,
    /// A function that says whether the run's user wants the run to end.
    pub(crate) stop: Option<fn() -> bool>,
}

/// The most cycles that a core computes before the run's user is asked again.
const UNASKED: u64 = 1 << 20;

const MAIN: ThreadId = 0;

/// The most cycles of a run, and of one computation. Sums of two such times do not overflow, also
/// in the parts of a cycle in which a memory controller counts.
const LONGEST: u64 = 1 << 56;

impl Engine {
    pub(crate) fn new(
        config: &Config,
        addresses: AddressMap,
        limit: u64,
        segments: usize,
    ) -> Result<Self, SimulationError> {
        let wrong = |error: network::Invalid| SimulationError::Host(error.to_string());
        let memory = Memory::new(config).map_err(wrong)?;
        let optical = config.optical.as_ref();
        let optical = optical
            .map(|optical| Optical::new(config.cores, optical))
            .transpose();
        let port = |core| Port::new(core, memory.tile_of(core));
        let cpi_1024 = (config.core.cpi * 1024.0).round() as u64;
        let pace = Pace::new(config);
        Ok(Self {
            ports: (0..config.cores).map(port).collect(),
            threads: Vec::new(),
            agenda: Agenda::default(),
            scheduler: Scheduler::new(&config.os, config.cores, config.group_cores)
                .with_siblings(config.threads_per_core),
            futexes: FutexTable::default(),
            optical: optical.map_err(wrong)?,
            listeners: Vec::new(),
            lines: Lines::new(config.line),
            timeline: Timeline::new(config.cores as usize, segments),
            spans: Spans::new(segments),
            hash: EventHash::new(),
            lookahead: memory.lookahead(),
            limit: limit.min(LONGEST),
            pause: limit.min(LONGEST),
            census: None,
            line_shift: config.line.trailing_zeros(),
            events: 0,
            write_through: config.coherence.writes == Writes::Through,
            cpi_1024,
            plain_cpi_1024: pace.is_none().then_some(cpi_1024),
            paced: pace
                .as_ref()
                .map_or(u64::MAX, |pace| pace.instructions(config)),
            pace,
            overlap: Overlap::new(config),
            defect: None,
            outlives_main: false,
            stop: None,
            addresses,
            memory,
            config: config.clone(),
        })
    }

    #[inline(always)]
    pub(crate) fn line_of(&mut self, host: usize) -> u32 {
        (self.addresses.simulated(host) >> self.line_shift) as u32
    }

    /// Handles events until a thread must be resumed or the run ends.
    // This is inlined into the loop of each front end.
    #[inline(always)]
    pub(crate) fn step(&mut self) -> Step {
        loop {
            if self.threads[MAIN as usize].state == State::Ended && !self.outlives_main {
                return Step::Ended(self.agenda.now());
            }
            if let Some(defect) = self.defect.take() {
                return Step::Failed(SimulationError::Incoherent(defect));
            }
            let next = self.agenda.take(&self.ports);
            if let Next::Event(at, ..) | Next::Core(at, _) = next
                && at > self.pause
            {
                if at > self.limit {
                    return Step::Failed(self.runaway());
                }
                self.sample(at);
            }
            match next {
                Next::Nothing => return Step::Failed(self.deadlock()),
                Next::Event(at, core, event) => {
                    self.events += 1;
                    self.happen(at, core, event);
                }
                Next::Core(at, core) => {
                    self.events += 1;
                    self.hash.fold(at, core.into());
                    let port = &self.ports[core as usize];
                    let thread = port.thread.map(|thread| &self.threads[thread as usize]);
                    if thread.is_some_and(|thread| thread.returned) {
                        self.end_thread(core);
                    } else if port.displaced || port.leaves {
                        self.displace_now(core);
                    } else {
                        self.set_horizon(core);
                        return Step::Resume(core);
                    }
                }
            }
        }
    }

    /// From now on, the run lasts until a thread ends the program, even if the main thread has ended.
    pub(crate) fn outlive_main(&mut self) {
        self.outlives_main = true;
    }

    /// Ends the run as if its limit were `now`.
    pub(crate) fn stop_at(&mut self, now: u64) {
        self.limit = now;
        self.pause = now;
    }

    /// Ends the run if its user asks for that.
    pub(crate) fn stop_if_asked(&mut self) {
        if self.stop.is_some_and(|stop| stop()) {
            self.stop_at(self.agenda.now());
        }
    }

    /// Sets the time up to which the running `core` may hit its caches without a question to the engine. This function
    /// must be called again after the core has planned an event.
    pub(crate) fn set_horizon(&mut self, core: u32) {
        let (other, _) = self.agenda.next_core(&self.ports);
        let (sibling, _) = self.next_sibling(core);
        let elsewhere = other.saturating_add(self.lookahead);
        let event = self.agenda.next_event().min(self.limit);
        let port = &mut self.ports[core as usize];
        port.horizon = event.min(elsewhere).min(sibling);
        if self.stop.is_some() {
            port.horizon = port.horizon.min(port.clock.saturating_add(UNASKED));
        }
    }

    /// The earliest running hardware thread that shares the core's caches, and its clock. That sibling notices the
    /// core's hits at once.
    fn next_sibling(&self, core: u32) -> (u64, u32) {
        let threads = self.config.threads_per_core;
        if threads == 1 {
            return (u64::MAX, u32::MAX);
        }
        let first = core - core % threads;
        (first..first + threads)
            .filter(|&sibling| sibling != core)
            .map(|sibling| &self.ports[sibling as usize])
            .filter(|port| port.mode == Mode::Running)
            .map(|port| (port.clock, port.core))
            .min()
            .unwrap_or((u64::MAX, u32::MAX))
    }

    // This is inlined into `step`.
    #[inline(always)]
    fn happen(&mut self, at: u64, core: u32, event: Event) {
        match event {
            Event::Arrive => {
                if let Some(request) = self.ports[core as usize].request {
                    debug_assert_eq!(request.arrived, at);
                    self.hash
                        .fold(at, u64::from(request.line) << 16 | u64::from(core));
                    let arrival = self.memory.arrive(request, at);
                    self.after(request, arrival, at);
                }
            }
            Event::Flight { line } => self.flight_arrives(core, line, at),
            Event::Free(line) => self.serve_waiting(line, at),
            Event::Patience { plan } => self.patience_ended(core, plan, at),
            Event::Wake => self.wake_core(core, at),
            Event::Displace { thread } if self.ports[core as usize].thread == Some(thread) => {
                self.displace(core, at, false);
            }
            Event::Leave { thread } if self.is_forbidden(core, thread) => {
                self.displace(core, at, true);
            }
            Event::Displace { .. } | Event::Leave { .. } => {}
            Event::Tick => self.tick(core, at),
            Event::Interrupt => self.interrupted(core, at),
            Event::Timeout { thread, wait } => self.timeout(thread, wait, at),
            Event::Message { plan } => self.message_ready(core, plan, at),
        }
    }

    /// Serves the requests that wait for `line`, as far as the line's home is free.
    fn serve_waiting(&mut self, line: u32, at: u64) {
        while let Some(free) = self.memory.free_at(line) {
            if free > at {
                self.agenda.plan(free, 0, Event::Free(line));
                return;
            }
            if let Some(request) = self.memory.next_waiting(line) {
                self.hash
                    .fold(at, u64::from(line) << 16 | u64::from(request.core));
                let arrival = self.memory.serve(request, at);
                self.after(request, arrival, at);
            }
        }
    }

    fn after(&mut self, request: Request, arrival: Arrival, at: u64) {
        match arrival {
            Arrival::Served(served) => self.complete(request, served, at),
            Arrival::Travels(reaches, stage) => {
                let waited = at - request.arrived;
                let address = u64::from(request.line) << self.line_shift;
                self.lines.waited(address, waited);
                let request = Request {
                    stage,
                    arrived: reaches,
                    ..request
                };
                if !request.awaited {
                    return self.flight_travels(request, reaches);
                }
                if let Some(census) = &mut self.census {
                    census.passed(request.core, waited);
                }
                self.ports[request.core as usize].request = Some(request);
                self.agenda.plan(reaches, request.core, Event::Arrive);
            }
            Arrival::Queued(Some(free)) => {
                self.agenda.plan(free, 0, Event::Free(request.line));
            }
            Arrival::Queued(None) => {}
        }
    }

    /// Completes an access that has taken effect.
    fn complete(&mut self, request: Request, served: Served, at: u64) {
        let source = match served.class {
            Class::Group => Source::Group,
            Class::Remote => Source::Remote,
            Class::Memory => Source::Memory,
        };
        if request.awaited {
            self.answer(&request, &served, source, at);
        } else {
            self.land(request, &served, source, at);
        }
        let address = u64::from(request.line) << self.line_shift;
        let taken = Taken {
            by: request.core,
            copies: served.taken,
        };
        let write = !request.operation.reads_only();
        self.lines
            .served(address, source, at - request.arrived, taken, write);
        self.wake_disturbed(at);
        if cfg!(debug_assertions)
            && let Err(defect) = self.memory.check_line(request.line)
        {
            self.defect.get_or_insert(defect);
        }
    }

    /// Makes the core that waits for this access continue at the time at which it has the answer.
    fn answer(&mut self, request: &Request, served: &Served, source: Source, at: u64) {
        let port = &mut self.ports[request.core as usize];
        debug_assert_eq!(port.mode, Mode::Missing);
        let activity = overlap::activity(served.class);
        let from = port.clock;
        port.pass_until(activity, served.done - served.execution);
        port.pass(Activity::Atomic, served.execution);
        let interrupted = std::mem::take(&mut port.interrupted);
        port.pass(Activity::Switch, interrupted);
        port.mode = Mode::Running;
        port.request = None;
        if let Some(thread) = port.thread {
            self.threads[thread as usize].reply = Reply {
                value: served.value,
                stored: served.stored,
            };
        }
        self.agenda.go_on(port);
        let to = port.clock;
        if let Some(census) = &mut self.census {
            let latency = served.done - from;
            census.answered(request.core, source, latency, at - request.arrived);
        }
        self.record(request.core, activity, from, to);
    }
}

/// The front end's next action.
pub(crate) enum Step {
    /// Resume the thread on this core, until it suspends.
    Resume(u32),
    /// The program's main thread has ended at this cycle.
    Ended(u64),
    Failed(SimulationError),
}
