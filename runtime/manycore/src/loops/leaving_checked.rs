//! Checks a loop during which the allotment shrinks and grows. A helper that must leave the loop leaves its range to
//! other threads, and the caller does not overlook that range.

use super::launch::LoopFrame;
use crate::clusters::Clusters;
use crate::partition::checked::HandedOut;
use crate::partition::{Body, FixedBlock, Partition, Ranges, Sharded, Shards};
use crate::pool::{Gate, Participation};
use manycore_check::{
    Faulty, Loom, Relaxed, Shuttle, TornCas, caught, loom_model, shuttle_pct, shuttle_random, team,
};
use manycore_cores::elastic::Allotment;
use manycore_platform::{Atomic, Ordering, Platform};
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::AtomicUsize;

/// A mistake that the caller of a loop could make.
#[derive(Clone, Copy, Debug, PartialEq)]
enum LeavingMistake {
    /// The caller does not look whether a helper has left work.
    DoesNotLook,
    /// The caller looks only before it has seen that all helpers have left.
    LooksEarly,
}

/// Runs the caller and helpers of one loop over `partition`. When the `k`-th block begins, the allotment becomes
/// `changes[k]`.
///
/// This is what `Registry::post`, `Registry::help` and `Worker::stand_aside` do, without a pool. Threads sleep
/// only on the allotment.
fn loop_while_it_changes<P: Platform, S: Partition>(
    partition: S,
    n: usize,
    helpers: usize,
    changes: &[usize],
    mistake: Option<LeavingMistake>,
) {
    let tally = HandedOut::default();
    let allotment = Allotment::<P>::new(1 + helpers);
    // The test's own count uses the standard library's atomic, so it is no step of the model.
    let begun = AtomicUsize::new(0);
    let body = |_, block: Range<usize>| {
        let before = begun.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        if let Some(&cores) = changes.get(before) {
            allotment.set(cores);
        }
        tally.add(block);
    };
    let body = Body::new(&body);
    let frame = LoopFrame::<P, S>::new(body, 0, partition, Some(&allotment));
    let gate = Gate::<P>::new();
    gate.open();
    let over = P::AtomicBool::new(false);
    team::<P>(1 + helpers, |rank| {
        if rank == 0 {
            loop {
                frame.call(0, || true);
                gate.close();
                let early = mistake == Some(LeavingMistake::LooksEarly) && !frame.is_abandoned();
                while !gate.is_empty() {
                    P::yield_now();
                }
                let looks = mistake != Some(LeavingMistake::DoesNotLook) && !early;
                if !looks || !frame.is_abandoned() {
                    break;
                }
                frame.take_up();
                gate.open();
            }
            over.store(true, Ordering::Release);
            return allotment.nudge();
        }
        while !over.load(Ordering::Acquire) {
            if gate.join().is_err() {
                return;
            }
            // SAFETY: the body has no partial results.
            if unsafe { frame.help(rank, std::ptr::null()) } == Participation::Done {
                let _ = gate.leave_closed();
                return;
            }
            let _ = gate.leave();
            allotment.await_turn(rank, || over.load(Ordering::Acquire));
        }
    });
    tally.assert_each_once(n);
}

fn sharded<P: Platform>(
    n: usize,
    helpers: usize,
    allowed: usize,
    changes: &[usize],
    mistake: Option<LeavingMistake>,
) {
    let clusters = Clusters::new(&vec![0; 1 + helpers]);
    let shards = Shards::<P>::new(&clusters);
    let partition = Sharded {
        ranges: Ranges::new(&shards, &clusters, n, 0, allowed, clusters.all()),
        block: NonZeroUsize::MIN,
    };
    loop_while_it_changes::<P, _>(partition, n, helpers, changes, mistake);
}

/// The caller has all three iterations at first. The helper steals two of them, and must leave
/// after one of these two. By then the caller has run its own iteration. It is still looking for
/// more, or has looked in vain during the theft.
const LEAVES_ONE: (usize, usize, &[usize]) = (3, 1, &[2, 1]);

#[test]
fn it_shrinks() {
    let (n, allowed, changes) = LEAVES_ONE;
    loom_model(Some(2), move || {
        sharded::<Loom>(n, 1, allowed, changes, None)
    });
    loom_model(Some(1), || sharded::<Loom>(4, 1, 2, &[1], None));
}

#[test]
fn allotment_may_grow_and_shrink_again() {
    for changes in [&[1, 2][..], &[2, 1, 2]] {
        loom_model(Some(1), move || sharded::<Loom>(3, 1, 1, changes, None));
    }
}

#[test]
fn helper_finishes_its_block_before_it_leaves() {
    for changes in [&[1][..], &[1, 2]] {
        loom_model(Some(2), move || {
            let twos = FixedBlock::<Loom>::new(4, NonZeroUsize::new(2).unwrap(), 2);
            loop_while_it_changes::<Loom, _>(twos, 4, 1, changes, None);
        });
    }
}

#[test]
fn three_helpers_leave_and_return_in_a_longer_loop() {
    let changes: &[usize] = &[4, 2, 2, 1, 3, 3, 4, 1, 1, 1, 4, 2, 1, 2, 3];
    let model = move || sharded::<Shuttle>(31, 3, 4, changes, None);
    shuttle_random(2_000, model);
    shuttle_pct(2_000, 4, model);
}

#[test]
fn each_mistake_is_caught() {
    let (n, allowed, changes) = LEAVES_ONE;
    for mistake in [LeavingMistake::DoesNotLook, LeavingMistake::LooksEarly] {
        let model = || {
            loom_model(Some(2), move || {
                sharded::<Loom>(n, 1, allowed, changes, Some(mistake));
            });
        };
        let why = caught(model);
        assert!(
            why.contains("lost") || why.contains("the end"),
            "{mistake:?}: {why}"
        );
    }
}

#[test]
fn each_fault_is_caught() {
    let (n, allowed, changes) = LEAVES_ONE;
    let relaxed = || {
        loom_model(Some(2), move || {
            sharded::<Faulty<Loom, Relaxed>>(n, 1, allowed, changes, None);
        })
    };
    // The caller may overlook iterations, or the helper may miss a nudge, which is a wake-up by the allotment.
    let why = caught(relaxed);
    let found = ["lost", "the end", "deadlock"];
    assert!(found.iter().any(|it| why.contains(it)), "{why}");
    let torn = || {
        loom_model(Some(2), move || {
            sharded::<Faulty<Loom, TornCas>>(n, 1, allowed, changes, None);
        })
    };
    assert!(caught(torn).contains("handed out twice"));
}
