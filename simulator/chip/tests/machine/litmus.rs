//! Litmus tests: the machine's outcomes are sequentially consistent, although accesses interleave in many ways.
//!
//! Each test is a handful of accesses by a few threads. This file enumerates the outcomes of all interleavings. The
//! machine then runs each test hundreds of times, with lines in random states at the beginning and a random delay
//! before each access.

use crate::support::{compute_until, machines, spawn, times};
use fastrand::Rng;
use manycore_chip::config::Config;
use manycore_chip::{Simulated, Simulation};
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Ordering::SeqCst, Platform};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

type Word = <Simulated as Platform>::Futex;

#[derive(Clone, Copy, Debug)]
enum Access {
    Write(usize, u32),
    Read(usize),
}
use Access::{Read, Write};

const X: usize = 0;
const Y: usize = 1;
const WORDS: usize = 2;

/// A name, the accesses of each thread, and the least number of outcomes that a machine must show.
type Litmus = (&'static str, &'static [&'static [Access]], usize);

const TESTS: &[Litmus] = &[
    (
        "store buffering",
        &[&[Write(X, 1), Read(Y)], &[Write(Y, 1), Read(X)]],
        3,
    ),
    (
        "message passing",
        &[&[Write(X, 1), Write(Y, 1)], &[Read(Y), Read(X)]],
        3,
    ),
    (
        "load buffering",
        &[&[Read(X), Write(Y, 1)], &[Read(Y), Write(X, 1)]],
        3,
    ),
    (
        "2+2W",
        &[&[Write(X, 1), Write(Y, 2)], &[Write(Y, 1), Write(X, 2)]],
        3,
    ),
    ("CoRR", &[&[Write(X, 1)], &[Read(X), Read(X)]], 3),
    (
        "CoWW",
        &[&[Write(X, 1), Write(X, 2)], &[Read(X), Read(X)]],
        5,
    ),
    ("CoRW", &[&[Read(X), Write(X, 1)], &[Write(X, 2)]], 3),
    (
        "CoWR",
        &[&[Write(X, 1), Read(X)], &[Write(X, 2), Read(X)]],
        4,
    ),
    (
        "IRIW",
        &[
            &[Write(X, 1)],
            &[Write(Y, 1)],
            &[Read(X), Read(Y)],
            &[Read(Y), Read(X)],
        ],
        10,
    ),
    (
        "write-to-read causality",
        &[&[Write(X, 1)], &[Read(X), Write(Y, 1)], &[Read(Y), Read(X)]],
        6,
    ),
];

/// All values that were read, thread by thread, and then the final words.
type Outcome = Vec<u32>;

/// The outcomes of all interleavings.
fn possible(threads: &[&[Access]]) -> BTreeSet<Outcome> {
    let mut outcomes = BTreeSet::new();
    let reads = vec![Vec::new(); threads.len()];
    interleave(
        threads,
        &mut vec![0; threads.len()],
        [0; WORDS],
        reads,
        &mut outcomes,
    );
    outcomes
}

fn interleave(
    threads: &[&[Access]],
    done: &mut Vec<usize>,
    words: [u32; WORDS],
    reads: Vec<Vec<u32>>,
    outcomes: &mut BTreeSet<Outcome>,
) {
    let mut over = true;
    for thread in 0..threads.len() {
        let Some(access) = threads[thread].get(done[thread]) else {
            continue;
        };
        over = false;
        let (mut words, mut reads) = (words, reads.clone());
        match *access {
            Write(word, value) => words[word] = value,
            Read(word) => reads[thread].push(words[word]),
        }
        done[thread] += 1;
        interleave(threads, done, words, reads, outcomes);
        done[thread] -= 1;
    }
    if over {
        outcomes.insert(reads.into_iter().flatten().chain(words).collect());
    }
}

/// The data that the threads of one machine share. The threads run one round after another.
struct Table {
    words: [CachePadded<Word>; WORDS],
    arrived: CachePadded<Word>,
    round: CachePadded<Word>,
    seen: Mutex<Vec<Vec<u32>>>,
    cpi: f64,
}

/// After this many cycles, all threads have left a barrier.
const APART: u64 = 4_000;

impl Table {
    fn new(threads: usize, cpi: f64) -> Self {
        Self {
            words: [0, 0].map(|value| CachePadded::new(Word::new(value))),
            arrived: CachePadded::new(Word::new(0)),
            round: CachePadded::new(Word::new(0)),
            seen: Mutex::new(vec![Vec::new(); threads]),
            cpi,
        }
    }

    /// Returns in all threads at nearly the same cycle.
    fn meet(&self, threads: usize) {
        let round = self.round.load(SeqCst);
        if self.arrived.fetch_add(1, SeqCst) as usize + 1 == threads {
            self.arrived.store(0, SeqCst);
            self.round.store(round + 1, SeqCst);
        } else {
            while self.round.load(SeqCst) == round {
                Simulated::spin_while(&self.round, round, u64::MAX);
            }
        }
        let start = Simulated::now().next_multiple_of(APART);
        let start = start
            + if start - Simulated::now() < APART / 2 {
                APART
            } else {
                0
            };
        compute_until(start, self.cpi);
    }

    /// Reads or writes lines on this core, at random.
    fn warm(&self, rng: &mut Rng) {
        for word in &self.words {
            match rng.u8(..4) {
                0 => {}
                1 => word.store(0, SeqCst),
                _ => {
                    word.load(SeqCst);
                }
            }
        }
    }

    /// One access, by a random operation of its kind.
    fn access(&self, access: Access, rng: &mut Rng) -> Option<u32> {
        match access {
            Write(word, value) => {
                let word = &self.words[word];
                match rng.u8(..4) {
                    0 => {
                        word.swap(value, SeqCst);
                    }
                    1 => {
                        let mut old = word.load(SeqCst);
                        while let Err(now) = word.compare_exchange(old, value, SeqCst, SeqCst) {
                            old = now;
                        }
                    }
                    _ => word.store(value, SeqCst),
                }
                None
            }
            Read(word) => {
                let word = &self.words[word];
                Some(match rng.u8(..4) {
                    0 => word.fetch_add(0, SeqCst),
                    1 => word.fetch_or(0, SeqCst),
                    _ => word.load(SeqCst),
                })
            }
        }
    }
}

const ROUNDS: usize = 300;

/// The outcomes that `machine` shows.
fn observe(
    machine: &Config,
    threads: &'static [&'static [Access]],
    seed: u64,
) -> BTreeSet<Outcome> {
    let cores = machine.cores as usize;
    let program = || {
        let mut rng = Rng::with_seed(seed);
        let table = Arc::new(Table::new(threads.len(), machine.core.cpi));
        let outcomes = Arc::new(Mutex::new(BTreeSet::new()));
        let first = rng.usize(..cores);
        let step = if rng.bool() { 1 } else { cores / threads.len() };
        let spawn = |(number, &accesses): (usize, &&'static [Access])| {
            let (table, outcomes) = (Arc::clone(&table), Arc::clone(&outcomes));
            let mut rng = rng.fork();
            let body = move || {
                for _ in 0..ROUNDS {
                    table.meet(threads.len());
                    table.warm(&mut rng);
                    table.meet(threads.len());
                    let longest = 1 << rng.u32(..12);
                    let mut reads = Vec::new();
                    for &access in accesses {
                        Simulated::compute(rng.u64(..longest));
                        reads.extend(table.access(access, &mut rng));
                    }
                    table.seen.lock().unwrap()[number] = reads;
                    table.meet(threads.len());
                    if number == 0 {
                        let mut outcome = table.seen.lock().unwrap().concat();
                        for word in &table.words {
                            outcome.push(word.swap(0, SeqCst));
                        }
                        outcomes.lock().unwrap().insert(outcome);
                    }
                }
            };
            spawn((first + number * step) % cores, body)
        };
        let team: Vec<_> = threads.iter().enumerate().map(spawn).collect();
        team.into_iter().for_each(Simulated::join);
        let outcomes = outcomes.lock().unwrap();
        outcomes.clone()
    };
    Simulation::new(machine)
        .limit(1 << 40)
        .run(program)
        .unwrap()
        .value
}

#[test]
fn outcomes_are_sequentially_consistent() {
    for (at, (name, machine)) in machines().into_iter().enumerate() {
        for &(test, threads, least) in TESTS {
            let possible = possible(threads);
            let mut seen = BTreeSet::new();
            for seed in 0..times() {
                seen.extend(observe(&machine, threads, seed * 1_000 + at as u64));
            }
            let wrong: Vec<_> = seen.difference(&possible).collect();
            assert!(wrong.is_empty(), "{name}: {test}: {wrong:?}");
            let count = seen.len();
            assert!(
                count >= least,
                "{name}: {test}: only {seen:?} of {possible:?}"
            );
        }
    }
}

/// The enumeration excludes outcomes that are not sequentially consistent.
#[test]
fn what_weaker_machines_show_is_not_possible() {
    let possible = |test: usize| possible(TESTS[test].1);
    assert!(!possible(0).contains(&vec![0, 0, 1, 1])); // store buffering
    assert!(!possible(1).contains(&vec![1, 0, 1, 1])); // message passing
    assert!(!possible(2).contains(&vec![1, 1, 1, 1])); // load buffering
    assert!(!possible(3).contains(&vec![1, 1])); // 2+2W
    assert!(!possible(8).contains(&vec![1, 0, 1, 0, 1, 1])); // IRIW
    assert_eq!(possible(0).len(), 3);
    assert_eq!(possible(8).len(), 15);
}
