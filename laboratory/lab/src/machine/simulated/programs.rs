//! Small programs with published times: messages between two cores, a store to a line that all cores share, and a
//! contended lock. After David, Guerraoui, Trigonakis, SOSP'13, and their library of messages, ssmp.

use super::buffer::{Buffer, lines_a_home, mean};
use super::distance::{self, Distance};
use super::published;
use super::thread::spawn;
use crate::instrument;
use manycore_chip::config::Config;
use manycore_chip::{Run, Simulated, Simulation, SimulationError};
use manycore_platform::{Atomic, Ordering, Platform};
use manycore_programs::by_name;
use manycore_programs::lock::{Lock, TicketLock};
use std::sync::Arc;

by_name! {
    /// A program.
    pub(crate) enum Program: "unknown program", "expected some of" {
        /// One core sends, another receives; each waits by loads.
        Message = "message",
        /// The receiver sends each message back.
        Answer = "message and answer",
        /// Both cores wait by compare-and-swap.
        MessageByCas = "message by cas",
        AnswerByCas = "message and answer by cas",
        /// Both cores wait by prefetches for writing.
        MessageByPrefetch = "message by prefetch",
        AnswerByPrefetch = "message and answer by prefetch",
        /// Each word of the message is copied alone, as on the paper's Niagara.
        MessageByWords = "message by words",
        AnswerByWords = "message and answer by words",
        /// All cores have read the line.
        SharedStore = "store to a line of all cores",
        /// Every core takes and releases one lock, again and again.
        TicketLock = "ticket lock",
    }
}

/// A program, and where it runs.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub(super) program: Program,
    /// The place in the table of published numbers: a distance, or a number of cores.
    pub(super) place: String,
    site: Site,
}

#[derive(Clone, Debug)]
enum Site {
    Pair(Distance),
    Cores(usize),
}

/// The programs with a published time on the machine.
pub(super) fn published(config: &Config) -> impl Iterator<Item = Placed> {
    Program::ALL.into_iter().flat_map(move |program| {
        let places = published::places(&config.name, program.name());
        places.filter_map(move |place| {
            Some(Placed {
                program,
                place: place.to_owned(),
                site: program.site(config, place)?,
            })
        })
    })
}

impl Program {
    fn way(self) -> Way {
        match self {
            Self::MessageByCas | Self::AnswerByCas => Way::Cas,
            Self::MessageByPrefetch | Self::AnswerByPrefetch => Way::Prefetch,
            Self::MessageByWords | Self::AnswerByWords => Way::Words,
            _ => Way::Loads,
        }
    }

    fn site(self, config: &Config, place: &str) -> Option<Site> {
        match self {
            Self::SharedStore | Self::TicketLock => {
                let cores = place.parse().ok();
                let cores = cores.filter(|cores| (1..=config.cores as usize).contains(cores));
                cores.map(Site::Cores)
            }
            _ => {
                let mut all = distance::classes(config).into_iter();
                all.find(|one| one.name == place).map(Site::Pair)
            }
        }
    }
}

/// How messages are passed.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Loads,
    Cas,
    /// A prefetch for writing takes the line as a failed compare-and-swap does.
    Prefetch,
    Words,
}

/// How long a core waits between two looks at the line, from ssmp's code for the paper's machines.
impl Way {
    /// Cycles between two tries by compare-and-swap.
    const TRY: u64 = 66;
    /// A receiver that looks again and again pauses one time more before each look, and after this number of looks
    /// begins anew.
    const PAUSES: u32 = 64;

    fn pause(self, is_receiver: bool, looks: u32) {
        let pauses = match (self, is_receiver) {
            (Self::Cas, _) => return Simulated::compute(Self::TRY),
            (Self::Loads | Self::Prefetch, true) => looks % Self::PAUSES,
            (Self::Prefetch, false) => 0,
            (Self::Loads, false) | (Self::Words, _) => 1,
        };
        (0..pauses).for_each(|_| Simulated::relax());
    }
}

impl Placed {
    /// Returns the nanoseconds of one message, message and answer, store, or acquisition with its release.
    pub(super) fn measure(&self, config: &Config) -> Result<Run<f64>, SimulationError> {
        let name = format!("{}, {}", self.program.name(), self.place);
        instrument::run(Simulation::new(config), &name, || {
            let cycles = match (&self.site, self.program) {
                (Site::Pair(pair), program) => {
                    let answers = program.name().starts_with("message and answer");
                    messages(config, pair, program.way(), answers)
                }
                (Site::Cores(cores), Program::TicketLock) => acquisitions(config, *cores),
                (Site::Cores(cores), _) => stores(config, *cores),
            };
            cycles / config.ghz
        })
    }
}

/// The states of a message's line: the receiver has read it, the sender has written it, or one core is using it.
const EMPTY: u64 = 0;
const FULL: u64 = 1;
const TAKEN: u64 = 2;

/// The messages that count. As many come before them.
const MESSAGES: u64 = 200;

/// A line that holds one message. The state is part of the line, so one store stands for the copy of a message into the
/// line, except by words.
struct Mailbox {
    buffer: Buffer,
    line: usize,
    way: Way,
}

