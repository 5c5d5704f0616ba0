//! Cores of several hardware threads, and cores below their frequency.

use crate::support::{compute_until, machine, named, spawn};
use manycore_chip::config::Config;
use manycore_chip::{Activity, Simulated, Simulation};
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Futex, Ordering::SeqCst, Platform};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

type Word = <Simulated as Platform>::AtomicU64;

/// The cores on which main and `threads` free threads compute. Main has run on core 0.
fn cores_of(machine: &Config, threads: usize, cpus: &[usize]) -> Vec<usize> {
    let run = Simulation::new(machine).run(|| {
        let cores = Arc::new(Mutex::new(vec![Simulated::core()]));
        let team: Vec<_> = (0..threads)
            .map(|_| {
                let cores = Arc::clone(&cores);
                named("free", cpus.to_vec(), move || {
                    Simulated::compute(40_000_000);
                    cores.lock().unwrap().push(Simulated::core());
                })
            })
            .collect();
        Simulated::compute(30_000_000);
        team.into_iter().for_each(Simulated::join);
        let cores = cores.lock().unwrap();
        // A copy in the host's memory would do, too: these are a few words.
        cores.clone()
    });
    run.unwrap().value
}

#[test]
fn free_threads_take_whole_cores_first() {
    let machine = machine("dahu-smt", &[]);
    let cores = cores_of(&machine, 31, &[]);
    let whole: BTreeSet<_> = cores.iter().map(|core| core / 2).collect();
    assert_eq!(whole.len(), 32, "{cores:?}");
    // With more threads than cores, the siblings are used.
    let cores = cores_of(&machine, 63, &[]);
    let all: BTreeSet<_> = cores.iter().collect();
    assert_eq!(all.len(), 64, "{cores:?}");
    // Bound threads stay where they must.
    let cores = cores_of(&machine, 3, &[4, 5, 6]);
    assert_eq!(cores[1..].iter().collect::<BTreeSet<_>>().len(), 3);
    assert!(cores[1..].iter().all(|core| (4..7).contains(core)));
}

/// A woken thread whose core is taken goes to another core of its group, and not to the sibling of a busy one.
#[test]
fn a_woken_thread_takes_a_whole_core() {
    let machine = machine("dahu-smt", &[]);
    let run = Simulation::new(&machine).run(|| {
        let word = Arc::new(<Simulated as Platform>::Futex::new(0));
        let theirs = Arc::clone(&word);
        // It falls asleep on core 5. While it sleeps, three other cores become busy.
        let sleeper = named("sleeper", vec![5], move || {
            theirs.wait(0, None);
            Simulated::compute(100_000);
        });
        Simulated::compute(1_000_000);
        let busy = [4, 5, 6].map(|core| spawn(core, || Simulated::compute(100_000_000)));
        Simulated::compute(1_000_000);
        Simulated::set_affinity(sleeper, &[]).unwrap();
        word.wake(1);
        Simulated::join(sleeper);
        busy.into_iter().for_each(Simulated::join);
    });
    let report = run.unwrap().statistics.report;
    let computed = |core: usize| report.cores[core][Activity::Compute];
    assert_eq!((computed(1), computed(7)), (0, 0));
    assert_eq!(computed(8), 50_000);
}

#[test]
fn a_slow_core_switches_slowly() {
    let switch = |setting: &str| {
        let machine = machine("dahu-governed", &[setting]);
        let run = Simulation::new(&machine).run(|| {
            let word = <Simulated as Platform>::Futex::new(0);
            word.wait(0, Some(Duration::from_millis(100)));
            let before = Simulated::accounts()[0][Activity::Switch];
            word.wait(0, Some(Duration::from_millis(100)));
            Simulated::accounts()[0][Activity::Switch] - before
        });
        run.unwrap().value as f64
    };
    let slowest = machine("dahu-governed", &[]).os.governor.unwrap().slowest;
    let [slow, fast] = ["os.governor.slowest=0.476", "os.governor.slowest=1.0"].map(switch);
    assert!((slow * slowest / fast - 1.0).abs() < 0.02, "{slow}, {fast}");
}

/// The cycles of `instructions` in steps of `each`, on core 0 after an idle time.
fn in_steps(machine: &Config, instructions: u64, each: u64) -> u64 {
    let run = Simulation::new(machine).run(|| {
        let word = <Simulated as Platform>::Futex::new(0);
        word.wait(0, Some(Duration::from_millis(100)));
        let start = Simulated::now();
        for _ in 0..instructions / each {
            Simulated::compute(each);
        }
        Simulated::now() - start
    });
    run.unwrap().value
}

