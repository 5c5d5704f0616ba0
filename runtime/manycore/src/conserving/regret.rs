//! Bounded regret: default loops take hardly longer than they would if all runs were shared, or if no run were shared,
//! whichever is better. This holds even beside other processes, and if the loops change.
//!
//! The simulated machine runs random series of loops, while other processes (*neighbours*) compute on some cores for a
//! slice of each period. The same program runs three times: as the pool decides, with all runs shared, and with none
//! shared. Times are exact. The neighbours compute at the same times in all three runs of the program. But they
//! interrupt different runs of the loops, because the speed differs.
//!
//! # The property
//!
//! The first 30 runs of a series do not count. If the work changes in its second half, the first 30 runs of that half
//! do not count either. All other runs together take at most [`RATIO`] times as long as the better way, plus the time
//! of [`CALLS`] runs, plus [`SLICES`] slices for each caller. The slices are allowed because the pool cannot foresee
//! that a neighbour will interrupt a helper. If the work changes, both additions are doubled.

use super::fault::{self, Fault};
use super::{number, seeds};
use crate::Builder;
use manycore_chip::config::Config;
use manycore_chip::{Simulated, Simulation};
use manycore_platform::{Atomic, Futex, Platform, ThreadSpec};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc;
use std::time::Duration;

const RATIO: f64 = 1.1;
const CALLS: f64 = 20.0;
const SLICES: f64 = 2.0;
/// The number of runs at the beginning and after a change that do not count.
const LEARNING: usize = 30;
/// The number of cycles in a microsecond.
const US: f64 = 2_500.0;

/// Another process. It repeatedly computes for `busy` cycles and sleeps for `idle` cycles on average.
#[derive(Clone, Copy, Debug)]
struct Neighbour {
    core: usize,
    busy: u64,
    idle: u64,
}

/// A series of calls of one loop.
#[derive(Clone, Copy, Debug)]
struct Work {
    n: usize,
    /// The cycles of an iteration in the first and in the second half of the calls.
    each: [u64; 2],
    /// Whether all iterations write the same cache line.
    fights: bool,
    /// The cycles between two calls.
    gap: u64,
    calls: usize,
}

/// A test case. Each caller runs all series, one after the other.
#[derive(Clone, Debug)]
struct Case {
    cores: usize,
    callers: usize,
    rows: Vec<Work>,
    neighbours: Vec<Neighbour>,
    seed: u64,
}

fn spread(random: &mut fastrand::Rng, low: f64, high: f64) -> f64 {
    low * (high / low).powf(random.f64())
}

fn random_case(seed: u64) -> Case {
    let mut random = fastrand::Rng::with_seed(seed);
    let cores = *random.choice(&[2, 2, 2, 4, 4, 8, 16, 64]).unwrap_or(&2);
    let callers = if random.f64() < 0.7 {
        1
    } else {
        random.usize(2..=4)
    };
    let row = |random: &mut fastrand::Rng| {
        // The loop takes 2 us to 1 ms, so either way may be better.
        let total = spread(random, 2.0, 1_000.0) * US;
        let n = spread(random, 2.0, 4_096.0) as usize;
        let gap = if random.bool() {
            250.0
        } else {
            spread(random, 1.0, 500.0) * US
        };
        let each = |total: f64| ((total / n as f64) as u64).max(1);
        // The loop's work may change later.
        let later = match random.bool() {
            true => total,
            false => spread(random, 2.0, 1_000.0) * US,
        };
        // A case takes about 50 ms of the machine's time.
        let calls = (50_000.0 * US / (total.max(later) + gap)).clamp(150.0, 1_000.0) as usize;
        Work {
            n,
            each: [each(total), each(later)],
            fights: random.f64() < 0.2,
            gap: gap as u64,
            calls,
        }
    };
    let neighbour = |random: &mut fastrand::Rng, core| {
        let busy = spread(random, 100.0, 2_000.0) * US;
        let share = *random.choice(&[0.01, 0.1, 0.5, 1.0]).unwrap_or(&0.1);
        Neighbour {
            core,
            busy: busy as u64,
            idle: (busy * (1.0 / share - 1.0)) as u64,
        }
    };
    let beside = match random.usize(0..4) {
        0 => 0..0,
        3 => 0..cores,
        _ => {
            let core = random.usize(0..cores);
            core..core + 1
        }
    };
    Case {
        cores,
        callers,
        rows: (0..random.usize(1..=2)).map(|_| row(&mut random)).collect(),
        neighbours: beside.map(|core| neighbour(&mut random, core)).collect(),
        seed,
    }
}

impl Work {
    /// Returns the cycles of an iteration in this call.
    fn each(&self, call: usize) -> u64 {
        self.each[usize::from(call >= self.calls / 2)]
    }

