//! Several threads increment one counter. The module measures how long a thread takes for an increment, as in T. Downs,
//! "A Concurrency Cost Hierarchy".

use super::buffer::{Buffer, Word};
use super::latency::Operation;
use super::thread::spawn;
use crate::instrument;
use manycore_chip::config::Config;
use manycore_chip::{Run, Simulated, Simulation, SimulationError};
use manycore_platform::{Atomic, AtomicInteger, Ordering::SeqCst, Platform};
use std::sync::Arc;

/// The threads increment for this many cycles before the measurement.
const WARM_UP: u64 = 200_000;
/// The measurement takes this many cycles.
const WINDOW: u64 = 1_000_000;

/// Instructions of the loop around an increment: count, compare and branch.
const LOOP: u64 = 2;

/// Returns the nanoseconds of an increment for each of `threads` threads, on the cores from core 0 on.
pub(super) fn measure(
    config: &Config,
    operation: Operation,
    threads: usize,
) -> Result<Run<f64>, SimulationError> {
    let name = format!("contended {}, {threads} threads", operation.name());
    instrument::run(Simulation::new(config), &name, || {
        // The counter does not share its cache line or its page.
        let counter = Arc::new(Buffer::new(config, 1));
        // This time is late enough that all threads are running before it.
        let start = Simulated::now() + 2 * threads as u64 * config.os.spawn + WARM_UP;
        let team: Vec<_> = (0..threads)
            .map(|core| {
                let counter = Arc::clone(&counter);
                spawn(core, move || {
                    count_increments(counter.line(0), operation, start)
                })
            })
            .collect();
        let increments: u64 = team.into_iter().map(|task| task.join()).sum();
        WINDOW as f64 * threads as f64 / increments as f64 / config.ghz
    })
}

/// Increments from `start` on. Returns the number of increments within the window.
fn count_increments(counter: &Word, operation: Operation, start: u64) -> u64 {
    while Simulated::now() < start {
        Simulated::compute(1_000);
    }
    let (from, to) = (start + WARM_UP, start + WARM_UP + WINDOW);
    let mut done = 0;
    loop {
        match operation {
            Operation::Cas => increment_by_cas(counter),
            _ => _ = counter.fetch_add(1, SeqCst),
        }
        Simulated::compute(LOOP);
        let now = Simulated::now();
        if now >= to {
            return done;
        }
        done += u64::from(now >= from);
    }
}

fn increment_by_cas(counter: &Word) {
    let mut seen = counter.load(SeqCst);
    while let Err(value) = counter.compare_exchange(seen, seen + 1, SeqCst, SeqCst) {
        seen = value;
    }
}
