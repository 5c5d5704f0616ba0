//! If the iterations of a loop wait for one another and do not outnumber the threads, all iterations must begin. This
//! must hold whatever the pool has learnt about the loop, on all machines, and with more threads than cores. It must
//! also hold in nested loops, and in a pool that may use few of its threads for a while.
//!
//! Random series of loops run on the simulated machine. Each series is one loop: quick runs, from which the pool
//! learns, and then a run in which all iterations meet. That run may take at most [`LATE`] cycles. In this time
//! the monitor must notice that the caller makes no progress.

use super::fault::{self, Fault};
use super::seeds;
use super::world::sleep;
use crate::{Builder, Pool};
use manycore_chip::config::Config;
use manycore_chip::{Simulated, Simulation};
use manycore_cores::elastic::Allotment;
use manycore_platform::{Atomic, AtomicInteger, Futex, Ordering, Platform, ThreadSpec};
use std::sync::mpsc;

/// Seeds of one run of the test.
const SEEDS: u64 = 20;
/// The number of cycles in a microsecond.
const US: u64 = 2_500;
/// The longest time that a meeting may take: two ticks of the monitor, and the same time for threads that wait for a
/// core.
const LATE: u64 = 8_000 * US;
/// The allotment allows few threads for this many cycles, which are far fewer than [`LATE`].
const SHORTAGE: u64 = 1_000 * US;
/// A program that takes more cycles counts as hanging.
const LIMIT: u64 = 1 << 33;

#[derive(Clone, Debug)]
struct Row {
    n: usize,
    /// The number of quick runs, and the cycles of their iterations.
    runs: usize,
    each: u64,
    gap: u64,
    /// If more than 1, an outer loop of this many iterations calls the loop, and in one of these calls the iterations
    /// meet.
    outer: usize,
    /// Whether the loop is a reduction.
    sums: bool,
}

#[derive(Clone, Debug)]
struct Case {
    cores: usize,
    groups: usize,
    threads: usize,
    /// If the pool follows an allotment, the number of threads that the allotment allows when the iterations begin to
    /// meet. Somewhat later it allows all threads.
    allowed: Option<usize>,
    rows: Vec<Row>,
}

fn random_case(seed: u64) -> Case {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut pick = |of: &[usize]| *random.choice(of).unwrap_or(&2);
    let cores = pick(&[2, 2, 4, 4, 8, 16, 32, 64]);
    let groups = pick(&[1, 1, 2, 4, 8]).min(cores / 2);
    let threads = match groups {
        1 => cores * pick(&[1, 1, 2]),
        _ => cores,
    };
    let row = |random: &mut fastrand::Rng| {
        let outer = if random.u8(0..4) == 0 { 2 } else { 1 };
        Row {
            n: random.usize(2..=threads),
            runs: random.usize(0..40),
            each: 1 << random.u32(3..15),
            gap: random.u64(1..100) * US,
            outer,
            sums: random.bool(),
        }
    };
    let allowed = (groups == 1 && random.bool()).then(|| random.usize(1..=2));
    Case {
        cores,
        groups,
        threads,
        allowed,
        rows: (0..random.usize(1..=3)).map(|_| row(&mut random)).collect(),
    }
}

type Word = <Simulated as Platform>::Futex;

/// An allotment that allows `few` threads for a while, and then `all`.
struct Shrinks {
    allotment: Allotment<Simulated>,
    few: usize,
    all: usize,
}

impl Shrinks {
    /// Starts the thread that ends the shortage.
    fn begin(&self) -> <Simulated as Platform>::Thread {
        self.allotment.set(self.few);
        let (allotment, all) = (self.allotment.clone(), self.all);
        let body = move || {
            sleep(SHORTAGE);
            allotment.set(all);
        };
        Simulated::spawn(ThreadSpec::default(), Box::new(body)).expect("the thread starts")
    }
}

/// Waits until `n` threads have called this.
fn meet(arrived: &Word, n: usize) {
    let mut seen = arrived.fetch_add(1, Ordering::AcqRel) + 1;
    if seen as usize == n {
        arrived.wake(u32::MAX);
    }
    while (seen as usize) < n {
        arrived.wait(seen, None);
        seen = arrived.load(Ordering::Acquire);
    }
}

