//! The public word of a job stack. It says which jobs of the stack thieves may steal.

/// Set in the word if `Platform::has_light_fences` is false. The owner then always reads the word twice, the second
/// time after a fence.
pub(super) const FENCED: u64 = 1 << 63;
/// The number of bits of an index in a stack. The next constants are the positions and masks of the word's fields (see
/// [`Public`]).
const INDEX_BITS: u32 = 23;
const LIMIT_SHIFT: u32 = 63 - INDEX_BITS;
const TOP_SHIFT: u32 = LIMIT_SHIFT - INDEX_BITS;
const INDEX_MASK: u64 = (1 << INDEX_BITS) - 1;
const RAISER_MASK: u64 = (1 << TOP_SHIFT) - 1;
/// If `limit` has this value, a thief requests jobs, and nothing is public.
const REQUESTED: u32 = INDEX_MASK as u32;
/// If `raiser` has this value, the owner saw a request when it had no job to give.
const PROMISED: u64 = RAISER_MASK;

/// The most jobs that a stack can hold. Their indices, and the next index after them, are all below [`REQUESTED`].
pub(super) const MOST_JOBS: u32 = REQUESTED - 2;

/// Says in one word which jobs of a stack are stolen, public or private. Each change is one compare-and-swap.
///
/// Indices count from 1. Jobs up to `top` are stolen, jobs after `top` up to `limit` are public, and jobs above both
/// are private to the owner. While `raiser` names a thief, nothing is public yet: that thief is about to make the jobs
/// up to `limit` public. While `limit` is the largest number, a thief requests jobs from the owner.
///
/// The limit is in the highest bits below FENCED. So the owner can check with one comparison of the whole word
/// whether a job is its own (see [`covers`](Self::covers)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Public(pub(super) u64);

/// The state that a public word means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PublicState {
    /// Thieves may steal the jobs above `top` up to `limit`. There may be none.
    Open,
    /// Nothing may be stolen, and a thief requests jobs.
    Requested,
    /// Nothing may be stolen. The owner has seen a request, and will give away the next job that it pushes.
    Promised,
    /// Nothing may be stolen yet. A thief is about to raise the limit.
    Raising,
}

impl Public {
    pub(super) fn open(top: u32, limit: u32) -> Self {
        Self(u64::from(limit) << LIMIT_SHIFT | u64::from(top) << TOP_SHIFT)
    }

    pub(super) fn requested(top: u32) -> Self {
        Self::open(top, REQUESTED)
    }

    pub(super) fn promised(top: u32) -> Self {
        Self(Self::open(top, top).0 | PROMISED)
    }

    /// The worker `raiser` is about to make the jobs above `top` up to `limit` public.
    pub(super) fn raising(top: u32, limit: u32, raiser: usize) -> Self {
        Self(Self::open(top, limit).0 | (raiser as u64 + 1))
    }

    pub(super) fn top(self) -> u32 {
        (self.0 >> TOP_SHIFT & INDEX_MASK) as u32
    }

    pub(super) fn limit(self) -> u32 {
        (self.0 >> LIMIT_SHIFT & INDEX_MASK) as u32
    }

    pub(super) fn state(self) -> PublicState {
        if self.0 & RAISER_MASK == PROMISED {
            PublicState::Promised
        } else if self.0 & RAISER_MASK != 0 {
            PublicState::Raising
        } else if self.limit() == REQUESTED {
            PublicState::Requested
        } else {
            PublicState::Open
        }
    }

    /// Whether the owner must call `JobStack::confirm` before it takes the job at `index`. This is so if `index` is
    /// not above the limit, or if FENCED is set.
    #[inline(always)]
    pub(super) fn covers(self, index: u32) -> bool {
        self.0 >= u64::from(index) << LIMIT_SHIFT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn covers_compares_the_limit() {
        for (top, limit) in [(0, 0), (0, 1), (3, 7), (7, 7), (0, MOST_JOBS)] {
            let raised = Public::raising(top, limit, 16_000);
            for word in [Public::open(top, limit), raised] {
                assert_eq!((word.top(), word.limit()), (top, limit));
                for index in [1, 6, 7, 8, MOST_JOBS] {
                    assert_eq!(word.covers(index), index <= limit, "{word:?} {index}");
                }
            }
            assert_eq!(raised.state(), PublicState::Raising);
        }
        assert!(Public(Public::open(0, 0).0 | FENCED).covers(7));
        assert!(Public::requested(5).covers(MOST_JOBS));
        assert_eq!(Public::requested(5).state(), PublicState::Requested);
        assert_eq!(Public::promised(5).state(), PublicState::Promised);
        assert!(!Public::promised(5).covers(6));
        assert_eq!(Public::open(5, 5).state(), PublicState::Open);
    }
}
