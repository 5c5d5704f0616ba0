//! In a pool with bound threads, each thread runs on the CPUs of its permit (right to run jobs),
//! also after permits have moved from thread to thread. These tests run on the simulated machine,
//! where time is exact.

use crate::{Builder, Pool};
use manycore_chip::config::Config;
use manycore_chip::{Simulated, Simulation};
use manycore_platform::Platform;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

/// The permits that each thread has had while it computed.
type Had = Mutex<BTreeMap<u64, BTreeSet<usize>>>;

/// Joins uneven halves. The leaves compute for up to 0.3 ms, so that threads wait for stolen jobs and give their
/// permits away.
fn tree(pool: &Pool<Simulated>, leaves: u64, random: u64, caller: u64, had: &Had) {
    if leaves > 1 {
        let mut random = fastrand::Rng::with_seed(random);
        let left = random.u64(1..leaves);
        let (a, b) = (random.u64(..), random.u64(..));
        pool.join(
            || tree(pool, left, a, caller, had),
            || tree(pool, leaves - left, b, caller, had),
        );
        return;
    }
    Simulated::compute(1_000 + random % 600_000);
    let thread = Simulated::thread_number();
    // The pool does not bind the thread of a caller.
    if thread != caller {
        let permit = pool.current_thread_index().expect("a job has a permit");
        assert_eq!(Simulated::core(), permit, "thread {thread}");
        had.lock()
            .unwrap()
            .entry(thread)
            .or_default()
            .insert(permit);
    }
}

/// Returns how many threads have had several permits.
fn moved(threads: usize, seed: u64) -> usize {
    let mut machine = Config::preset("graviton2-64").expect("the preset exists");
    (machine.cores, machine.group_cores) = (threads as u32, threads as u32);
    let had = Arc::new(Had::default());
    let result = Arc::clone(&had);
    let run = Simulation::new(&machine).run(move || {
        let pool = Builder::<Simulated>::on_platform()
            .build_on(threads, 1, (0..threads).map(|cpu| vec![cpu]).collect())
            .expect("the threads start");
        let caller = Simulated::thread_number();
        for round in 0..4 {
            pool.install(|| tree(&pool, 60, seed + 1_000 * round, caller, &had));
        }
    });
    run.expect("the simulation ends");
    let had = result.lock().unwrap();
    had.values().filter(|permits| permits.len() > 1).count()
}

/// A thread once kept its CPU when it took over another permit. So two threads with permits shared
/// a core while another core idled, and coarse joins took up to 1.6 times as long.
#[test]
#[cfg_attr(miri, ignore = "simulated threads are coroutines in assembly")]
fn a_thread_computes_on_the_cpu_of_its_permit() {
    let mut all = 0;
    for threads in [2, 3, 4, 8] {
        for seed in 1..=4 {
            all += moved(threads, seed);
        }
    }
    assert!(all > 0, "no permit moved, so nothing was tested");
}
