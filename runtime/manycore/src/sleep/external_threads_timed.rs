//! A thread outside the pool gets a core when a job wakes it. These tests run on the simulated machine, where
//! time is exact.

use crate::Builder;
use manycore_chip::config::Config;
use manycore_chip::{Simulated, Simulation};
use manycore_cores::sync::Parker;
use manycore_platform::Platform;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

const JOBS: u64 = 200;
/// The longest accepted mean wake-up, in cycles: 10 us. A wake-up takes about 14,000 cycles. A worker spins for
/// up to 150,000.
const A_WAKE_UP: u64 = 25_000;

/// A thread outside the pool repeatedly spawns a job and sleeps until the job wakes it. Returns the mean wake-up
/// latency in cycles.
fn late_by(cores: u32, threads: usize, seed: u64) -> u64 {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut machine = Config::preset("graviton2-64").expect("the preset exists");
    (machine.cores, machine.group_cores) = (cores, cores);
    let late = Arc::new(AtomicU64::new(0));
    let result = Arc::clone(&late);
    let run = Simulation::new(&machine).run(move || {
        let pool = Builder::<Simulated>::on_platform()
            .dedicated(true)
            .build_on(cores as usize, 1, vec![vec![]; threads])
            .expect("the threads start");
        for _ in 0..JOBS {
            let parker = Arc::new(Parker::<Simulated>::asleep());
            let told_at = Arc::new(AtomicU64::new(0));
            let (tell, at) = (Arc::clone(&parker), Arc::clone(&told_at));
            let work = random.u64(100..50_000);
            pool.spawn(move || {
                Simulated::compute(work);
                at.store(Simulated::now(), Relaxed);
                tell.notify(Parker::<Simulated>::AWAKE);
            });
            parker.sleep_out();
            late.fetch_add(Simulated::now() - told_at.load(Relaxed), Relaxed);
            Simulated::compute(random.u64(0..20_000));
        }
    });
    run.expect("the simulation ends");
    result.load(Relaxed) / JOBS
}

/// Before this was fixed, the idle workers of a pool with all cores spun for 60 us, and the thread that a job
/// had woken found no core.
#[test]
#[cfg_attr(miri, ignore = "simulated threads are coroutines in assembly")]
fn a_thread_outside_the_pool_that_waits_for_a_job_gets_a_core() {
    for cores in 1..=4 {
        for threads in 1..=2 * cores as usize {
            let late = (1..=3)
                .map(|seed| late_by(cores, threads, seed))
                .max()
                .unwrap_or(0);
            println!("{cores} cores, {threads} threads: {late} cycles late");
            assert!(late < A_WAKE_UP, "{cores} cores, {threads} threads: {late}");
        }
    }
}
