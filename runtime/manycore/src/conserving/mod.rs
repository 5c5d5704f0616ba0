//! Tests that no permit is idle for long while work is available.
//!
//! Model checkers find lost jobs, but not late ones: if a worker sleeps until the next loop and does not look for
//! pushed jobs, it still runs these jobs in the end. So this property needs a clock, and the simulated machine has an
//! exact clock. Random programs mix loops of all lengths, joins, scopes, spawned jobs, broadcasts and installed calls,
//! with gaps, bursts and rhythms. The programs have one to four callers and pools of 2 to 64 threads. One program in
//! four runs again in a pool with half as many cores as threads.
//!
//! # The property
//!
//! A pool of n threads has n *permits*. [`current_thread_index`](crate::Pool::current_thread_index) returns the number
//! of the thread's permit. An *item* is a piece of the pool's work. A *leaf* is user code without calls into the pool.
//! If a permit is idle while one item stays available, the following must hold:
//!
//! 1. Within [`until_one_comes`](bounds::until_one_comes) cycles, some idle permit begins a leaf,
//!    or continues one after a wait.
//! 2. Within [`until_all_came`](bounds::until_all_came) cycles, this permit is no longer idle, or
//!    the item is no longer available.
//!
//! Also, every program ends (*liveness*), and each leaf runs with its own permit, so that at most n
//! leaves run at once.
//!
//! # When an item is available
//!
//! | item | from | until |
//! |---|---|---|
//! | a call from outside the pool | the call | its first code runs |
//! | a loop | its first iteration ends | its last iteration begins |
//! | the second half of a join | the first half begins | the second half begins |
//! | a job of a scope, a detached job | the call of `spawn` | the job begins |
//! | a call of a broadcast, with its own permit only | the call of `broadcast` | the call begins |
//!
//! # Exceptions
//!
//! * Work that ends within the bounds. A wake-up takes about as long as the bounds, so one thread may run a short
//!   loop, or the rest of a tree of joins, alone.
//! * A loop's first iteration. Until this iteration ends, no thread can know that the loop is long.
//! * The beginning of a wait. If a thread waits with its permit in a job, or a caller from outside waits for its loop,
//!   another thread takes over its permit only after [`REPLACED`](bounds::REPLACED) cycles.
//! * The rest of a block that one thread has claimed. The check does not see blocks. A block takes much longer than
//!   predicted only if a loop's first iterations do not resemble its last iterations.
//! * The time that a caller spends outside the pool.
//! * Properties whose constant in `bounds.rs` is `false`.
//!
//! # How it is checked
//!
//! [`program`] defines programs, [`random`] makes one from a seed, and [`world`] runs it on a simulated machine.
//! [`recorder`] records when each item was offered and begun, and when each permit was busy. The recorder uses the
//! host's memory, at no simulated cost. [`verdict`] finds the longest idle times, and [`shrink`] finds a smaller
//! program that also fails. [`fault`] has faults that the check must find, and [`found`] has programs that have
//! revealed a bug.
//!
//! [`moving`] checks another property with its own programs: each permit belongs to one thread at a time.
//!
//! `MANYCORE_SEED=7` runs and prints the program of one seed. `MANYCORE_SCHEDULES=100` tries a hundred
//! times [`SEEDS`] seeds. `ci/long.sh random` tries twenty times as many.

mod apart;
mod bounds;
pub(crate) mod fault;
mod found;
mod meeting;
mod moving;
mod program;
mod random;
mod recorder;
mod regret;
mod shrink;
mod table;
mod verdict;
mod world;

use crate::Builder;
use bounds::BLOCKS_ARE_GIVEN_UP;
use manycore_chip::{Simulated, Simulation};
use manycore_platform::Platform;
use program::Program;
use random::Mixture;
use table::Table;
use verdict::Verdict;

/// Seeds of one run of the test: seven of each mixture (kind of program).
const SEEDS: u64 = 77;

/// Runs `program`. Returns why it fails, if it does, and the permits' longest idle times.
fn check(mixture: Mixture, program: &Program) -> (Option<String>, Verdict) {
    let outcome = world::run(program);
    let end = match outcome.end {
        Ok(end) => end.cycles,
        Err(error) => return (Some(error), Verdict::default()),
    };
    let verdict = verdict::longest(&outcome.log, end);
    let bounded = mixture != Mixture::Skewed || BLOCKS_ARE_GIVEN_UP;
    let late = verdict
        .late(program.threads, program.cores)
        .filter(|_| bounded);
    (
        late.or_else(|| verdict::broken_permits(&outcome.log)),
        verdict,
    )
}

/// Returns the programs of a seed.
fn programs(seed: u64) -> impl Iterator<Item = (Mixture, Program)> {
    let (mixture, program) = random::program(seed);
    // Each mixture has its turn, because 4 and the number of mixtures have no common divisor.
    let crowded = (seed % 4 == 1).then(|| program.clone().crowded());
    let programs = std::iter::once(program).chain(crowded);
    programs.map(move |program| (mixture, program))
}

/// Returns the first of `seeds` with a program that fails, and the reason.
fn first_failure(mut seeds: impl Iterator<Item = u64>) -> Option<(u64, Mixture, String)> {
    seeds.find_map(|seed| {
        let mut failures = programs(seed).filter_map(|(mixture, program)| {
            check(mixture, &program).0.map(|why| (seed, mixture, why))
        });
        failures.next()
    })
}

