//! What counters and lines say about requests that pass through several core groups.

use crate::support::{compute_until, machine, spawn};
use manycore_chip::config::Config;
use manycore_chip::{Counters, Simulated, Simulation};
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Ordering::SeqCst, Platform};
use std::sync::Arc;

type Word = <Simulated as Platform>::AtomicU64;

/// Two cores of a socket pass a modified line to each other.
fn passed(machine: &Config, times: u64) -> Counters {
    let run = Simulation::new(machine).counters().run(|| {
        let word = Arc::new(CachePadded::new(Word::new(0)));
        word.store(0, SeqCst);
        let before = Simulated::counters().expect("asked for");
        let team: Vec<_> = (0..2)
            .map(|me| {
                let word = Arc::clone(&word);
                spawn(1 + me as usize, move || {
                    for turn in (me..2 * times).step_by(2) {
                        while word.load(SeqCst) != turn {
                            Simulated::relax();
                        }
                        word.store(turn + 1, SeqCst);
                    }
                })
            })
            .collect();
        team.into_iter().for_each(Simulated::join);
        Simulated::counters().expect("asked for").since(&before)
    });
    run.unwrap().value.clone()
}

#[test]
fn what_a_neighbour_answers_is_a_miss_of_the_shared_cache() {
    let of = |preset: &str| {
        let counters = passed(&machine(preset, &[]), 100);
        (counters.shared[0].hits, counters.shared[0].misses)
    };
    for preset in ["westmere-ex", "dahu"] {
        let (hits, misses) = of(preset);
        // Each hand-over is a load from the owner. The store that follows needs only permission.
        assert!(misses >= 200, "{preset}: {hits} hits, {misses} misses");
    }
}

/// Lines and cores agree about the cycles that requests waited.
#[test]
fn lines_and_cores_wait_equally_long() {
    for preset in ["dahu", "westmere-ex", "atac-64"] {
        let machine = machine(preset, &[]);
        let run = Simulation::new(&machine).counters().run(|| {
            let word = Arc::new(CachePadded::new(Word::new(0)));
            let cpi = machine.core.cpi;
            let add = |core| {
                let word = Arc::clone(&word);
                spawn(core, move || {
                    compute_until(2_000_000, cpi);
                    for _ in 0..100 {
                        word.fetch_add(1, SeqCst);
                    }
                })
            };
            let cores = (0..machine.cores as usize).step_by(3).take(12);
            let threads: Vec<_> = cores.map(add).collect();
            threads.into_iter().for_each(Simulated::join);
        });
        let statistics = run.unwrap().statistics;
        let lines = &statistics.report.lines;
        let of_lines: u64 = lines.iter().map(|line| line.waited).sum();
        let total = statistics.counters.unwrap().total();
        let of_cores: u64 = total.serialised.iter().sum();
        assert!(of_cores > 0 && lines.len() < 20);
        assert_eq!(of_lines, of_cores, "{preset}");
    }
}
