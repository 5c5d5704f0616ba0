//! Random programs that cannot deadlock, and the checks of their runs.

use super::linear::{self, Access};
use super::named;
use fastrand::Rng;
use manycore_chip::config::Config;
use manycore_chip::{Simulated, Simulation, SimulationError, Statistics};
use manycore_platform::{Atomic, AtomicInteger, Futex, Ordering::SeqCst, Platform};
use std::sync::{Arc, Mutex};
use std::time::Duration;

type U32 = <Simulated as Platform>::Futex;
type U64 = <Simulated as Platform>::AtomicU64;

/// The next step of a thread. Words are numbers below [`Program::words`]. No two writes have the
/// same value.
#[derive(Clone, Debug)]
enum Step {
    Load(usize),
    Store(usize),
    Swap(usize),
    /// Replaces the value that this thread saw there last.
    Compare(usize),
    /// Adds to the word's counter.
    Count(usize),
    /// Sets or clears this thread's bit of the word's flags.
    Flag(usize, bool),
    Compute(u64),
    /// Waits for a change since this thread's last look, for this many cycles.
    Spin(usize, u64),
    Sleep(usize, u64),
    Wake(usize, u32),
    Touch(usize, bool),
    Yield,
    Fence,
}

/// A program of several threads over a few words.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) words: usize,
    /// Bytes from one word to the next: less than a line, or more.
    stride: usize,
    threads: Vec<(Vec<usize>, Vec<Step>)>,
}

/// The shared parts of one word: a register, a counter and flags.
struct Shared {
    register: U32,
    counter: U64,
    flags: U64,
}

impl Program {
    /// A program for a machine of `cores`.
    pub(crate) fn random(seed: u64, cores: usize, steps: usize) -> Self {
        let mut rng = Rng::with_seed(seed);
        let threads = rng.usize(2..=16);
        let words = rng.usize(1..=6);
        let stride = [32, 64, 128, 4096][rng.usize(..4)];
        // On few cores, threads share a tile or take turns.
        let span = [2, 4, cores][rng.usize(..3)];
        let crowded = rng.bool();
        let threads = (0..threads)
            .map(|thread| {
                let cpus = match rng.u8(..4) {
                    0 if !crowded => vec![],
                    1 => (0..span.min(cores)).collect(),
                    _ if crowded => vec![rng.usize(..span.min(cores))],
                    _ => vec![thread % cores],
                };
                let steps = (0..steps).map(|_| Step::random(&mut rng, words)).collect();
                (cpus, steps)
            })
            .collect();
        Self {
            words,
            stride,
            threads,
        }
    }

    /// Runs the program and checks the run.
    pub(crate) fn run(&self, machine: &Config) -> Result<Statistics, SimulationError> {
        self.run_on(machine, Simulation::new(machine))
    }

    /// As `run`, with `simulation`, which is on `machine`.
    pub(crate) fn run_on(
        &self,
        machine: &Config,
        simulation: Simulation,
    ) -> Result<Statistics, SimulationError> {
        let simulation = simulation.limit(1 << 40);
        let run = simulation.run(|| self.main())?;
        let (accesses, counts, flags) = run.value;
        let name = &machine.name;
        for (word, accesses) in accesses.iter().enumerate() {
            if let Err(what) = linear::check(0, accesses) {
                panic!("{name}: word {word}: {what}\n{self:?}");
            }
        }
        let counted = self.steps(|step| matches!(step, Step::Count(_)));
        assert_eq!(counts, counted as u64, "{name}: counts");
        assert_eq!(flags, self.flags(), "{name}: flags");
        let report = &run.statistics.report;
        for (core, spent) in report.cores.iter().enumerate() {
            assert_eq!(spent.sum(), run.statistics.cycles, "{name}: core {core}");
        }
        Ok(run.statistics)
    }

    fn steps(&self, is: impl Fn(&Step) -> bool) -> usize {
        let steps = self.threads.iter().flat_map(|(_, steps)| steps);
        steps.filter(|step| is(step)).count()
    }

    /// The expected flags at the end: each thread's last setting.
    fn flags(&self) -> Vec<u64> {
        let mut flags = vec![0; self.words];
        for (thread, (_, steps)) in self.threads.iter().enumerate() {
            for step in steps {
                match *step {
                    Step::Flag(word, true) => flags[word] |= 1 << thread,
                    Step::Flag(word, false) => flags[word] &= !(1 << thread),
                    _ => {}
                }
            }
        }
        flags
    }

    fn main(&self) -> (Vec<Vec<Access>>, u64, Vec<u64>) {
        let memory = Arc::new(Memory::new(self.words, self.stride));
        let log = Arc::new(Mutex::new(vec![Vec::new(); self.words]));
        let spawn = |(thread, (cpus, steps)): (usize, &(Vec<usize>, Vec<Step>))| {
            let (memory, log, steps) = (Arc::clone(&memory), Arc::clone(&log), steps.clone());
            let body = move || {
                let mut one = Thread::new(thread, &memory, &log);
                steps.iter().for_each(|step| one.take(step));
            };
            named(&format!("thread {thread}"), cpus.clone(), body)
        };
        let team: Vec<_> = self.threads.iter().enumerate().map(spawn).collect();
        team.into_iter().for_each(Simulated::join);
        let words = (0..self.words).map(|word| memory.word(word));
        let counts = words.clone().map(|word| word.counter.load(SeqCst)).sum();
        let flags = words.map(|word| word.flags.load(SeqCst)).collect();
        (std::mem::take(&mut *log.lock().unwrap()), counts, flags)
    }
}

