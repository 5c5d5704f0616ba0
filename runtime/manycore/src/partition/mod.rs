//! Divides a loop's iterations among threads, each exactly once. This module knows nothing of
//! threads that wait, sleep or wake: that is the pool's task (`pool`), and posting a loop is above
//! both (`loops`).

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
pub(crate) use holders::HoldersWord;
pub(crate) use partitioner::Division;
pub use partitioner::Partitioner;
pub(crate) use sharded::{Ranges, Sharded, Shards};
pub(crate) use timed::{BlockRate, TimedClaims, measure_claim};

use crate::clusters::Invited;
use std::ops::Range;

/// The division of one loop's iterations; on the caller's stack, shared by all participants.
pub trait Partition: Sync {
    /// One participant's view.
    type Claims<'a>: Claims
    where
        Self: 'a;

    /// The source of the participant `rank`'s claims. No two participants of a loop have the same
    /// rank.
    fn claims(&self, rank: usize) -> Self::Claims<'_>;

    /// Before the clusters `more`, which had no share, are invited as well.
    fn admit(&self, more: Invited) {
        let _ = more;
    }
}

/// One participant's claims.
pub trait Claims {
    /// The next block for this participant, never empty; `None` when nothing
    /// is left that it could take.
    fn next(&mut self) -> Option<Range<usize>>;

    /// How long its blocks took, in ticks, without the search for them; `None`: it does not time
    /// them.
    fn busy(&self) -> Option<u64> {
        None
    }

    /// The participant leaves before the end, between two blocks. Returns whether it leaves
    /// iterations that others may have looked for in vain before; never so if all claim from the
    /// same words.
    fn abandon(self) -> bool
    where
        Self: Sized,
    {
        false
    }
}
