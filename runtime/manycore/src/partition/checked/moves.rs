//! Checks `sharded`: ranges move from shard to shard (a shard holds one thread's range) while their owners claim from
//! them.
//!
//! While a thief moves a range from one shard to another, the range is in no shard. A participant that then finds
//! all shards empty may leave, since the thief runs the range. The checks demand that no iteration is lost or runs
//! twice. They do not demand that all participants stay until the end.

use super::each_once;
use crate::clusters::Clusters;
use crate::partition::sharded::{Ranges, Sharded, Shards};
use manycore_check::{
    Faulty, Loom, Shuttle, TornAdd, TornCas, caught, loom_model, shuttle_pct, shuttle_random,
};
use manycore_platform::{Native, Platform};
use std::num::NonZeroUsize;

/// A loop in a pool of `threads`. Only `participants` of them take part.
fn sharded<P: Platform>(n: usize, block: usize, threads: usize, participants: usize) {
    let clusters = Clusters::new(&vec![0; threads]);
    let shards = Shards::<P>::new(&clusters);
    let partition = Sharded {
        ranges: Ranges::new(&shards, &clusters, n, 0, threads, clusters.all()),
        block: NonZeroUsize::new(block).unwrap(),
    };
    each_once::<P, _>(&partition, n, participants);
}

/// This test covers every claim and every steal between two shards, in both directions.
#[test]
fn two_participants() {
    for n in 1..=3 {
        loom_model(Some(3), move || sharded::<Loom>(n, 1, 2, 2));
    }
}

#[test]
fn two_participants_and_a_shard_without_owner() {
    loom_model(Some(2), || sharded::<Loom>(3, 1, 3, 2));
}

/// A panic has ended a loop before all of its shards were empty. The next loop does not run the iterations that
/// are left in these shards.
fn after_a_panic<P: Platform>() {
    let clusters = Clusters::new(&[0, 0]);
    let shards = Shards::<P>::new(&clusters);
    let ranges = Ranges::new(&shards, &clusters, 6, 0, 2, clusters.all());
    for rank in 0..2 {
        assert!(ranges.own(rank).claim(1).is_some());
    }
    let partition = Sharded {
        ranges: Ranges::new(&shards, &clusters, 2, 0, 2, clusters.all()),
        block: NonZeroUsize::MIN,
    };
    each_once::<P, _>(&partition, 2, 2);
}

#[test]
fn the_next_loop_ignores_a_shard_that_a_panic_left_full() {
    loom_model(Some(3), after_a_panic::<Loom>);
}

/// Shuttle runs this, not loom: if three participants steal from each other, loom takes minutes even with one
/// preemption.
#[test]
fn four_participants_and_a_longer_loop() {
    for (n, block, participants) in [(3, 1, 3), (37, 3, 4), (37, 1, 3)] {
        let model = move || sharded::<Shuttle>(n, block, 4, participants);
        shuttle_random(1_000, model);
        shuttle_pct(1_000, 4, model);
    }
}

/// A shard counts to 2^31 - 1. For longer loops, it counts in units of several iterations.
#[test]
fn the_longest_loops() {
    for n in [1 << 31, (1 << 33) + 5, usize::MAX] {
        sharded::<Native>(n, n / 9, 2, 2);
    }
}

#[test]
fn a_claim_or_a_steal_or_a_beginning_by_load_and_store_is_caught() {
    let claim = || loom_model(Some(3), || sharded::<Faulty<Loom, TornAdd>>(3, 1, 2, 2));
    assert!(caught(claim).contains("handed out twice"));
    let steal = || loom_model(Some(3), || sharded::<Faulty<Loom, TornCas>>(3, 1, 2, 2));
    assert!(caught(steal).contains("handed out twice"));
}
