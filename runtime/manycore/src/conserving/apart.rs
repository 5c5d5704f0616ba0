//! If a pool has a core for each worker, its workers run on different cores. This must hold even if the system leaves
//! a woken thread on the core where it fell asleep, although another thread is busy on that core.
//!
//! Random programs run on simulated machines with such wake-ups ([`Os::sticky_wakes`]). First, all workers sleep
//! on one core, which may be the caller's. Then the program runs joins, scopes or loops. All runs together may
//! take at most [`MOST`] times as long as on a machine whose wake-ups find idle cores.
//!
//! [`Os::sticky_wakes`]: manycore_chip::config::Os::sticky_wakes

use super::fault::{self, Fault};
use super::seeds;
use crate::{Builder, Pool};
use manycore_chip::config::Config;
use manycore_chip::{Simulated, Simulation};
use manycore_platform::Platform;
use std::sync::mpsc;

/// Seeds of one run of the test.
const SEEDS: u64 = 40;
/// The number of instructions that take about a microsecond.
const US: u64 = 2_500;
/// The greatest accepted ratio of a program's time to its time on a machine whose wake-ups find idle cores.
const MOST: f64 = 1.25;
/// A program that takes more cycles counts as hanging.
const LIMIT: u64 = 1 << 33;

#[derive(Clone, Copy, Debug)]
enum Kind {
    Joins,
    Scope,
    Loop,
}

#[derive(Clone, Debug)]
struct Case {
    cores: usize,
    threads: usize,
    /// All workers fall asleep on this core.
    pile: usize,
    kind: Kind,
    /// The number of pieces of a run, and the instructions of each piece.
    pieces: usize,
    each: u64,
    runs: usize,
    gap: u64,
}

fn random_case(seed: u64) -> Case {
    let mut random = fastrand::Rng::with_seed(seed);
    let cores = 1 << random.u32(1..5);
    let threads = random.usize(2..=cores);
    Case {
        cores,
        threads,
        pile: random.usize(0..2) * random.usize(0..cores),
        kind: [Kind::Joins, Kind::Scope, Kind::Loop][random.usize(0..3)],
        pieces: threads * (1 << random.u32(2..6)),
        each: US << random.u32(1..6),
        runs: random.usize(10..40),
        gap: [0, 1, 100, 1000][random.usize(0..4)] * US,
    }
}

fn joins(pool: &Pool<Simulated>, pieces: usize, each: u64) {
    if pieces == 1 {
        return Simulated::compute(each);
    }
    let half = pieces / 2;
    pool.join(
        || joins(pool, half, each),
        || joins(pool, pieces - half, each),
    );
}

fn call(case: &Case, pool: &Pool<Simulated>) {
    match case.kind {
        Kind::Joins => joins(pool, case.pieces, case.each),
        Kind::Scope => pool.scope(|scope| {
            (0..case.pieces).for_each(|_| scope.spawn(|_| Simulated::compute(case.each)));
        }),
        Kind::Loop => pool.parallel_for(0..case.pieces, |_| Simulated::compute(case.each)),
    }
}

/// Returns the cycles of all runs.
fn run(case: &Case, sticky: bool) -> Result<u64, String> {
    let mut machine = Config::preset("graviton2-64").expect("the preset exists");
    (machine.cores, machine.group_cores) = (case.cores as u32, case.cores as u32);
    machine.os.sticky_wakes = Some(sticky);
    let (tell, told) = mpsc::channel();
    let case = case.clone();
    let ended = Simulation::new(&machine).limit(LIMIT).run(move || {
        let pool = Builder::<Simulated>::on_platform()
            .build_on(case.cores, 1, vec![vec![]; case.threads])
            .expect("the threads start");
        let confine = |cores: &[usize]| {
            Simulated::set_affinity(Simulated::this_thread(), cores)
                .expect("the machine has these cores");
        };
        pool.broadcast(|_| confine(&[case.pile]));
        pool.broadcast(|_| confine(&[]));
        // This computation is long enough for all workers to fall asleep.
        Simulated::compute(20_000 * US);
        let run = || {
            Simulated::compute(case.gap);
            let before = Simulated::now();
            call(&case, &pool);
            Simulated::now() - before
        };
        let cycles = (0..case.runs).map(|_| run()).sum();
        tell.send(cycles).expect("the test receives the times");
    });
    ended.map_err(|error| error.to_string())?;
    told.recv().map_err(|error| error.to_string())
}

/// Returns why a case fails, if it does.
fn failure(case: &Case) -> Option<String> {
    let times = run(case, true).and_then(|sticky| Ok((sticky, run(case, false)?)));
    match times {
        Err(error) => Some(error),
        Ok((sticky, found)) => {
            let ratio = sticky as f64 / found as f64;
            (ratio > MOST).then(|| format!("{ratio:.2}: {sticky} instead of {found} cycles"))
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "simulated threads are coroutines in assembly")]
fn workers_run_apart_where_wake_ups_are_sticky() {
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
fn workers_that_stay_on_the_callers_core_are_caught() {
    let fails = || (0..SEEDS).any(|seed| failure(&random_case(seed)).is_some());
    assert!(fault::with(Fault::StaysBehind, fails));
}
