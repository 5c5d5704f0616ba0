//! Random programs over several pools that start no thread in the place of a waiting one. A program that does not
//! end takes more steps than the checker allows.

use crate::conserving::fault::{self, Fault};
use crate::pool::{Builder, Pool};
use crate::seam::BuilderExt;
use manycore_check::{Shuttle, caught, shuttle_pct, shuttle_random};
use manycore_platform::Platform;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

fn pool<P: Platform>(threads: usize) -> Pool<P> {
    Builder::on_platform()
        .open_joins(64)
        .dedicated(true)
        .reserve(false)
        .build_on(2, 1, vec![vec![]; threads])
        .expect("a model makes its threads")
}

/// Runs a random program of joins, scopes, loops and calls of other pools. Returns the number of its leaves.
fn run<P: Platform>(pools: &[Pool<P>], random: &mut fastrand::Rng, depth: u32) -> usize {
    if depth == 0 {
        return 1;
    }
    let pool = random.choice(pools).expect("there are some");
    let mut parts = [random.fork(), random.fork(), random.fork()];
    let sum = AtomicUsize::new(0);
    match random.u32(0..4) {
        0 => {
            let [one, other, _] = &mut parts;
            let (one, other) = pool.join(
                || run(pools, one, depth - 1),
                || run(pools, other, depth - 1),
            );
            return one + other;
        }
        1 => pool.scope(|scope| {
            for part in &mut parts {
                let sum = &sum;
                scope.spawn(move |_| _ = sum.fetch_add(run(pools, part, depth - 1), Relaxed));
            }
        }),
        2 => pool.parallel_for(0..3, |part| {
            sum.fetch_add(run(pools, &mut parts[part].clone(), depth - 1), Relaxed);
        }),
        _ => return pool.install(|| run(pools, &mut parts[0], depth - 1)),
    }
    sum.into_inner()
}

fn random_program(seed: u64) {
    let mut random = fastrand::Rng::with_seed(seed);
    let pools = [1, random.usize(1..3), 2].map(pool::<Shuttle>);
    let leaves = run(&pools, &mut random.clone(), 5);
    assert_eq!(leaves, run(&pools[1..2], &mut random, 5));
}

#[test]
fn random_programs_end() {
    for seed in 0..30 {
        shuttle_random(50, move || random_program(seed));
        shuttle_pct(50, 3, move || random_program(seed));
    }
}

#[test]
fn a_permit_that_is_offered_once_is_caught() {
    let keeps = || fault::with(Fault::OneOffer, || random_program(24));
    let why = caught(|| shuttle_pct(20_000, 3, keeps));
    assert!(why.contains("max_steps"), "{why}");
}