    /// Returns the calls that count.
    fn counted(&self) -> impl Iterator<Item = usize> {
        let middle = self.calls / 2;
        let changes = self.each[0] != self.each[1];
        let learns =
            move |call| call < LEARNING || changes && (middle..middle + LEARNING).contains(&call);
        (0..self.calls).filter(move |&call| !learns(call))
    }
}

impl Neighbour {
    fn run(self, stop: &AtomicBool, mut random: fastrand::Rng) {
        let word = <Simulated as Platform>::AtomicU32::new(0);
        let rest = |cycles: u64| {
            if cycles > 0 {
                word.wait(0, Some(Duration::from_nanos((cycles as f64 / 2.5) as u64)));
            }
        };
        rest(random.u64(0..=self.busy + self.idle));
        while !stop.load(Relaxed) {
            let mut left = self.busy;
            while left > 0 && !stop.load(Relaxed) {
                let part = left.min(50_000);
                Simulated::compute(part);
                left -= part;
            }
            rest(self.idle / 2 + random.u64(0..=self.idle));
        }
    }
}

/// Whether the user wants a single seed. Then the pool's decisions are printed.
fn is_single() -> bool {
    number("MANYCORE_SEED").is_some()
}

/// Returns the cycles of each call, by caller and series.
fn run(case: &Case) -> Vec<Vec<Vec<u64>>> {
    let mut machine = Config::preset("graviton2-64").expect("the preset exists");
    (machine.cores, machine.group_cores) = (case.cores as u32, case.cores as u32);
    let (tell, told) = mpsc::channel();
    let case = case.clone();
    let callers = case.callers;
    let run = Simulation::new(&machine).run(move || {
        let stop = Arc::new(AtomicBool::new(false));
        let spawn = |name: String, cpus: Vec<usize>, body: Box<dyn FnOnce() + Send>| {
            let spec = ThreadSpec {
                name,
                cpus,
                ..ThreadSpec::default()
            };
            Simulated::spawn(spec, body).expect("the thread starts")
        };
        let mut random = fastrand::Rng::with_seed(case.seed);
        let neighbours: Vec<_> = case
            .neighbours
            .iter()
            .map(|&neighbour| {
                let (stop, random) = (Arc::clone(&stop), random.fork());
                let body = move || neighbour.run(&stop, random);
                spawn("neighbour".into(), vec![neighbour.core], Box::new(body))
            })
            .collect();
        let pool = Builder::<Simulated>::on_platform()
            .explain(is_single())
            .build_on(case.cores, 1, vec![vec![]; case.cores])
            .expect("the threads start");
        let pool = Arc::new(pool);
        let callers: Vec<_> = (0..case.callers)
            .map(|caller| {
                let (pool, rows, tell) = (Arc::clone(&pool), case.rows.clone(), tell.clone());
                let calls = move || {
                    let line = <Simulated as Platform>::AtomicU64::new(0);
                    let times: Vec<_> = rows
                        .iter()
                        .map(|work| {
                            let call = |call| {
                                let each = work.each(call);
                                Simulated::compute(work.gap);
                                let before = Simulated::now();
                                pool.parallel_for(0..work.n, |_| {
                                    if work.fights {
                                        manycore_platform::AtomicInteger::fetch_add(
                                            &line, 1, Relaxed,
                                        );
                                    }
                                    Simulated::compute(each);
                                });
                                Simulated::now() - before
                            };
                            (0..work.calls).map(call).collect::<Vec<u64>>()
                        })
                        .collect();
                    tell.send((caller, times))
                        .expect("the test receives the times");
                };
                spawn(format!("caller {caller}"), vec![], Box::new(calls))
            })
            .collect();
        callers.into_iter().for_each(Simulated::join);
        pool.decisions()
            .iter()
            .for_each(|decision| print!("{decision}"));
        stop.store(true, Relaxed);
        neighbours.into_iter().for_each(Simulated::join);
    });
    run.expect("the simulation ends");
    let mut times = vec![vec![]; callers];
    told.iter()
        .for_each(|(caller, rows): (usize, _)| times[caller] = rows);
    times
}

/// The times of one series in microseconds a call: as the pool decides, all shared, and none shared.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    decided: f64,
    shared: f64,
    serial: f64,
    /// The time of the runs as the pool decides, divided by the allowed time.
    excess: f64,
}

impl Outcome {
    fn ratio(self) -> f64 {
        self.decided / self.shared.min(self.serial)
    }
}

