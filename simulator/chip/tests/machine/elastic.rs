//! Runtimes that follow an allotment, on the chip.

use crate::support::machine;
use manycore::elastic::Allotment;
use manycore::{Builder, Pool};
use manycore_chip::config::Config;
use manycore_chip::{Simulated, Simulation};
use manycore_platform::{Atomic, AtomicInteger, Ordering::Relaxed, Platform};
use manycore_programs::partition::{Loops, Partitioner};
use std::cell::RefCell;

type Count = <Simulated as Platform>::AtomicU32;

/// The iterations of a loop, and the instructions of an iteration.
const ITERATIONS: usize = 16_800;
const INSTRUCTIONS: u64 = 2_000;
/// Loops that are timed after each change. The loop of the change does not count. The next
/// loop does not count either: if the last block of the loop before was long, the other threads have fallen asleep.
const LOOPS: usize = 3;

/// A pool of `threads` threads on as many cores. It follows `allotment`, if there is one.
fn pool(
    machine: &Config,
    threads: usize,
    allotment: Option<&Allotment<Simulated>>,
) -> Pool<Simulated> {
    let builder = Builder::<Simulated>::on_platform();
    let builder = match allotment {
        Some(allotment) => builder.follow(allotment),
        None => builder,
    };
    let (cores, groups) = (machine.cores as usize, machine.groups() as usize);
    let places = (0..threads).map(|thread| vec![thread]).collect();
    builder.build_on(cores, groups, places).unwrap()
}

/// Runs a loop, calls `middle` once in its first third, and checks that each iteration ran once.
/// Returns its cycles.
fn timed(pool: &Pool<Simulated>, partitioner: Partitioner, middle: impl Fn() + Sync) -> u64 {
    let ran: Vec<Count> = (0..64).map(|_| Count::new(0)).collect();
    let start = Simulated::now();
    Loops::new(pool, partitioner).parallel_for(0..ITERATIONS, |i| {
        if i == ITERATIONS / 3 {
            middle();
        }
        Simulated::compute(INSTRUCTIONS);
        // Few lines are written, so that the loop does not measure counting.
        if i.is_multiple_of(ITERATIONS / 40) {
            ran[i / (ITERATIONS / 40)].fetch_add(1, Relaxed);
        }
    });
    let took = Simulated::now() - start;
    let counts = ran
        .iter()
        .map(|count| count.load(Relaxed))
        .collect::<Vec<_>>();
    assert!(counts[..40].iter().all(|&count| count == 1), "{counts:?}");
    took
}

/// Cycles of the loops of a pool of exactly `threads` threads.
fn of_exactly(machine: &Config, threads: usize, partitioner: Partitioner) -> Vec<u64> {
    let times = RefCell::new(vec![]);
    Simulation::new(machine)
        .limit(1 << 40)
        .run(|| {
            let pool = pool(machine, threads, None);
            timed(&pool, partitioner, || ());
            for _ in 0..LOOPS {
                times.borrow_mut().push(timed(&pool, partitioner, || ()));
            }
        })
        .unwrap();
    times.into_inner()
}

/// The allotment of a pool of 16 threads changes within a loop. Each further loop takes as long as
/// in a pool of that many threads, to 3%.
#[test]
fn a_pool_follows_its_allotment() {
    let machine = machine("e5-2640x2", &[]);
    for partitioner in ["adaptive", "sharded=8", "guided"] {
        let partitioner: Partitioner = partitioner.parse().unwrap();
        let times = RefCell::new(vec![]);
        Simulation::new(&machine)
            .limit(1 << 40)
            .run(|| {
                let allotment = Allotment::new(16);
                let pool = pool(&machine, 16, Some(&allotment));
                for cores in [16, 15, 7, 12, 16] {
                    timed(&pool, partitioner, || allotment.set(cores));
                    timed(&pool, partitioner, || ());
                    for _ in 0..LOOPS {
                        let took = timed(&pool, partitioner, || ());
                        times.borrow_mut().push((cores, took));
                    }
                }
            })
            .unwrap();
        let times = times.into_inner();
        for cores in [7, 12, 15, 16] {
            let fixed = of_exactly(&machine, cores, partitioner);
            let expected = fixed.iter().sum::<u64>() as f64 / fixed.len() as f64;
            for &(_, took) in times.iter().filter(|it| it.0 == cores) {
                let ratio = took as f64 / expected;
                assert!(
                    (0.97..1.03).contains(&ratio),
                    "{partitioner}, {cores} cores: {took} cycles, {expected} by a pool of {cores}: \
                     {times:?}"
                );
            }
        }
    }
}

/// In the first third of a loop 15 of 16 threads must leave, and in the second third they come back. They help until
/// the loop ends.
#[test]
fn growth_helps_a_loop_in_progress() {
    let machine = machine("e5-2640x2", &[]);
    let times = RefCell::new(vec![]);
    Simulation::new(&machine)
        .limit(1 << 40)
        .run(|| {
            let allotment = Allotment::new(1);
            let pool = pool(&machine, 16, Some(&allotment));
            let alone = timed(&pool, Partitioner::Adaptive, || ());
            let grown = timed(&pool, Partitioner::Adaptive, || allotment.set(16));
            *times.borrow_mut() = vec![alone, grown];
        })
        .unwrap();
    let times = times.into_inner();
    let (alone, grown) = (times[0] as f64, times[1] as f64);
    // One thread does a third, and 16 threads the rest: 1/3 + 2/3/16 = 0.375.
    let ratio = grown / alone;
    assert!((0.37..0.40).contains(&ratio), "{ratio}: {times:?}");
}