/// Returns the number in an environment variable, if the variable is set.
fn number(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok()?;
    match value.parse() {
        Ok(number) => Some(number),
        Err(_) => panic!("{name}={value}: expected a number"),
    }
}

/// Returns the seeds that the environment asks for: one seed, or a multiple of the first `once`.
fn seeds(once: u64) -> std::ops::Range<u64> {
    match number("MANYCORE_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..once * number("MANYCORE_SCHEDULES").unwrap_or(1),
    }
}

/// Describes a failure, with the smallest failing program that was found.
fn report(seed: u64, mixture: Mixture, program: &Program, why: &str) -> String {
    let smallest = shrink::smallest(program, |program| check(mixture, program).0.is_some());
    let less = check(mixture, &smallest).0.unwrap_or_default();
    format!(
        "MANYCORE_SEED={seed}, {mixture:?}: {why}\na smaller program fails too: {less}\n{smallest:?}"
    )
}

#[test]
#[cfg_attr(miri, ignore = "simulated threads are coroutines in assembly")]
fn no_permit_is_idle_for_long_while_work_is_available() {
    if let Some(seed) = number("MANYCORE_SEED") {
        for (mixture, program) in programs(seed) {
            println!("{mixture:?}: {program:?}");
            let (why, verdict) = check(mixture, &program);
            println!("{verdict}");
            if let Some(why) = why {
                panic!("{}", report(seed, mixture, &program, &why));
            }
        }
        return;
    }
    let (mut table, mut failed) = (Table::default(), Vec::new());
    for (seed, (mixture, program)) in
        seeds(SEEDS).flat_map(|seed| programs(seed).map(move |program| (seed, program)))
    {
        let (why, verdict) = check(mixture, &program);
        table.add(mixture, &program, &verdict);
        if let Some(why) = why {
            println!("seed {seed}, {mixture:?}: {why}");
            failed.push((seed, mixture, program, why));
        }
    }
    println!("{table}");
    if let Some((seed, mixture, program, why)) = failed.first() {
        let count = failed.len();
        let report = report(*seed, *mixture, program, why);
        panic!("{count} programs fail\n{report}");
    }
}

#[test]
#[cfg_attr(miri, ignore = "simulated threads are coroutines in assembly")]
fn programs_that_once_failed_are_in_time() {
    for (name, program) in found::programs() {
        let late = check(Mixture::Crowd, &program).0;
        assert_eq!(late, None, "{name}: {program:?}");
    }
}

/// Each fault is found within 200 programs of the mixture that finds it most often. The last known seed is tried
/// first, but the build decides which seeds find a fault: its instructions shift the programs in time.
#[test]
#[cfg_attr(miri, ignore = "simulated threads are coroutines in assembly")]
fn faults_that_delay_work_are_caught() {
    for (fault, seed) in fault::ALL {
        let mixtures = Mixture::ALL.len();
        let seeds = (seed..).step_by(mixtures).take(200);
        let found = fault::with(fault, || first_failure(seeds));
        let (seed, mixture, why) = found.unwrap_or_else(|| panic!("{fault:?} is not found"));
        println!("{fault:?}: seed {seed}, {mixture:?}: {why}");
    }
}

/// A loop is late if it lasts longer than predicted and invites no further clusters.
#[test]
#[cfg_attr(miri, ignore = "simulated threads are coroutines in assembly")]
fn a_loop_that_invites_too_few_clusters_is_caught() {
    let program = found::suddenly_long();
    let late = fault::with(fault::Fault::FewForEver, || {
        check(Mixture::Crowd, &program).0
    });
    assert!(late.is_some());
}

/// Simulates loops whose code has a different address for each `COPY`. Returns the hash of all events.
fn hash_of_loops<const COPY: usize>() -> u64 {
    let machine = world::machine(8);
    let run = Simulation::new(&machine).run(|| {
        let pool = Builder::<Simulated>::on_platform()
            .build_on(8, 1, vec![vec![]; 8])
            .expect("the threads start");
        for n in [10, 1000, 30, 400, 1000, 20, 10, 1000] {
            pool.parallel_for(0..n, |_| {
                std::hint::black_box(COPY);
                Simulated::compute(300);
            });
        }
    });
    run.expect("the loops end").statistics.hash
}

/// A simulation does not depend on the addresses that the compiler gives to the code of loops.
#[test]
#[cfg_attr(miri, ignore = "simulated threads are coroutines in assembly")]
fn the_place_of_code_does_not_matter() {
    let expected = hash_of_loops::<0>();
    let others = [
        hash_of_loops::<1>(),
        hash_of_loops::<2>(),
        hash_of_loops::<3>(),
        hash_of_loops::<4>(),
        hash_of_loops::<5>(),
    ];
    assert_eq!(others, [expected; 5]);
}

/// The same seed gives exactly the same run. The test tries one seed of each mixture.
#[test]
#[cfg_attr(miri, ignore = "simulated threads are coroutines in assembly")]
fn a_seed_gives_one_run() {
    let mixtures = Mixture::ALL.len() as u64;
    for seed in mixtures..2 * mixtures {
        let ends = [(); 2].map(|()| world::run(&random::program(seed).1).end);
        assert_eq!(ends[0], ends[1], "seed {seed}");
    }
}
