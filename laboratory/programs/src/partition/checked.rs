//! The partitioners that claim from shared words, under the model checkers. In every interleaving each
//! iteration is handed out once.

use super::factoring::Factoring;
use super::guided::Guided;
use super::r#static::Static;
use manycore::seam::{Claims, Partition};
use manycore_check::{
    Faulty, Loom, Shuttle, TornAdd, TornCas, TornSwap, caught, loom_model, shuttle_pct,
    shuttle_random, team,
};
use manycore_platform::{Native, Platform};
use std::ops::Range;
use std::sync::Mutex;

/// The iterations that were handed out. The lock is from the standard library, so that using it is no step of the
/// model.
#[derive(Default)]
struct HandedOut(Mutex<Vec<Range<usize>>>);

impl HandedOut {
    fn add(&self, block: Range<usize>) {
        assert!(!block.is_empty(), "an empty block");
        self.0.lock().unwrap().push(block);
    }

    /// Asserts that `0..n` was handed out, each index once.
    fn assert_each_once(self, n: usize) {
        let mut blocks = self.0.into_inner().unwrap();
        blocks.sort_unstable_by_key(|block| block.start);
        let mut end = 0;
        for block in &blocks {
            assert!(block.start >= end, "handed out twice: {blocks:?} of {n}");
            assert!(block.start <= end, "lost: {blocks:?} of {n}");
            end = block.end;
        }
        assert_eq!(end, n, "the end: {blocks:?}");
    }
}

/// Participants `0..participants` claim from `partition`, of `n` iterations, until no iteration is left.
fn each_once<P: Platform, S: Partition>(partition: &S, n: usize, participants: usize) {
    let tally = HandedOut::default();
    team::<P>(participants, |rank| {
        let mut claims = partition.claims(rank);
        while let Some(block) = claims.next() {
            tally.add(block);
        }
    });
    tally.assert_each_once(n);
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

/// Three threads have at most three preemptions, since without a bound there are 100,000 equivalent interleavings.
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

/// Three threads have at most two preemptions. Each thread looks at each share, and without a bound this takes minutes.
#[test]
fn static_in_every_interleaving() {
    for (n, threads, bound) in [(5, 2, None), (1, 2, None), (4, 3, Some(2)), (2, 3, Some(2))] {
        loom_model(bound, move || equal_shares::<Loom>(n, threads));
    }
}

#[test]
fn four_participants_and_a_longer_loop() {
    fn all() {
        guided::<Shuttle>(37, 4);
        factoring::<Shuttle>(37, 4);
        equal_shares::<Shuttle>(37, 4);
    }
    shuttle_random(1_000, all);
    shuttle_pct(1_000, 3, all);
}

/// Loops of more than 2^32 iterations, up to the longest.
#[test]
fn the_longest_loops() {
    for n in [(1 << 32) + 5, usize::MAX - 1, usize::MAX] {
        guided::<Native>(n, 2);
        factoring::<Native>(n, 2);
        equal_shares::<Native>(n, 2);
    }
}

#[test]
fn a_claim_by_load_and_store_is_caught() {
    let why = caught(|| loom_model(None, || factoring::<Faulty<Loom, TornAdd>>(2, 2)));
    assert!(why.contains("handed out twice"), "{why}");
    let why = caught(|| loom_model(None, || guided::<Faulty<Loom, TornCas>>(2, 2)));
    assert!(why.contains("handed out twice"), "{why}");
    let why = caught(|| loom_model(None, || equal_shares::<Faulty<Loom, TornSwap>>(2, 2)));
    assert!(why.contains("handed out twice"), "{why}");
}
