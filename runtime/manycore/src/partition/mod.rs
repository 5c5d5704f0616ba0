//! Divides a loop's iterations among threads, so that each iteration runs exactly once. This module does not know
//! how threads wait, sleep or wake, which is the task of `pool`. `loops` uses both modules to post a loop.

mod begun;
mod body;
mod call_sites;
#[cfg(test)]
pub(crate) mod checked;
mod claim_time;
mod fixed_block;
mod holders;
mod partitioner;
mod shard;
mod sharded;
mod timed;

pub(crate) use body::{ALONE, Body, Gather, Place};
pub(crate) use call_sites::{CallSite, CallSites};
pub(crate) use fixed_block::{FixedBlock, FixedBlockClaims};
pub(crate) use partitioner::Division;
pub use partitioner::Partitioner;
pub(crate) use sharded::{Ranges, Sharded, Shards};
pub(crate) use timed::{BlockRate, TimedClaims, measure_claim};

use crate::clusters::Invited;
use std::ops::Range;

/// The division of one loop's iterations. It is on the caller's stack, and all participants share it.
pub trait Partition: Sync {
    /// One participant's claims from this division.
    type Claims<'a>: Claims
    where
        Self: 'a;

    /// Returns the source of the claims of participant `rank`. No two participants of a loop have the same rank.
    fn claims(&self, rank: usize) -> Self::Claims<'_>;

    /// Prepares the division before the clusters `more` (groups of near threads) are invited too. The threads of these
    /// clusters have no share, and steal.
    fn admit(&self, more: Invited) {
        let _ = more;
    }
}

/// One participant's claims.
pub trait Claims {
    /// Claims the next block for this participant. The block is never empty. Returns `None` if nothing is left
    /// that the participant could take.
    fn next(&mut self) -> Option<Range<usize>>;

    /// Returns the ticks that the participant's blocks took, without the search for them, or `None` if blocks are
    /// not timed.
    fn busy(&self) -> Option<u64> {
        None
    }

    /// The participant calls this to leave before the end, between two blocks. Returns whether it leaves iterations
    /// for which other participants may already have looked in vain. If all participants claim from the same words,
    /// this cannot happen.
    fn abandon(self) -> bool
    where
        Self: Sized,
    {
        false
    }
}
