//! Every call is heard: nothing that can be done is left lying while a permit is idle.
//!
//! Model checkers find lost jobs. A late job is not lost: a worker that sleeps until the next loop
//! is due, and does not look at the job that was pushed meanwhile, runs that job in the end. So the
//! property has a clock in it, and is checked with an exact clock: on the simulated machine, with
//! random programs that mix loops of all lengths, joins, scopes, spawned jobs, broadcasts and
//! installed calls, from one to four callers, with gaps, bursts and rhythms, in pools of 2 to 64
//! threads; and again, one in four, in pools that know of half as many cores as they have threads.
//!
//! # The property
//!
//! A pool of n threads has n *permits*, numbered as by
//! [`current_thread_index`](crate::Pool::current_thread_index). An *item* is a piece of the pool's
//! work. Whenever a permit is idle while one and the same item is available,
//!
//! 1. after [`until_one_comes`](bounds::until_one_comes) cycles at the latest a permit that
//!    was idle has begun something, or goes on with what had waited;
//! 2. after [`until_all_came`](bounds::until_all_came) cycles at the latest the permit is not
//!    idle any more, or the item not available.
//!
//! Also: every program ends (*liveness*), and never more than n leaves run, each with a permit of
//! its own.
//!
//! # What is available
//!
//! | item | from | until |
//! |---|---|---|
//! | a call from outside | the call | its first code runs |
//! | a loop | the end of its first iteration | its last iteration begins |
//! | the second half of a join | the begin of the first half | it begins |
//! | a job of a scope, a detached job | the call of `spawn` | it begins |
//! | a call of a broadcast, with its own permit only | the call of `broadcast` | it begins |
//!
//! # What is excused
//!
//! * Work that is over within the bounds: a wake-up takes that long, so a shorter loop may run
//!   serially, and so may the rest of a tree.
//! * A loop's first iteration: until it ends, no thread can know that it is long.
//! * The begin of a wait: if a thread waits with its permit, inside a job or, as a caller from
//!   outside, for its loop, another replaces it after a while ([`REPLACED`](bounds::REPLACED)).
//! * The rest of a block that one thread has claimed. The check does not see blocks. A block is
//!   much longer than predicted only in loops whose first iterations say nothing about the last.
//! * What a caller does outside of the pool.
//! * What the constants in `bounds.rs` do not promise yet.
//!
//! # How it is checked
//!
//! [`program`] defines programs, [`random`] makes one of a seed, and [`world`] runs it on a
//! machine. [`recorder`] keeps in the host's memory, at no simulated cost, the times when each item
//! was offered and begun and when each permit was busy. [`verdict`] finds the longest idle times in
//! that, and [`shrink`] makes a smaller program that fails as well. [`fault`] has the defects that
//! the check must find, and [`found`] programs that have found one.
//!
//! [`moving`] has a second property and programs of its own: a permit is one thread's at a time.
//!
//! `MANYCORE_SEED=7` runs the program of one seed and prints it. `MANYCORE_SCHEDULES=100`
//! tries a hundred times as many seeds.

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

use bounds::BLOCKS_ARE_GIVEN_UP;
use program::Program;
use random::Mixture;
use table::Table;
use verdict::Verdict;

/// Seeds of one run of the test: twenty to thirty seconds of a core's time.
const SEEDS: u64 = 440;

/// The promise that a run broke, if any, and its idle times of permits.
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

/// The programs of a seed.
fn programs(seed: u64) -> impl Iterator<Item = (Mixture, Program)> {
    let (mixture, program) = random::program(seed);
    // Four and the number of mixtures have no common divisor: each mixture has its turn.
    let crowded = (seed % 4 == 1).then(|| program.clone().crowded());
    let programs = std::iter::once(program).chain(crowded);
    programs.map(move |program| (mixture, program))
}

/// The first program of `seeds` that fails, and why.
fn first_failure(mut seeds: impl Iterator<Item = u64>) -> Option<(u64, Mixture, String)> {
    seeds.find_map(|seed| {
        let mut failures = programs(seed).filter_map(|(mixture, program)| {
            check(mixture, &program).0.map(|why| (seed, mixture, why))
        });
        failures.next()
    })
}

/// The value of an environment variable that is a number.
fn number(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok()?;
    match value.parse() {
        Ok(number) => Some(number),
        Err(_) => panic!("{name}={value}: expected a number"),
    }
}

/// A failure as a reader needs it: the program of `seed` that fails, as small as can be.
fn report(seed: u64, mixture: Mixture, program: &Program, why: &str) -> String {
    let smallest = shrink::smallest(program, |program| check(mixture, program).0.is_some());
    let less = check(mixture, &smallest).0.unwrap_or_default();
    format!(
        "MANYCORE_SEED={seed}, {mixture:?}: {why}\nand of a smaller program: {less}\n{smallest:?}"
    )
}

#[test]
#[cfg_attr(miri, ignore = "simulated threads are coroutines in assembly")]
fn nothing_is_left_lying_while_a_permit_is_idle() {
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
    // Without the variable, as many as a newcomer waits for.
    let seeds = number("MANYCORE_SCHEDULES").map_or(SEEDS / 4, |times| SEEDS * times);
    let (mut table, mut failed) = (Table::default(), Vec::new());
    for (seed, (mixture, program)) in
        (0..seeds).flat_map(|seed| programs(seed).map(move |program| (seed, program)))
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
        panic!("{count} programs of {seeds} seeds fail\n{report}");
    }
}

#[test]
#[cfg_attr(miri, ignore = "simulated threads are coroutines in assembly")]
fn what_was_late_once_is_in_time() {
    for (name, program) in found::programs() {
        let late = check(Mixture::Crowd, &program).0;
        assert_eq!(late, None, "{name}: {program:?}");
    }
}

/// Each defect is found, and within a few seeds.
#[test]
#[cfg_attr(miri, ignore = "simulated threads are coroutines in assembly")]
fn a_pool_that_does_not_hear_is_caught() {
    for (fault, seed) in fault::ALL {
        let found = fault::with(fault, || first_failure((seed..110).chain(0..seed)));
        let (seed, mixture, why) = found.unwrap_or_else(|| panic!("{fault:?} is not found"));
        println!("{fault:?}: seed {seed}, {mixture:?}: {why}");
    }
}

/// A loop that calls no more clusters when it lasts longer than predicted is late.
#[test]
#[cfg_attr(miri, ignore = "simulated threads are coroutines in assembly")]
fn a_loop_that_calls_too_few_is_caught() {
    let program = found::suddenly_long();
    let late = fault::with(fault::Fault::FewForEver, || {
        check(Mixture::Crowd, &program).0
    });
    assert!(late.is_some());
}

/// The same seed gives the same run, to the cycle.
#[test]
#[cfg_attr(miri, ignore = "simulated threads are coroutines in assembly")]
fn a_seed_gives_one_run() {
    for seed in 0..18 {
        let ends = [(); 2].map(|()| world::run(&random::program(seed).1).end);
        assert_eq!(ends[0], ends[1], "seed {seed}");
    }
}
