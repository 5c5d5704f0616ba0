//! Checks the bit that says whether a cluster (a group of near threads) holds iterations.

use crate::clusters::Member;
use crate::partition::holders::Holders;
use manycore_check::{Faulty, Loom, Relaxed, caught, loom_model, team};
use manycore_platform::{Atomic, Ordering, Platform};

/// One member claims the last of its iterations. Meanwhile another member of the same cluster refills its shard (its
/// range). When both are done, thieves of other clusters find the second member.
fn emptied_and_refilled<P: Platform>() {
    let holders = Holders::<P>::new(2);
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

/// A member leaves the loop, and its shard is not empty. Meanwhile another member of its cluster claims the last of its
/// own iterations, and leaves too. The caller looks for iterations when it knows that the first member has left or, if
/// `both`, when it knows that both have left.
fn two_leave<P: Platform>(both: bool) {
    let holders = Holders::<P>::new(2);
    let [one, two] = [0, 1].map(|number| Member { cluster: 0, number });
    holders.fill(0, 1, two);
    holders.fill_clusters(0..1);
    holders.emptied(two);
    let left = [P::AtomicBool::new(false), P::AtomicBool::new(false)];
    team::<P>(3, |rank| match rank {
        0 => {
            holders.emptied(one);
            left[0].store(true, Ordering::Release);
        }
        1 => {
            holders.refilled(two);
            left[1].store(true, Ordering::Release);
        }
        _ => {
            let has_left = |rank: usize| left[rank].load(Ordering::Acquire);
            if has_left(1) && (!both || has_left(0)) {
                assert!(holders.others(1).eq([0]), "a cluster is overlooked");
            }
        }
    });
}

/// So each member that leaves early tells the caller, even with an empty shard (`OwnRange::abandon`).
#[test]
fn a_member_that_leaves_may_hide_what_another_has_left() {
    loom_model(None, || two_leave::<Loom>(true));
    let why = caught(|| loom_model(None, || two_leave::<Loom>(false)));
    assert!(why.contains("overlooked"), "{why}");
}
