//! A permit is one thread's at a time, also while threads move from permit to permit.
//!
//! A thread that waits while others' jobs are pending gives its permit away and continues with another. So
//! whatever says which permit a thread has is old after each wait: a permit that was read, a rank,
//! a `Context`. A thread that goes on with an old one works beside the new holder of that permit,
//! under the same number. Then iterations are lost, and two threads have the same `&mut`.
//!
//! Random programs cause this on the simulated machine: bodies of every kind (of loops, joins,
//! scopes, detached jobs, broadcasts, calls into another pool) that wait for long in every kind of
//! call, while unrelated jobs are available; from one to three callers from outside; in a pool
//! whose allotment changes meanwhile; with pools whose threads end and start again.
//!
//! # The property
//!
//! A *stretch* is what a thread does of a user's code without a call into a pool: from the begin
//! of a body, or the return of a call, to the next call, or the end of the body.
//!
//! 1. A stretch is with a permit of its pool, which is the same at its end. No two stretches of
//!    different threads with one permit overlap. (A thread inside a call has no stretch: it may
//!    have given its permit away.)
//! 2. Blocks of one loop under one rank do not overlap, if different threads run them. A block
//!    lasts from its begin to its end, calls and all: a thread keeps its rank in the loop.
//! 3. Each iteration of each loop runs once, and what the loop makes is what a plain loop makes.
//!    Each item is dropped once.
//! 4. When `end_threads` has returned, none of the pool's threads runs, if no call of the pool was
//!    under way.
//! 5. Each program ends.
//!
//! [`program`] defines programs, [`random`] makes one of a seed, [`world`] runs it, [`witness`]
//! checks, [`shrink`] makes a smaller program that fails as well.
//!
//! `MANYCORE_SEED=7` runs the program of one seed and prints it. `MANYCORE_SCHEDULES=100` tries a
//! hundred times as many seeds:
//!
//! ```text
//! MANYCORE_SCHEDULES=250 cargo test -p manycore --lib conserving::moving -- --nocapture
//! ```

mod program;
mod random;
mod shrink;
mod token;
mod witness;
mod world;

use super::{fault, number};

/// Seeds of one run of the test.
const SEEDS: u64 = 400;

/// The first seed with a program that fails, and the reason.
fn first_failure(mut seeds: impl Iterator<Item = u64>) -> Option<(u64, String)> {
    seeds.find_map(|seed| {
        let why = world::run(&random::program(seed)).err()?;
        Some((seed, why))
    })
}

/// Each defect is found, and within a thousand seeds.
#[test]
#[cfg_attr(miri, ignore = "simulated threads are coroutines in assembly")]
fn a_thread_that_goes_on_in_an_old_permit_is_caught() {
    for (fault, seed) in fault::MOVED {
        let found = fault::with(fault, || first_failure((seed..1000).chain(0..seed)));
        let (seed, why) = found.unwrap_or_else(|| panic!("{fault:?} is not found"));
        println!("{fault:?}: seed {seed}: {why}");
    }
}

/// A failure as a reader needs it.
fn report(seed: u64, why: &str) -> String {
    let smallest = shrink::smallest(&random::program(seed), |program| {
        world::run(program).is_err()
    });
    let less = world::run(&smallest).err().unwrap_or_default();
    format!("MANYCORE_SEED={seed}: {why}\nand of a smaller program: {less}\n{smallest:?}")
}

#[test]
#[cfg_attr(miri, ignore = "simulated threads are coroutines in assembly")]
fn a_permit_is_one_threads_at_a_time() {
    let one = number("MANYCORE_SEED");
    let seeds = match one {
        Some(seed) => seed..seed + 1,
        None => 0..SEEDS * number("MANYCORE_SCHEDULES").unwrap_or(1),
    };
    let mut failed = Vec::new();
    for seed in seeds {
        let program = random::program(seed);
        if one.is_some() {
            println!("{program:?}");
        }
        if let Err(why) = world::run(&program) {
            println!("seed {seed}: {why}");
            failed.push((seed, why));
        }
    }
    if let Some((seed, why)) = failed.first() {
        panic!("{} programs fail\n{}", failed.len(), report(*seed, why));
    }
}
