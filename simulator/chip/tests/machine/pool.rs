//! The runtime's own pool on the chip: the code that runs natively, unchanged.

use crate::support::machine;
use manycore::{Builder, Pool};
use manycore_chip::config::Config;
use manycore_chip::{Simulated, Simulation, SimulationError, Statistics};
use manycore_platform::{Atomic, AtomicInteger, Ordering::Relaxed, Platform};
use manycore_programs::partition::{Block, Loops, Partitioner};
use std::cell::Cell;
use std::time::Duration;

type Count = <Simulated as Platform>::AtomicU32;

const PARTITIONERS: [&str; 8] = [
    "static",
    "fixed-block",
    "fixed-block=7",
    "guided",
    "factoring",
    "sharded",
    "sharded=3",
    "adaptive",
];

/// A pool of `threads` threads. If `bound`, each is bound to one core, round-robin.
fn pool(machine: &Config, threads: usize, bound: bool) -> Pool<Simulated> {
    let cores = machine.cores as usize;
    let place = |thread| if bound { vec![thread % cores] } else { vec![] };
    Builder::<Simulated>::on_platform()
        .build_on(
            cores,
            machine.groups() as usize,
            (0..threads).map(place).collect(),
        )
        .unwrap()
}

/// Counts how often each iteration of a loop runs.
struct Audit(Vec<Count>);

impl Audit {
    fn new(iterations: usize) -> Self {
        Self((0..iterations).map(|_| Count::new(0)).collect())
    }

    fn visit(&self, iteration: usize) {
        Simulated::compute(50 + iteration as u64 % 97);
        self.0[iteration].fetch_add(1, Relaxed);
    }

    fn each_ran(&self, times: u32) {
        let wrong = self.0.iter().position(|count| count.load(Relaxed) != times);
        assert_eq!(wrong, None, "not run {times} times");
    }
}

/// Runs `program` twice. Both runs must agree.
fn run(machine: &Config, program: impl Fn()) -> Result<Statistics, SimulationError> {
    let simulation = Simulation::new(machine).limit(1 << 40);
    let first = simulation.run(&program)?.statistics;
    let second = simulation.run(&program)?.statistics;
    assert_eq!(
        (first.hash, first.cycles),
        (second.hash, second.cycles),
        "{}",
        machine.name
    );
    for (core, spent) in first.report.cores.iter().enumerate() {
        assert_eq!(spent.sum(), first.cycles, "{}: core {core}", machine.name);
    }
    Ok(first)
}

fn presets() -> [Config; 3] {
    ["atac-64", "gold5225r", "tr3970x"].map(|preset| machine(preset, &[]))
}

#[test]
fn each_iteration_runs_once_by_every_partitioner() {
    for machine in presets() {
        for threads in [1, 2, 8, 64] {
            run(&machine, || {
                let pool = pool(&machine, threads, true);
                for partitioner in PARTITIONERS.map(|name| name.parse().unwrap()) {
                    let audit = Audit::new(1_000);
                    for _ in 0..3 {
                        Loops::new(&pool, partitioner)
                            .parallel_for(0..1_000, |iteration| audit.visit(iteration));
                    }
                    audit.each_ran(3);
                }
            })
            .unwrap_or_else(|error| panic!("{}, {threads} threads: {error}", machine.name));
        }
    }
}

#[test]
fn loops_inside_loops() {
    for machine in presets() {
        run(&machine, || {
            let pool = pool(&machine, 8, true);
            let audit = Audit::new(30 * 40);
            pool.parallel_for(0..30, |outer| {
                Loops::new(&pool, Partitioner::Guided)
                    .parallel_for(0..40, |inner| audit.visit(40 * outer + inner));
            });
            audit.each_ran(1);
        })
        .unwrap_or_else(|error| panic!("{}: {error}", machine.name));
    }
}

/// Sleeping workers are woken for a loop that is worth it. A loop that is not is left to the
/// caller.
#[test]
fn after_gaps_in_which_the_workers_sleep() {
    for machine in presets() {
        let second = (1e9 * machine.ghz / machine.core.cpi) as u64;
        let times = Cell::new((0, 0));
        run(&machine, || {
            let pool = pool(&machine, 8, true);
            let audit = Audit::new(64);
            for gap in [10_000, second / 1_000, second / 10, second, 0] {
                Simulated::compute(gap);
                let start = Simulated::now();
                Loops::new(&pool, Partitioner::FixedBlock(Block::size(1))).parallel_for(
                    0..64,
                    |iteration| {
                        Simulated::compute(second / 1_000);
                        audit.visit(iteration);
                    },
                );
                times.set((Simulated::now() - start, times.get().0));
            }
            audit.each_ran(5);
        })
        .unwrap_or_else(|error| panic!("{}: {error}", machine.name));
        // 8 threads have 64 ms of work together.
        let ms = second as f64 * machine.core.cpi / 1_000.0;
        for time in [times.get().0, times.get().1] {
            let taken = time as f64 / ms;
            assert!((8.0..11.0).contains(&taken), "{}: {taken} ms", machine.name);
        }
    }
}

