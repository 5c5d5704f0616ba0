//! What the simulated system charges for waking threads and for loops.

use super::thread::spawn;
use manycore::Builder;
use manycore_chip::config::Config;
use manycore_chip::{Run, Simulated, Simulation, SimulationError};
use manycore_platform::{Atomic, Futex, Ordering::SeqCst, Platform};
use std::sync::Arc;

type Word = <Simulated as Platform>::Futex;

/// Nanoseconds from the call that wakes a thread, which sleeps on core 1, to
/// its first instruction.
pub(super) fn wake(config: &Config) -> Result<Run<f64>, SimulationError> {
    Simulation::new(config).run(|| {
        let word = Arc::new(Word::new(0));
        let sleeper = {
            let word = Arc::clone(&word);
            spawn(1, move || {
                while word.load(SeqCst) == 0 {
                    word.wait(0, None);
                }
                Simulated::now()
            })
        };
        Simulated::compute(ASLEEP);
        word.store(1, SeqCst);
        let called = Simulated::now();
        word.wake(1);
        (sleeper.join() - called) as f64 / config.ghz
    })
}

/// Instructions after which the other has been asleep for some time.
const ASLEEP: u64 = 1_000_000;

/// Loops whose mean is taken, after some that are not.
const LOOPS: u64 = 20;

/// Nanoseconds of a loop of one iteration a thread, right after another.
pub(super) fn launch(config: &Config, threads: usize) -> Result<Run<f64>, SimulationError> {
    Simulation::new(config).run(|| {
        let cpus = (0..threads).map(|core| vec![core]).collect();
        let groups = config.groups() as usize;
        let pool = Builder::<Simulated>::on_platform()
            .build_on(config.cores as usize, groups, cpus)
            .expect("cores of the machine");
        let run = || pool.parallel_for(0..threads, |_| Simulated::compute(1));
        (0..LOOPS).for_each(|_| run());
        let start = Simulated::now();
        (0..LOOPS).for_each(|_| run());
        (Simulated::now() - start) as f64 / LOOPS as f64 / config.ghz
    })
}
