//! What counters and lines say about requests that pass through several core groups.

use crate::support::{machine, spawn};
use manycore_chip::config::Config;
use manycore_chip::{Counters, Simulated, Simulation};
use manycore_platform::{Atomic, CachePadded, Ordering::SeqCst, Platform};
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