impl Step {
    fn random(rng: &mut Rng, words: usize) -> Self {
        let word = rng.usize(..words);
        match rng.u8(..32) {
            0..8 => Self::Load(word),
            8..12 => Self::Store(word),
            12 => Self::Swap(word),
            13..15 => Self::Compare(word),
            15..17 => Self::Count(word),
            17..19 => Self::Flag(word, rng.bool()),
            19..24 => Self::Compute(rng.u64(..60)),
            24 => Self::Compute(rng.u64(..20_000)),
            25..27 => Self::Spin(word, rng.u64(..3_000)),
            27 => Self::Sleep(word, rng.u64(..5_000)),
            28 => Self::Wake(word, rng.u32(1..4)),
            29 => Self::Touch(word, rng.bool()),
            30 => Self::Yield,
            _ => Self::Fence,
        }
    }
}

/// The words, `stride` bytes apart. An array of structs would put all words in one line, or each in its own.
struct Memory {
    block: Vec<u64>,
    stride: usize,
}

impl Memory {
    fn new(words: usize, stride: usize) -> Self {
        Self {
            block: vec![0; (words * stride).div_ceil(8)],
            stride,
        }
    }

    fn word(&self, word: usize) -> &Shared {
        let at = word * self.stride;
        assert!(size_of::<Shared>() <= self.stride);
        // SAFETY: inside the block, aligned to eight bytes. Zeros are a valid `Shared`, since its
        // fields are atomics, and all writes to the block go through them.
        unsafe { &*self.block.as_ptr().byte_add(at).cast() }
    }
}

struct Thread<'a> {
    number: usize,
    memory: &'a Memory,
    log: &'a Mutex<Vec<Vec<Access>>>,
    seen: Vec<u32>,
    written: u32,
}

impl<'a> Thread<'a> {
    fn new(number: usize, memory: &'a Memory, log: &'a Mutex<Vec<Vec<Access>>>) -> Self {
        Self {
            number,
            memory,
            log,
            seen: vec![0; log.lock().unwrap().len()],
            written: 0,
        }
    }

    /// A value that no thread has written before.
    fn fresh(&mut self) -> u32 {
        self.written += 1;
        (self.number as u32 + 1) << 16 | self.written
    }

    /// Makes one access to a register, and notes the values that it read and wrote, if any.
    fn access(&mut self, word: usize, access: impl FnOnce(&U32) -> (Option<u32>, Option<u32>)) {
        let start = Simulated::now();
        let (read, wrote) = access(&self.memory.word(word).register);
        let end = Simulated::now();
        if let Some(value) = wrote.or(read) {
            self.seen[word] = value;
        }
        self.log.lock().unwrap()[word].push(Access {
            thread: self.number,
            start,
            end,
            read,
            wrote,
        });
    }

    fn take(&mut self, step: &Step) {
        let new = self.fresh();
        let shared = |word| self.memory.word(word);
        match *step {
            Step::Load(word) => self.access(word, |register| (Some(register.load(SeqCst)), None)),
            Step::Store(word) => self.access(word, |register| {
                register.store(new, SeqCst);
                (None, Some(new))
            }),
            Step::Swap(word) => self.access(word, |register| {
                (Some(register.swap(new, SeqCst)), Some(new))
            }),
            Step::Compare(word) => {
                let old = self.seen[word];
                self.access(word, |register| {
                    match register.compare_exchange(old, new, SeqCst, SeqCst) {
                        Ok(read) => (Some(read), Some(new)),
                        Err(read) => (Some(read), None),
                    }
                });
            }
            Step::Count(word) => {
                shared(word).counter.fetch_add(1, SeqCst);
            }
            Step::Flag(word, true) => {
                shared(word).flags.fetch_or(1 << self.number, SeqCst);
            }
            Step::Flag(word, false) => {
                shared(word).flags.fetch_and(!(1 << self.number), SeqCst);
            }
            Step::Compute(instructions) => Simulated::compute(instructions),
            Step::Spin(word, patience) => {
                let seen = self.seen[word];
                self.access(word, |register| {
                    let until = Simulated::now() + patience;
                    let read = Simulated::spin_while(register, seen, until);
                    (Some(read), None)
                });
            }
            Step::Sleep(word, cycles) => {
                let time = Simulated::ticks_to_ns(cycles) as u64;
                let register = &shared(word).register;
                register.wait(self.seen[word], Some(Duration::from_nanos(time)));
            }
            Step::Wake(word, count) => {
                shared(word).register.wake(count);
            }
            Step::Touch(word, write) => {
                if write {
                    Simulated::write(&mut self.seen);
                } else {
                    Simulated::read(std::slice::from_ref(shared(word)));
                }
            }
            Step::Yield => Simulated::yield_now(),
            Step::Fence => Simulated::fence(SeqCst),
        }
    }
}