#[test]
fn a_computation_takes_as_long_as_its_parts_under_a_governor() {
    let machine = machine("dahu-governed", &[]);
    let total = 400_000_000;
    let whole = in_steps(&machine, total, total);
    let parts = in_steps(&machine, total, total / 4000);
    assert!(
        whole.abs_diff(parts) < parts / 50,
        "{whole} at once, {parts} in parts"
    );
}

#[test]
fn siblings_slow_each_other_only_while_both_run() {
    let machine = machine("dahu-smt", &[]);
    let run = Simulation::new(&machine).run(|| {
        let times = Arc::new(Mutex::new(Vec::new()));
        let worker = |core, instructions: u64| {
            let times = Arc::clone(&times);
            spawn(core, move || {
                let start = Simulated::now();
                Simulated::compute(instructions);
                times.lock().unwrap().push(Simulated::now() - start);
            })
        };
        // Main is on core 0, and the siblings are a core of their own.
        let first = worker(2, 10_000_000);
        let second = worker(3, 10_000_000);
        Simulated::join(first);
        Simulated::join(second);
        let times = times.lock().unwrap();
        (times[0], times[1])
    });
    let (one, other) = run.unwrap().value;
    let shared = machine.core.shared_cpi.unwrap() * 1e7;
    for time in [one, other] {
        assert!(
            (time as f64 / shared - 1.0).abs() < 0.02,
            "{time}, {shared}"
        );
    }
}

/// Hardware threads of a core share the caches and the places for lines on their way, but each waits only for its own
/// stores, and has its part of the places.
#[test]
fn a_thread_does_not_wait_for_the_stores_of_its_sibling() {
    let machine = machine("dahu-smt", &[]);
    type Operation = fn(&CachePadded<Word>);
    let operations: [Operation; 4] = [
        |_| Simulated::write(&mut vec![0_u8; 512]),
        |_| Simulated::fence(SeqCst),
        |word| _ = word.fetch_add(1, SeqCst),
        |word| word.store(1, SeqCst),
    ];
    let all = operations.map(|operation| [[2, 3], [3, 2]].map(|cores| (operation, cores)));
    for (operation, [own, other]) in all.into_iter().flatten() {
        let run = Simulation::new(&machine).run(move || {
            let start = Simulated::now() + 1_000_000;
            let mut stream = vec![0_u8; 1 << 20];
            let sibling = spawn(other, move || {
                compute_until(start, 0.5);
                Simulated::write(&mut stream);
            });
            let took = Arc::new(AtomicU64::new(u64::MAX));
            let takes = Arc::clone(&took);
            let main = spawn(own, move || {
                let word = CachePadded::new(Word::new(0));
                word.store(7, SeqCst);
                compute_until(start + 5_000, 0.5);
                let start = Simulated::now();
                operation(&word);
                takes.store(Simulated::now() - start, Relaxed);
            });
            Simulated::join(main);
            let took = took.load(Relaxed);
            Simulated::join(sibling);
            (took, Simulated::now() - start)
        });
        let (time, whole) = run.unwrap().value;
        let most = 10 * machine.memory.latency;
        assert!(
            time < most && whole > 100 * most,
            "{own}: {time} of {whole}"
        );
    }
}

#[repr(align(64))]
struct Line([u8; 64]);

/// A store that joins a line that the sibling's store has requested is a store of both.
#[test]
fn a_fence_waits_for_a_store_that_joined_a_line_of_the_sibling() {
    let machine = machine("dahu-smt", &["memory.latency=20_000"]);
    let run = Simulation::new(&machine).run(|| {
        let line = Box::leak(Box::new(Line([0; 64])));
        let shortest = Arc::new(AtomicU64::new(u64::MAX));
        let start = Simulated::now() + 1_000_000;
        let halves = line.0.chunks_mut(32).zip([2, 3]);
        let team: Vec<_> = halves
            .map(|(half, core)| {
                let shortest = Arc::clone(&shortest);
                spawn(core, move || {
                    compute_until(start + 1_000 * (core as u64 - 2), 0.5);
                    Simulated::write(half);
                    let start = Simulated::now();
                    Simulated::fence(SeqCst);
                    shortest.fetch_min(Simulated::now() - start, Relaxed);
                })
            })
            .collect();
        team.into_iter().for_each(Simulated::join);
        shortest.load(Relaxed)
    });
    let shortest = run.unwrap().value;
    assert!(shortest > machine.memory.latency / 2, "{shortest} cycles");
}
