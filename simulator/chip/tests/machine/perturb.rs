//! Misses and dispatches of threads that are randomly late. Each seed gives another run, and each run is deterministic.

use crate::support::program::Program;
use crate::support::{machine, machines, spawn};
use fastrand::Rng;
use manycore_chip::config::Config;
use manycore_chip::{Simulated, Simulation, Statistics};
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Ordering::SeqCst, Platform};
use std::sync::Arc;

type Word = <Simulated as Platform>::AtomicU64;

fn perturbed(machine: &Config, most: u64, seed: u64) -> Config {
    let mut machine = machine.clone();
    machine.set(&format!("perturb={most}")).unwrap();
    machine.set(&format!("perturb-seed={seed}")).unwrap();
    machine
}

/// Threads race for a few words. The sums do not depend on the order.
fn race(machine: &Config) -> (Vec<u64>, Statistics) {
    let cores = (machine.cores as usize).min(12);
    let run = Simulation::new(machine).limit(1 << 40).run(move || {
        let words: Vec<_> = (0..3).map(|_| CachePadded::new(Word::new(0))).collect();
        let words = Arc::new(words);
        let threads: Vec<_> = (0..cores)
            .map(|core| {
                let words = Arc::clone(&words);
                spawn(core, move || {
                    for turn in 0..40 {
                        words[(core + turn) % 3].fetch_add(1 + core as u64, SeqCst);
                        Simulated::compute(5 * (1 + core as u64));
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(Simulated::join);
        words.iter().map(|word| word.load(SeqCst)).collect()
    });
    let run = run.unwrap();
    (run.value, run.statistics)
}

#[test]
fn without_lateness_every_hash_is_as_it_was() {
    for (at, (name, machine)) in machines().into_iter().enumerate() {
        let program = Program::random(at as u64, machine.cores as usize, 60);
        let hash = |machine: &Config| program.run(machine).unwrap().hash;
        assert_eq!(hash(&machine), hash(&perturbed(&machine, 0, 9)), "{name}");
    }
}

#[test]
fn a_seed_decides_the_run_and_no_seed_changes_its_result() {
    for (name, machine) in machines() {
        let (result, usual) = race(&machine);
        let mut hashes = vec![usual.hash];
        for seed in 1..=4 {
            let machine = perturbed(&machine, 3, seed);
            let (found, statistics) = race(&machine);
            assert_eq!(found, result, "{name}, seed {seed}");
            assert_eq!(
                race(&machine).1.hash,
                statistics.hash,
                "{name}, seed {seed}"
            );
            hashes.push(statistics.hash);
        }
        let runs = hashes.len();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), runs, "{name}: other seeds, other hashes");
    }
}

/// Random programs check their own results, and that memory is sequentially consistent.
#[test]
fn random_programs_are_right_under_every_seed() {
    for (at, (_, machine)) in machines().into_iter().enumerate() {
        for seed in 1..=3 {
            let program = Program::random(100 + at as u64, machine.cores as usize, 60);
            let machine = perturbed(&machine, seed * seed * seed, seed);
            program.run(&machine).unwrap();
        }
    }
}

/// Returns the cycles of each access by one core that waits for every access.
fn latencies(machine: &Config, seed: u64) -> Vec<u64> {
    let run = Simulation::new(machine).run(move || {
        let mut rng = Rng::with_seed(seed);
        let words: Vec<_> = (0..64).map(|_| CachePadded::new(Word::new(0))).collect();
        let accesses = (0..400).map(|_| {
            let word = &words[rng.usize(..64)];
            let before = Simulated::now();
            if rng.bool() {
                word.load(SeqCst);
            } else {
                word.fetch_add(1, SeqCst);
            }
            Simulated::now() - before
        });
        accesses.collect()
    });
    run.unwrap().value
}

#[test]
fn no_access_is_faster_and_none_later_than_by_the_most() {
    for preset in ["atac-64", "gold5225r", "westmere-ex", "graviton-a72"] {
        // There are no interrupts, since they come between other accesses in another run.
        let mut machine = machine(preset, &["os.tick=1_000_000_000"]);
        machine.core.overlap = None;
        let mut late = 0;
        for seed in 0..5 {
            let usual = latencies(&machine, seed);
            let most = [1, 2, 7][seed as usize % 3];
            let with = latencies(&perturbed(&machine, most, seed), seed);
            for (&before, &after) in usual.iter().zip(&with) {
                assert!(
                    (before..=before + most).contains(&after),
                    "{preset}: {before}, {after}"
                );
                late += u64::from(after > before);
            }
        }
        assert!(late > 20, "{preset}: {late}");
    }
}

/// Two threads on one core only compute. Returns when each has run its last part, and the hash.
fn turns(machine: &Config) -> ([u64; 2], u64) {
    let run = Simulation::new(machine).run(|| {
        let threads = [(); 2].map(|()| {
            spawn(1, || {
                for _ in 0..200 {
                    Simulated::compute(1_000);
                    Simulated::yield_now();
                }
            })
        });
        threads.map(|thread| {
            Simulated::join(thread);
            Simulated::now()
        })
    });
    let run = run.unwrap();
    (run.value, run.statistics.hash)
}

#[test]
fn each_dispatch_is_late_by_its_seed() {
    let machine = machine("atac-64", &["os.tick=1_000_000_000"]);
    let ([_, usual], hash) = turns(&machine);
    assert_eq!(hash, turns(&perturbed(&machine, 0, 9)).1);
    let ends = [1, 2, 3].map(|seed| {
        let machine = perturbed(&machine, 8, seed);
        let (times, hash) = turns(&machine);
        assert_eq!((times, hash), turns(&machine));
        times[1]
    });
    // Misses alone are too few: 400 dispatches are late by up to 8 cycles.
    for end in ends {
        assert!(
            (usual + 500..=usual + 3_300).contains(&end),
            "{usual}, {ends:?}"
        );
    }
    assert!(ends[0] != ends[1] || ends[1] != ends[2], "{ends:?}");
}
