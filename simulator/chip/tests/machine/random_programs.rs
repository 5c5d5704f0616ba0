//! Random programs on all kinds of machine. Debug runs check the coherence of a line at each of its misses, and of all
//! lines at the end. The programs check the values that they read, their counts and flags, and that all cycles are
//! accounted for.

use crate::support::program::Program;
use crate::support::{machines, times};
use manycore_chip::config::Config;

/// Programs of one run of a test, on each machine.
const SEEDS: u64 = 6;

fn check(machines: impl IntoIterator<Item = (String, Config)>, first: u64) {
    for (name, machine) in machines {
        for seed in first..first + SEEDS * times() {
            let program = Program::random(seed, machine.cores as usize, 120);
            if let Err(error) = program.run(&machine) {
                panic!("{name}, seed {seed}: {error}");
            }
        }
    }
}

#[test]
fn on_all_machines() {
    check(machines(), 0);
}

/// Caches have only a few lines, so they evict lines that other threads wait for, spin on and own.
#[test]
fn with_caches_of_a_few_lines() {
    let small = machines().into_iter().map(|(name, mut machine)| {
        let line = u64::from(machine.line);
        machine.l1.ways = 1;
        machine.l1.size = line;
        if let Some(l2) = &mut machine.l2 {
            (l2.ways, l2.size) = (1, 2 * line);
        }
        if let Some(llc) = &mut machine.llc {
            (llc.ways, llc.size) = (2, 4 * line);
        }
        (name, machine)
    });
    check(small, 1_000);
}

/// Time slices are so short that threads are preempted during every operation.
#[test]
fn with_short_slices() {
    let hasty = machines().into_iter().map(|(name, mut machine)| {
        let os = &mut machine.os;
        (os.tick, os.tick_cost) = (700, 90);
        (os.latency, os.min_granularity, os.wakeup_granularity) = (1_500, 500, 100);
        (os.switch, os.migration) = (60, 40);
        (os.balance, os.hot) = (1_000, 300);
        (name, machine)
    });
    check(hasty, 2_120);
}
