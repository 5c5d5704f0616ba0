//! Changes of affinity: the newest one holds, whatever the thread does before it moves.

use crate::support::{machine, spawn};
use manycore_chip::guest::{Core, FIRST_ADDRESS, State};
use manycore_chip::{Simulated, SimulatedThread, Simulation};
use manycore_platform::Platform;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// Starts a thread on core 1 that moves `thread` to core 1 and back to core 0 until `stop` is set.
fn moves_and_restores(thread: SimulatedThread, stop: Arc<AtomicBool>) -> SimulatedThread {
    spawn(1, move || {
        while !stop.load(Relaxed) {
            Simulated::compute(997);
            Simulated::set_affinity(thread, &[1]).unwrap();
            Simulated::set_affinity(thread, &[0]).unwrap();
            Simulated::yield_now();
        }
    })
}

/// A guest that confines itself and falls asleep at once, as a warm start does.
#[test]
fn a_thread_that_sleeps_before_it_moves_wakes_on_an_allowed_core() {
    let mut began = false;
    let main = move |core: &mut Core<'_>| {
        if std::mem::replace(&mut began, true) {
            assert_eq!(core.number(), 5);
            return State::Exited;
        }
        let me = core.this_thread();
        core.set_affinity(me, &[5]).expect("there are 64 cores");
        core.futex_wait(FIRST_ADDRESS, Some(10_000));
        State::Suspended
    };
    let machine = machine("atac-64", &[]);
    Simulation::new(&machine).run_guest(Box::new(main)).unwrap();
}

/// Two threads share a core, and one of them confines itself and yields.
#[test]
fn a_thread_that_yields_before_it_moves_leaves_its_core() {
    let mut step = 0;
    let main = move |core: &mut Core<'_>| {
        step += 1;
        match step {
            1 => {
                let mut left = 50;
                let other = move |core: &mut Core<'_>| {
                    left -= 1;
                    core.enter_kernel();
                    core.execute(1_000, &mut 0);
                    core.yield_now();
                    if left == 0 {
                        State::Ended
                    } else {
                        State::Suspended
                    }
                };
                core.enter_kernel_to_spawn();
                core.spawn("other".into(), Box::new(other), &[0]).unwrap();
                core.yield_now();
            }
            2 => {
                let me = core.this_thread();
                assert_eq!(core.number(), 0, "at {}", core.clock());
                core.set_affinity(me, &[5]).expect("there are 64 cores");
                core.yield_now();
            }
            _ => {
                assert_eq!(core.number(), 5);
                return State::Exited;
            }
        }
        State::Suspended
    };
    let machine = machine("atac-64", &[]);
    Simulation::new(&machine).run_guest(Box::new(main)).unwrap();
}

#[test]
fn the_second_of_two_affinities_in_one_miss_holds() {
    // A miss lasts longer than several system calls.
    let settings = ["os.syscall=1", "memory.latency=20_000"];
    let machine = machine("dahu", &settings);
    let run = Simulation::new(&machine).limit(1 << 32).run(|| {
        let stop = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&stop);
        let misses = spawn(0, move || {
            let data = vec![[0_u64; 8]; 100];
            for line in &data {
                Simulated::read(line);
                assert_eq!(Simulated::core(), 0);
            }
            assert_eq!(Simulated::preemptions(), 0);
            ends.store(true, Relaxed);
        });
        let other = moves_and_restores(misses, stop);
        Simulated::set_affinity(Simulated::this_thread(), &[2]).unwrap();
        Simulated::join(other);
        Simulated::join(misses);
        Simulated::core()
    });
    assert_eq!(run.unwrap().value, 2);
}

/// A thread that binds itself is on an allowed core when the call returns.
#[test]
fn a_thread_has_moved_when_it_has_bound_itself() {
    let machine = machine("dahu", &[]);
    let run = Simulation::new(&machine).run(|| {
        let mut cores = vec![Simulated::core()];
        for core in [5, 20, 20, 3] {
            Simulated::bind(&[core]);
            cores.push(Simulated::core());
        }
        Simulated::set_affinity(Simulated::this_thread(), &[7, 9]).unwrap();
        cores.push(Simulated::core());
        Simulated::set_affinity(Simulated::this_thread(), &[]).unwrap();
        cores.push(Simulated::core());
        cores
    });
    let cores = run.unwrap().value;
    assert_eq!(cores[..5], [0, 5, 20, 20, 3]);
    assert!(matches!(cores[5], 7 | 9), "{cores:?}");
    assert_eq!(cores[5], cores[6]);
}

/// A preemption that became due in a miss happens after the miss, even if an affinity was set and restored meanwhile.
#[test]
fn a_preemption_outlives_an_affinity_that_is_taken_back() {
    let settings = [
        "os.syscall=1",
        "os.tick=50_000",
        "os.min-granularity=1",
        "os.latency=2",
        "core.overlap.streams=0",
        "memory.latency=20_000",
    ];
    let machine = machine("dahu", &settings);
    let run = Simulation::new(&machine).limit(1 << 32).run(|| {
        let stop = Arc::new(AtomicBool::new(false));
        let (ends, stops) = (Arc::clone(&stop), Arc::clone(&stop));
        let preemptions = Arc::new(AtomicU64::new(0));
        let counts = Arc::clone(&preemptions);
        let misses = spawn(0, move || {
            let data = vec![[0_u64; 8]; 100];
            data.iter().for_each(|line| Simulated::read(line));
            counts.store(Simulated::preemptions(), Relaxed);
            ends.store(true, Relaxed);
        });
        let beside = spawn(0, move || {
            while !stops.load(Relaxed) {
                Simulated::compute(1_000);
            }
        });
        let other = moves_and_restores(misses, stop);
        Simulated::bind(&[2]);
        let _ = [misses, beside, other].map(Simulated::join);
        preemptions.load(Relaxed)
    });
    let preemptions = run.unwrap().value;
    assert!(preemptions > 10, "{preemptions}");
}
