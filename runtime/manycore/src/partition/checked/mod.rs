//! Model checks of the partitioners: in every interleaving of the participants, each iteration is handed out once.

mod clusters;
mod counters;
mod moves;
mod shard;

use super::{Claims, Partition};
use manycore_check::team;
use manycore_platform::Platform;
use std::ops::Range;
use std::sync::Mutex;

/// The ranges that participants got. The lock is the standard library's, so recording a range is no step of the
/// model.
#[derive(Default)]
pub(crate) struct HandedOut(Mutex<Vec<Range<usize>>>);

impl HandedOut {
    pub(crate) fn add(&self, block: Range<usize>) {
        assert!(!block.is_empty(), "an empty block");
        self.0.lock().unwrap().push(block);
    }

    /// Asserts that `0..n` was handed out, each index once.
    pub(crate) fn assert_each_once(self, n: usize) {
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

/// Participants `0..participants` claim from `partition`, which has `n` iterations, until nothing is left for
/// them. Asserts that each iteration is handed out once.
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
