//! What the simulated system charges for waking threads and for loops.

use super::thread::spawn;
use manycore::Builder;
use manycore_chip::config::Config;
use manycore_chip::{Run, Simulated, Simulation, SimulationError};
use manycore_platform::{Atomic, Futex, Ordering::SeqCst, Platform};
use std::sync::Arc;

type FutexWord = <Simulated as Platform>::Futex;

/// Microseconds for which a thread sleeps before it is woken: shortly, and so
/// long that its core sleeps deeply.
pub(super) const ASLEEP_US: [u64; 2] = [50, 10_000];

/// Nanoseconds from the call that wakes a thread, which sleeps on core 1, to
/// its first instruction.
pub(super) fn wake(config: &Config, asleep_us: u64) -> Result<Run<f64>, SimulationError> {
    Simulation::new(config).run(|| {
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
        Simulated::compute(instructions(config, asleep_us));
        word.store(1, SeqCst);
        let called = Simulated::now();
        word.wake(1);
        (sleeper.join() - called) as f64 / config.ghz
    })
}

/// Instructions that take so many microseconds.
fn instructions(config: &Config, us: u64) -> u64 {
    (us as f64 * 1e3 * config.ghz / config.core.cpi) as u64
}

/// Loops whose mean is taken, after as many that are not.
const LOOPS: u64 = 20;

/// How long each iteration lasts.
const TASK_US: u64 = 10;

/// Nanoseconds that a loop of one iteration a thread takes beyond the
/// iteration, right after another such loop.
pub(super) fn launch(config: &Config, threads: usize) -> Result<Run<f64>, SimulationError> {
    Simulation::new(config).run(|| {
        let cpus = (0..threads).map(|core| vec![core]).collect();
        let groups = config.groups() as usize;
        let pool = Builder::<Simulated>::on_platform()
            .build_on(config.cores as usize, groups, cpus)
            .expect("cores of the machine");
        let task = || Simulated::compute(instructions(config, TASK_US));
        let looped = || pool.parallel_for(0..threads, |_| task());
        (0..LOOPS).for_each(|_| looped());
        let start = Simulated::now();
        (0..LOOPS).for_each(|_| looped());
        let end = Simulated::now();
        (0..LOOPS).for_each(|_| task());
        let tasks = Simulated::now() - end;
        (end - start).saturating_sub(tasks) as f64 / LOOPS as f64 / config.ghz
    })
}
