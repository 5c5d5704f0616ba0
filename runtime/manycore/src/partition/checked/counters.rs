//! The partitioners that claim from shared words: `static`, `fixed-block`,
//! `guided`, `factoring`.

use super::each_once;
use crate::partition::factoring::Factoring;
use crate::partition::fixed_block::FixedBlock;
use crate::partition::guided::Guided;
use crate::partition::r#static::Static;
use manycore_check::{
    Faulty, Loom, Shuttle, TornAdd, TornCas, TornSwap, caught, loom_model, shuttle_pct,
    shuttle_random,
};
use manycore_platform::{Native, Platform};
use std::num::NonZeroUsize;

fn fixed_block<P: Platform>(n: usize, block: usize, threads: usize) {
    let block = NonZeroUsize::new(block).unwrap();
    each_once::<P, _>(&FixedBlock::<P>::new(n, block, threads), n, threads);
}

fn guided<P: Platform>(n: usize, threads: usize) {
    each_once::<P, _>(&Guided::<P>::new(n, threads), n, threads);
}

fn factoring<P: Platform>(n: usize, threads: usize) {
    each_once::<P, _>(&Factoring::<P>::new(n, threads), n, threads);
}

fn equal_shares<P: Platform>(n: usize, threads: usize) {
    each_once::<P, _>(&Static::<P>::new(n, threads), n, threads);
}

/// Lengths that the block divides and does not, shorter than a block, and
/// shorter than the threads are many.
#[test]
fn fixed_block_in_every_interleaving() {
    for (n, block, threads) in [(4, 1, 2), (5, 2, 2), (1, 3, 2), (3, 2, 3), (2, 1, 3)] {
        loom_model(None, move || fixed_block::<Loom>(n, block, threads));
    }
}

/// A loop so long that adding blocks past its end would wrap the counter.
#[test]
fn fixed_block_near_the_end_of_the_counter() {
    let half = usize::MAX / 2;
    loom_model(None, move || fixed_block::<Loom>(usize::MAX, half, 2));
}

/// Three threads with at most three interruptions: without a bound 100,000
/// interleavings of nothing else.
#[test]
fn guided_in_every_interleaving() {
    for (n, threads, bound) in [(3, 2, None), (1, 2, None), (2, 3, Some(3))] {
        loom_model(bound, move || guided::<Loom>(n, threads));
    }
}

#[test]
fn factoring_in_every_interleaving() {
    for (n, threads) in [(5, 2), (1, 2), (2, 3)] {
        loom_model(None, move || factoring::<Loom>(n, threads));
    }
}

/// Three threads with at most two interruptions: each looks at each share, and
/// without a bound that takes minutes.
#[test]
fn static_in_every_interleaving() {
    for (n, threads, bound) in [(5, 2, None), (1, 2, None), (4, 3, Some(2)), (2, 3, Some(2))] {
        loom_model(bound, move || equal_shares::<Loom>(n, threads));
    }
}

#[test]
fn four_participants_and_a_longer_loop() {
    fn all() {
        fixed_block::<Shuttle>(37, 4, 4);
        guided::<Shuttle>(37, 4);
        factoring::<Shuttle>(37, 4);
        equal_shares::<Shuttle>(37, 4);
    }
    shuttle_random(1_000, all);
    shuttle_pct(1_000, 3, all);
}

/// Beyond 2^32 iterations, to the last index there is.
#[test]
fn the_longest_loops() {
    for n in [(1 << 32) + 5, usize::MAX - 1, usize::MAX] {
        fixed_block::<Native>(n, n / 7, 2);
        guided::<Native>(n, 2);
        factoring::<Native>(n, 2);
        equal_shares::<Native>(n, 2);
    }
}

#[test]
fn a_claim_by_load_and_store_is_caught() {
    let why = caught(|| loom_model(None, || fixed_block::<Faulty<Loom, TornAdd>>(2, 1, 2)));
    assert!(why.contains("handed out twice"), "{why}");
    let why = caught(|| loom_model(None, || factoring::<Faulty<Loom, TornAdd>>(2, 2)));
    assert!(why.contains("handed out twice"), "{why}");
    let why = caught(|| loom_model(None, || guided::<Faulty<Loom, TornCas>>(2, 2)));
    assert!(why.contains("handed out twice"), "{why}");
    let near_the_end = || fixed_block::<Faulty<Loom, TornCas>>(usize::MAX, usize::MAX / 2, 2);
    let why = caught(|| loom_model(None, near_the_end));
    assert!(why.contains("handed out twice"), "{why}");
    let why = caught(|| loom_model(None, || equal_shares::<Faulty<Loom, TornSwap>>(2, 2)));
    assert!(why.contains("handed out twice"), "{why}");
}