impl Mailbox {
    /// The receiver's core is the line's home.
    fn new(config: &Config, receiver: usize, way: Way) -> Self {
        let machine = config.clone();
        let chosen = spawn(receiver, move || {
            let buffer = Buffer::new(&machine, lines_a_home(&machine));
            let line = buffer.at_home(&machine, receiver, 1)[0];
            (buffer, line)
        });
        let (buffer, line) = chosen.join();
        Self { buffer, line, way }
    }

    /// Waits until the line is in state `from`, copies the message, and puts the line into state `to`.
    fn pass(&self, from: u64, to: u64) {
        let [state, message @ ..] = self.buffer.words(self.line) else {
            return;
        };
        let is_there = || match self.way {
            Way::Cas | Way::Prefetch => state
                .compare_exchange(from, TAKEN, Ordering::Acquire, Ordering::Relaxed)
                .is_ok(),
            Way::Loads | Way::Words => state.load(Ordering::Acquire) == from,
        };
        let mut looks = 0;
        while !is_there() {
            self.way.pause(from == FULL, looks);
            looks += 1;
        }
        for word in message.iter().filter(|_| self.way == Way::Words) {
            match to {
                FULL => word.store(1, Ordering::Relaxed),
                _ => _ = word.load(Ordering::Relaxed),
            }
        }
        state.store(to, Ordering::Release);
    }

    fn send(&self) {
        self.pass(EMPTY, FULL);
    }

    fn receive(&self) {
        self.pass(FULL, EMPTY);
    }
}

/// Returns the cycles from one message to the next. With `answers`, the sender waits for an answer to each message.
fn messages(config: &Config, pair: &Distance, way: Way, answers: bool) -> f64 {
    let there = Arc::new(Mailbox::new(config, pair.holder, way));
    let back = Arc::new(Mailbox::new(config, pair.requester, way));
    let receiver = {
        let (there, back) = (Arc::clone(&there), Arc::clone(&back));
        spawn(pair.holder, move || {
            for _ in 0..2 * MESSAGES {
                there.receive();
                if answers {
                    back.send();
                }
            }
        })
    };
    let sender = spawn(pair.requester, move || {
        let mut begin = 0;
        for message in 0..2 * MESSAGES {
            if message == MESSAGES {
                begin = Simulated::now();
            }
            there.send();
            if answers {
                back.receive();
            }
        }
        Simulated::now() - begin
    });
    let cycles = sender.join();
    receiver.join();
    cycles as f64 / MESSAGES as f64
}

/// Lines for the stores.
const LINES: usize = 100;
/// Instructions before each timed store, during which the effects of other accesses end.
const QUIET: u64 = 4_000;

/// Returns the cycles of a store of core 0 to a line that the first `cores` cores have read. The line is at home as far
/// from core 0 as possible.
fn stores(config: &Config, cores: usize) -> f64 {
    let home = distance::classes(config).last().map_or(0, |far| far.holder);
    let buffer = Arc::new(Buffer::new(config, LINES * lines_a_home(config)));
    let at_home = {
        let (machine, buffer) = (config.clone(), Arc::clone(&buffer));
        spawn(home, move || buffer.at_home(&machine, home, LINES))
    };
    let lines = Arc::new(at_home.join());
    for core in 0..cores {
        let (buffer, lines) = (Arc::clone(&buffer), Arc::clone(&lines));
        let read = move || {
            let words = lines.iter().map(|&line| buffer.line(line));
            words.map(|word| word.load(Ordering::Relaxed)).sum::<u64>()
        };
        spawn(core, read).join();
    }
    let store = move || {
        let each = lines.iter().map(|&line| {
            Simulated::compute(QUIET);
            let begin = Simulated::now();
            buffer.line(line).store(1, Ordering::SeqCst);
            Simulated::now() - begin
        });
        each.collect::<Vec<u64>>()
    };
    mean(spawn(0, store).join()).unwrap_or(f64::NAN)
}

/// How often each thread takes the lock. The first half does not count.
const TURNS: u64 = 20;

/// Returns the cycles of an acquisition and a release of a lock that `cores` cores want.
fn acquisitions(config: &Config, cores: usize) -> f64 {
    // By then the last thread has started.
    let start = Simulated::now() + 2 * cores as u64 * config.os.spawn;
    let lock = Arc::new(TicketLock::<Simulated>::new(cores));
    let threads: Vec<_> = (0..cores)
        .map(|core| {
            let lock = Arc::clone(&lock);
            spawn(core, move || {
                while Simulated::now() < start {
                    Simulated::compute(1_000);
                }
                let mut begin = 0;
                for turn in 0..TURNS {
                    if turn == TURNS / 2 {
                        begin = Simulated::now();
                    }
                    lock.with(core, || ());
                }
                Simulated::now() - begin
            })
        })
        .collect();
    let cycles: u64 = threads.into_iter().map(|thread| thread.join()).sum();
    cycles as f64 / (cores as u64 * TURNS / 2) as f64
}