#[test]
fn more_threads_than_cores() {
    for preset in ["w3225r", "e5-2640x2", "atac-64"] {
        let settings: &[_] = if preset == "atac-64" {
            &["cores=8"]
        } else {
            &[]
        };
        let machine = machine(preset, settings);
        let threads = 2 * machine.cores as usize;
        for bound in [true, false] {
            run(&machine, || {
                let pool = pool(&machine, threads, bound);
                for partitioner in PARTITIONERS.map(|name| name.parse().unwrap()) {
                    let audit = Audit::new(2_000);
                    Loops::new(&pool, partitioner)
                        .parallel_for(0..2_000, |iteration| audit.visit(iteration));
                    audit.each_ran(1);
                }
            })
            .unwrap_or_else(|error| panic!("{preset}, bound: {bound}: {error}"));
        }
    }
}

/// If `drop` did not join the workers, they would sleep on when the next pool is made.
#[test]
fn a_dropped_pool_has_joined_its_workers() {
    for machine in presets() {
        for budget in [0, 60] {
            run(&machine, || {
                for threads in [1, 2, 8, 32] {
                    let builder = Builder::<Simulated>::on_platform()
                        .spin_budget(Duration::from_micros(budget));
                    let pool = builder.build_on(32, 1, vec![vec![]; threads]).unwrap();
                    let audit = Audit::new(100);
                    pool.parallel_for(0..100, |iteration| audit.visit(iteration));
                    audit.each_ran(1);
                }
            })
            .unwrap_or_else(|error| panic!("{}: {error}", machine.name));
        }
    }
}

#[test]
fn a_panic_of_the_body_reaches_the_caller() {
    for machine in presets() {
        run(&machine, || {
            let pool = pool(&machine, 8, true);
            let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                pool.parallel_for(0..1_000, |iteration| {
                    Simulated::compute(1_000);
                    if iteration == 777 {
                        std::panic::resume_unwind(Box::new("oh"));
                    }
                });
            }));
            assert_eq!(caught.unwrap_err().downcast_ref(), Some(&"oh"));
            let audit = Audit::new(100);
            pool.parallel_for(0..100, |iteration| audit.visit(iteration));
            audit.each_ran(1);
        })
        .unwrap_or_else(|error| panic!("{}: {error}", machine.name));
    }
}

/// The median of the cycles of 9 loops of 4,096 short iterations on 64 threads, in a pool that has
/// settled.
fn cycles_of_a_loop(preset: &str, partitioner: Partitioner) -> u64 {
    let machine = Config::preset(preset).unwrap();
    let program = || {
        let pool = pool(&machine, 64, true);
        let mut cycles: Vec<u64> = (0..17)
            .map(|_| {
                let before = Simulated::now();
                Loops::new(&pool, partitioner).parallel_for(0..4_096, |_| Simulated::compute(700));
                Simulated::now() - before
            })
            .collect();
        let settled = &mut cycles[8..];
        settled.sort_unstable();
        settled[4]
    };
    Simulation::new(&machine).run(program).unwrap().value
}

/// A participant does not look at every other participant's range at the beginning and the end of a loop. If it did,
/// the loop would take 1.6 to 1.8 times as long as with one shared counter.
#[test]
fn ranges_of_64_threads_begin_and_end_about_as_fast_as_one_counter() {
    for (preset, most) in [("graviton2-64", 1.2), ("kunpeng-920", 1.5)] {
        let counter = cycles_of_a_loop(preset, Partitioner::FixedBlock(Block::size(32))) as f64;
        for partitioner in [Partitioner::Adaptive, Partitioner::Sharded(Block::size(8))] {
            let ranges = cycles_of_a_loop(preset, partitioner) as f64;
            assert!(
                ranges < most * counter,
                "{preset}, {partitioner}: {ranges} cycles, one counter {counter}"
            );
        }
    }
}
