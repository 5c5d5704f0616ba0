//! Checks `fixed-block`, which claims from a shared counter.

use super::each_once;
use crate::partition::fixed_block::FixedBlock;
use manycore_check::{
    Faulty, Loom, Shuttle, TornAdd, TornCas, caught, loom_model, shuttle_pct, shuttle_random,
};
use manycore_platform::{Native, Platform};
use std::num::NonZeroUsize;

fn fixed_block<P: Platform>(n: usize, block: usize, threads: usize) {
    let block = NonZeroUsize::new(block).unwrap();
    each_once::<P, _>(&FixedBlock::<P>::new(n, block, threads), n, threads);
}

/// The cases: the block divides the length or not, the loop is shorter than a block, and there are fewer
/// iterations than threads.
#[test]
fn fixed_block_in_every_interleaving() {
    for (n, block, threads) in [(4, 1, 2), (5, 2, 2), (1, 3, 2), (3, 2, 3), (2, 1, 3)] {
        loom_model(None, move || fixed_block::<Loom>(n, block, threads));
    }
}

/// This loop is so long that adding blocks past its end would wrap the counter.
#[test]
fn fixed_block_near_the_end_of_the_counter() {
    let half = usize::MAX / 2;
    loom_model(None, move || fixed_block::<Loom>(usize::MAX, half, 2));
}

#[test]
fn four_participants_and_a_longer_loop() {
    let model = || fixed_block::<Shuttle>(37, 4, 4);
    shuttle_random(1_000, model);
    shuttle_pct(1_000, 3, model);
}

/// These loops have more than 2^32 iterations, up to the last possible index.
#[test]
fn the_longest_loops() {
    for n in [(1 << 32) + 5, usize::MAX - 1, usize::MAX] {
        fixed_block::<Native>(n, n / 7, 2);
    }
}

#[test]
fn a_claim_by_load_and_store_is_caught() {
    let why = caught(|| loom_model(None, || fixed_block::<Faulty<Loom, TornAdd>>(2, 1, 2)));
    assert!(why.contains("handed out twice"), "{why}");
    let near_the_end = || fixed_block::<Faulty<Loom, TornCas>>(usize::MAX, usize::MAX / 2, 2);
    let why = caught(|| loom_model(None, near_the_end));
    assert!(why.contains("handed out twice"), "{why}");
}
