//! What every partitioner is to the launcher: something that hands out the
//! iterations of one loop, each exactly once.

use std::ops::Range;

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
