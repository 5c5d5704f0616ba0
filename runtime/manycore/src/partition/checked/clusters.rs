//! Checks the bit that says whether a cluster (a group of near threads) holds iterations.

use crate::clusters::Member;
use crate::partition::holders::{Holders, HoldersWord};
use manycore_check::{Faulty, Loom, Relaxed, caught, loom_model, team};
use manycore_platform::Platform;

/// One member claims the last of its iterations. Meanwhile another member of the same cluster refills its shard (its
/// range). When both are done, thieves of other clusters find the second member.
fn emptied_and_refilled<P: Platform>() {
    let words = [HoldersWord::<P>::new(), HoldersWord::new()];
    let holders = Holders::new(&words, |word| word);
    let member = |cluster, number| Member { cluster, number };
    let [one, two] = [member(0, 0), member(0, 1)];
    // The second member is the caller, and has begun its share and claimed all of it.
    holders.fill(0, 1, two);
    holders.fill_clusters(0..1);
    holders.emptied(two);
    team::<P>(2, |rank| match rank {
        0 => holders.emptied(one),
        _ => holders.refilled(two),
    });
    assert!(holders.others(1).eq([0]), "a cluster is overlooked");
    holders.emptied(two);
    assert_eq!(holders.others(1).count(), 0);
}

#[test]
fn thieves_find_a_cluster_whose_member_refilled() {
    loom_model(None, emptied_and_refilled::<Loom>);
}

#[test]
fn without_orderings_a_cluster_is_overlooked() {
    let why = caught(|| loom_model(None, emptied_and_refilled::<Faulty<Loom, Relaxed>>));
    assert!(why.contains("overlooked"), "{why}");
}
