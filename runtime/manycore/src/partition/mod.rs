//! How a loop's iterations are given out, each exactly once; one file a partitioner. Nothing here
//! knows of threads that wait, sleep or are woken: that is the pool's (`pool`), and who posts a
//! loop is above both (`loops`).

mod body;
#[cfg(test)]
pub(crate) mod checked;
mod factoring;
mod fixed_block;
mod gain;
mod guided;
mod holders;
mod paced;
mod partitioner;
mod shard;
mod sharded;
mod sites;
mod r#static;

pub(crate) use body::{ALONE, Body, NO_RANK};
pub(crate) use factoring::Factoring;
pub(crate) use fixed_block::FixedBlock;
pub(crate) use gain::Gain;
pub(crate) use guided::Guided;
pub(crate) use paced::{Pace, PacedClaims, Report, measure_claim};
pub use partitioner::{Block, ParsePartitionerError, Partitioner};
pub(crate) use sharded::{Ranges, Sharded, Shards};
pub(crate) use sites::{Site, Sites};
pub(crate) use r#static::Static;

use manycore_platform::{Atomic, Ordering, Platform};
use std::ops::Range;

/// The next block of a loop of `n` iterations from a shared counter, of as many iterations as
/// `size` makes of those that are left; `None`: none is left. A compare-and-swap, and a transfer of
/// the counter's line, for each try.
#[inline]
fn claim_by_exchange<P: Platform>(
    next: &P::AtomicUsize,
    n: usize,
    size: impl Fn(usize) -> usize,
) -> Option<Range<usize>> {
    // Relaxed throughout: hands out iterations, publishes nothing.
    let mut start = next.load(Ordering::Relaxed);
    while start < n {
        let end = start + size(n - start);
        match next.compare_exchange(start, end, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => return Some(start..end),
            Err(now) => start = now,
        }
    }
    None
}

/// How one loop's iterations are divided; on the caller's stack, shared by all
/// who take part.
pub(crate) trait Partition: Sync {
    /// One participant's view.
    type Claims<'a>: Claims
    where
        Self: 'a;

    /// What the participant `rank` claims from. No two participants of a loop
    /// have the same rank.
    fn claims(&self, rank: usize) -> Self::Claims<'_>;
}

/// One participant's claims.
pub(crate) trait Claims {
    /// The next block for this participant, never empty; `None` when nothing
    /// is left that it could take.
    fn next(&mut self) -> Option<Range<usize>>;

    /// The participant leaves before the end, between two blocks. Whether it leaves
    /// iterations behind that others may have looked for in vain before they were
    /// there; not so where all claim from the same words.
    fn abandon(self) -> bool
    where
        Self: Sized,
    {
        false
    }
}