fn outcomes(case: &Case) -> Vec<Outcome> {
    let all = [
        run(case),
        fault::with(Fault::AlwaysShared, || run(case)),
        fault::with(Fault::AlwaysSerial, || run(case)),
    ];
    let slice = case.neighbours.iter().map(|neighbour| neighbour.busy).max();
    let slice = slice.map_or(0.0, |busy| busy as f64 / US);
    let outcome = |(row, work): (usize, &Work)| {
        let calls = (work.counted().count() * case.callers) as f64;
        let mean = |times: &Vec<Vec<Vec<u64>>>| {
            let of = |rows: &Vec<Vec<u64>>| work.counted().map(|call| rows[row][call]).sum::<u64>();
            times.iter().map(of).sum::<u64>() as f64 / calls / US
        };
        let [decided, shared, serial] = [mean(&all[0]), mean(&all[1]), mean(&all[2])];
        let best = shared.min(serial);
        let slices = SLICES * slice * case.callers as f64;
        let phases = if work.each[0] == work.each[1] {
            1.0
        } else {
            2.0
        };
        let allowed = RATIO * best + phases * (CALLS * best + slices) / calls;
        Outcome {
            decided,
            shared,
            serial,
            excess: decided / allowed,
        }
    };
    case.rows.iter().enumerate().map(outcome).collect()
}

/// The seeds of one run of the test, which stand for machines of 2 to 64 cores. `ci/long.sh random` also runs the
/// seeds after these.
const FIRST: u64 = 12;
const SEEDS: u64 = 10;

/// A loop of 10 to 60 us is called 10,000 times on two cores. As on any machine, a neighbour sometimes takes the
/// second core for 0.3 to 3 ms.
fn hiccups(seed: u64) -> Case {
    let mut random = fastrand::Rng::with_seed(seed);
    let total = spread(&mut random, 10.0, 60.0) * US;
    let n = random.usize(2..=64);
    let busy = spread(&mut random, 300.0, 3_000.0) * US;
    let share = spread(&mut random, 0.02, 0.3);
    Case {
        cores: 2,
        callers: 1,
        rows: vec![Work {
            n,
            each: [(2.5 * total / n as f64) as u64; 2],
            fights: false,
            gap: 250,
            calls: 10_000,
        }],
        neighbours: vec![Neighbour {
            core: 1,
            busy: busy as u64,
            idle: (busy * (1.0 / share - 1.0)) as u64,
        }],
        seed,
    }
}

/// Returns how many series of the cases took longer than allowed, and the number of all series. Also returns the
/// geometric mean of a ratio: the time of the runs as the pool decides, divided by the time of the better way. Prints
/// each series, and a table by cores.
fn measure(cases: impl Iterator<Item = Case>) -> (usize, usize, f64) {
    let mut all: Vec<(usize, Outcome)> = vec![];
    for case in cases {
        for outcome in outcomes(&case) {
            println!(
                "seed {}, {} cores, {} callers: {:.2} of the allowed time; us a call: {:.1} decided, {:.1} shared, {:.1} serial",
                case.seed,
                case.cores,
                case.callers,
                outcome.excess,
                outcome.decided,
                outcome.shared,
                outcome.serial
            );
            all.push((case.cores, outcome));
        }
    }
    for cores in BTreeSet::from_iter(all.iter().map(|row| row.0)) {
        let of_these = all.iter().filter(|row| row.0 == cores);
        let (beyond, rows, mean) = summary(of_these.map(|row| row.1));
        println!(
            "{cores} cores: {beyond} of {rows} series too slow; {mean:.3} of the better way's time on average"
        );
    }
    let (beyond, rows, mean) = summary(all.iter().map(|row| row.1));
    println!("{beyond} of {rows} series too slow; {mean:.3} of the better way's time on average");
    (beyond, rows, mean)
}

fn summary(rows: impl Iterator<Item = Outcome> + Clone) -> (usize, usize, f64) {
    let beyond = rows.clone().filter(|row| row.excess > 1.0).count();
    let count = rows.clone().count();
    let logs: f64 = rows.map(|row| row.ratio().ln()).sum();
    (beyond, count, (logs / count as f64).exp())
}

/// Neighbours interrupt the three programs at different places by chance. So one series in eight may take longer
/// than allowed, but the mean of all must not exceed [`RATIO`].
#[test]
#[cfg_attr(miri, ignore = "simulated threads are coroutines in assembly")]
fn regret_is_bounded() {
    if let Some(seed) = number("MANYCORE_SEED") {
        println!("{:?}", random_case(seed));
        measure(std::iter::once(random_case(seed)));
        return;
    }
    let cases = seeds(SEEDS).map(|seed| random_case(FIRST + seed));
    let (beyond, rows, mean) = measure(cases);
    assert!(beyond * 8 <= rows && mean < RATIO);
}

#[test]
#[cfg_attr(miri, ignore = "simulated threads are coroutines in assembly")]
fn a_helper_that_sometimes_loses_its_core_makes_no_loop_serial() {
    let (beyond, _, mean) = measure((0..4).map(hiccups));
    assert!(beyond == 0 && mean < RATIO);
}

#[test]
#[cfg_attr(miri, ignore = "simulated threads are coroutines in assembly")]
fn a_decision_by_the_mean_is_caught() {
    let (beyond, ..) = fault::with(Fault::MeanDecides, || measure((0..4).map(hiccups)));
    assert!(beyond > 0);
}