impl Row {
    /// Calls the loop once. If there is an `arrived`, the iterations meet at that word.
    fn call(&self, pool: &Pool<Simulated>, arrived: Option<&Word>) {
        let item = |_| match arrived {
            Some(arrived) => meet(arrived, self.n),
            None => Simulated::compute(self.each),
        };
        if self.sums {
            let one = |index| {
                item(index);
                1
            };
            assert_eq!(pool.map_reduce(0..self.n, || 0, one, |a, b| a + b), self.n);
        } else {
            pool.parallel_for(0..self.n, item);
        }
    }

    /// Makes the quick runs and the meeting. Returns the cycles of the meeting.
    fn run(&self, pool: &Pool<Simulated>, shrinks: Option<&Shrinks>) -> u64 {
        let call = |arrived: Option<&Word>| match self.outer {
            1 => self.call(pool, arrived),
            outer => pool.parallel_for(0..outer, |index| {
                self.call(pool, arrived.filter(|_| index == 0));
            }),
        };
        for _ in 0..self.runs {
            call(None);
            Simulated::compute(self.gap);
        }
        let (before, arrived) = (Simulated::now(), Word::new(0));
        let grows = shrinks.map(Shrinks::begin);
        call(Some(&arrived));
        let took = Simulated::now() - before;
        grows.into_iter().for_each(Simulated::join);
        took
    }
}

/// Returns the cycles of each meeting.
fn run(case: &Case) -> Result<Vec<u64>, String> {
    let mut machine = Config::preset("graviton2-64").expect("the preset exists");
    let cores = case.cores as u32;
    (machine.cores, machine.group_cores) = (cores, cores / case.groups as u32);
    let (tell, told) = mpsc::channel();
    let case = case.clone();
    let ended = Simulation::new(&machine).limit(LIMIT).run(move || {
        let cpus = |thread| match case.groups {
            1 => vec![],
            _ => vec![thread],
        };
        let shrinks = case.allowed.map(|few| Shrinks {
            allotment: Allotment::new(case.threads),
            few,
            all: case.threads,
        });
        let mut builder = Builder::<Simulated>::on_platform();
        if let Some(Shrinks { allotment, .. }) = &shrinks {
            builder = builder.follow(allotment);
        }
        let pool = builder
            .build_on(
                case.cores,
                case.groups,
                (0..case.threads).map(cpus).collect(),
            )
            .expect("the threads start");
        let run = |row: &Row| row.run(&pool, shrinks.as_ref());
        let times: Vec<u64> = case.rows.iter().map(run).collect();
        tell.send(times).expect("the test receives the times");
    });
    ended.map_err(|error| error.to_string())?;
    told.recv().map_err(|error| error.to_string())
}

/// Returns why a case fails, if it does.
fn failure(case: &Case) -> Option<String> {
    match run(case) {
        Err(error) => Some(error),
        Ok(times) => {
            let late = times.iter().max().is_some_and(|&longest| longest > LATE);
            late.then(|| format!("late: {times:?} cycles"))
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "simulated threads are coroutines in assembly")]
fn iterations_meet_whatever_the_pool_has_learnt() {
    let failed = |seed| Some((seed, failure(&random_case(seed))?));
    let failed: Vec<_> = seeds(SEEDS).filter_map(failed).collect();
    if let Some((seed, why)) = failed.first() {
        let all: Vec<_> = failed.iter().map(|&(seed, _)| seed).collect();
        panic!(
            "MANYCORE_SEED={seed} of {all:?}: {why}\n{:#?}",
            random_case(*seed)
        );
    }
}

#[test]
#[cfg_attr(miri, ignore = "simulated threads are coroutines in assembly")]
fn an_unwatched_caller_is_caught() {
    let fails = || (0..SEEDS).any(|seed| failure(&random_case(seed)).is_some());
    assert!(fault::with(Fault::Unwatched, fails));
}
