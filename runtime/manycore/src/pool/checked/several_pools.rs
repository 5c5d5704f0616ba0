//! Random programs over several pools that start no thread in place of a waiting thread. A program that does not end
//! takes more steps than the checker allows.

use crate::conserving::fault::{self, Fault};
use crate::pool::Builder;
use crate::seam::BuilderExt;
use manycore_check::{Shuttle, caught, shuttle_pct, shuttle_random};
use random_program::run;

#[path = "../../../tests/support/random_program.rs"]
mod random_program;

type Pool = crate::pool::Pool<Shuttle>;

fn pool(threads: usize) -> Pool {
    Builder::on_platform()
        .open_joins(64)
        .dedicated(true)
        .reserve(false)
        .build_on(2, 1, vec![vec![]; threads])
        .expect("a model makes its threads")
}

fn program(seed: u64) {
    let mut random = fastrand::Rng::with_seed(seed);
    let pools = [1, random.usize(1..3), 2].map(pool);
    let leaves = run(&pools, &mut random.clone(), 5);
    assert_eq!(leaves, run(&pools[1..2], &mut random, 5));
}

#[test]
fn random_programs_end() {
    for seed in 0..30 {
        shuttle_random(20, move || program(seed));
        shuttle_pct(20, 3, move || program(seed));
    }
}

#[test]
fn a_permit_that_is_offered_once_is_caught() {
    let keeps = || fault::with(Fault::OneOffer, || program(24));
    let why = caught(|| shuttle_pct(20_000, 3, keeps));
    assert!(why.contains("max_steps"), "{why}");
}
