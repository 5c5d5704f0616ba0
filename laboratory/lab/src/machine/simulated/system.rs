//! The costs of waking a thread and of starting a loop on the simulated system.

use super::thread::spawn;
use crate::instrument;
use manycore::Builder;
use manycore_chip::config::Config;
use manycore_chip::{Run, Simulated, Simulation, SimulationError};
use manycore_platform::{Atomic, Futex, Ordering::SeqCst, Platform};
use std::sync::Arc;

type FutexWord = <Simulated as Platform>::Futex;

/// Microseconds of sleep before a thread is woken: a short sleep, and a sleep in which its core
/// sleeps deeply.
pub(super) const ASLEEP_US: [u64; 2] = [50, 10_000];

/// Returns the nanoseconds from the call that wakes a thread on core 1 to that thread's first instruction.
pub(super) fn wake(config: &Config, asleep_us: u64) -> Result<Run<f64>, SimulationError> {
    let name = format!("wake-up after {asleep_us} us");
    instrument::run(Simulation::new(config), &name, || {
        let word = Arc::new(FutexWord::new(0));
        let sleeper = {
            let word = Arc::clone(&word);
            spawn(1, move || {
                while word.load(SeqCst) == 0 {
                    word.wait(0, None);
                }
                Simulated::now()
            })
        };
        Simulated::compute(instructions(config, asleep_us * 1_000));
        word.store(1, SeqCst);
        let called = Simulated::now();
        word.wake(1);
        (sleeper.join() - called) as f64 / config.ghz
    })
}

/// Returns the number of instructions that take `ns` nanoseconds.
fn instructions(config: &Config, ns: u64) -> u64 {
    (ns as f64 * config.ghz / config.core.cpi) as u64
}

/// The number of timed loops. As many untimed loops run before them.
const LOOPS: u64 = 100;

/// The duration of each iteration.
const TASK_NS: u64 = 10_000;

/// Before each loop the caller pauses for less than this, each time for a different duration. Loops without pauses fall
/// into one of several rhythms with the workers, which look for the next loop. A few cycles decide the rhythm, and the
/// mean times of rhythms differ by a quarter.
const LONGEST_PAUSE_NS: u64 = 1_000;

/// Returns the nanoseconds that a loop takes in addition to its iteration. It has one iteration for each thread, and
/// begins at most [`LONGEST_PAUSE_NS`] after another such loop.
pub(super) fn launch(config: &Config, threads: usize) -> Result<Run<f64>, SimulationError> {
    let name = format!("loops, {threads} threads");
    instrument::run(Simulation::new(config), &name, || {
        let task = || Simulated::compute(instructions(config, TASK_NS));
        // This is timed before there are workers, since workers that fall asleep interrupt the other cores.
        let alone = cycles_of(task);
        let cpus = (0..threads).map(|core| vec![core]).collect();
        let groups = config.groups() as usize;
        let pool = Builder::<Simulated>::on_platform()
            .build_on(config.cores as usize, groups, cpus)
            .expect("cores of the machine");
        let looped = |number: u64| {
            // Steps by the golden ratio soon come near every length of a pause.
            let pause = number * 618 % LONGEST_PAUSE_NS;
            Simulated::compute(instructions(config, pause));
            cycles_of(|| pool.parallel_for(0..threads, |_| task()))
        };
        (0..LOOPS).for_each(|number| {
            looped(number);
        });
        let all: u64 = (0..LOOPS).map(looped).sum();
        all.saturating_sub(LOOPS * alone) as f64 / LOOPS as f64 / config.ghz
    })
}

fn cycles_of(work: impl FnOnce()) -> u64 {
    let start = Simulated::now();
    work();
    Simulated::now() - start
}
