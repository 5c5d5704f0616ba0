//! How long a block should take, if blocks are sized by time.

/// A block takes the rest of the thread's range, divided by this number: one half of it.
const PART: u64 = 2;

/// Returns how long the next block of a participant should take. Each participant claims from its own range. Once that
/// range is empty, the participant takes half of the range of another participant.
///
/// `claim_cost` is how long a claim takes. `work` is how long the participant would need for the rest of its range.
/// Both arguments and the result have the same unit, ticks or nanoseconds. The result is at most `work`, but at least
/// 1.
///
/// No thread can take a part of a block that another thread has claimed, so the loop ends when the last block ends. If
/// each block is a part f of the remainder, blocks shrink until they reach a least duration m. For work w, this takes
/// `ln(f w / m) / -ln(1 - f)` claims and some `1 / f` more. At the end, a thread waits for half a least block on
/// average. If a claim costs c, the costs that depend on m are
///
/// ```text
/// c / -ln(1 - f) ln(1 / m)  +  m / 2
/// ```
///
/// Their sum is least at m = 2 c / -ln(1 - f), which is about 3 c for f = 1/2. The minimum is flat, so m is the
/// nearest power of two, 4 c. A larger f needs fewer claims but makes blocks longer. With f = 1/2, a thread that turns
/// out to be half as fast as the other threads has not yet claimed more than its share.
#[inline]
pub(super) fn claim_time(claim_cost: u64, work: u64) -> u64 {
    let least = claim_cost.saturating_mul(4);
    (work / PART).max(least).min(work).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the number of claims until nothing of `work` is left.
    fn claims(claim: u64, work: u64) -> u64 {
        let (mut left, mut claims) = (work, 0);
        while left > 0 {
            left -= claim_time(claim, left);
            claims += 1;
        }
        claims
    }

    #[test]
    fn a_block_takes_half_of_the_rest_and_at_least_four_claims() {
        // If a millisecond is left and a claim takes 50 ns, a block takes half of the rest.
        assert_eq!(claim_time(50, 1_000_000), 500_000);
        // Near the end, no block is shorter than four claims.
        assert_eq!(claim_time(50, 300), 200);
        // A shorter rest is one block.
        assert_eq!(claim_time(50, 120), 120);
    }

    proptest! {
        #[test]
        fn a_block_is_no_longer_than_the_work(claim: u64, work: u64) {
            prop_assert!((1..=work.max(1)).contains(&claim_time(claim, work)));
        }

        #[test]
        fn a_block_grows_with_the_claim_and_with_the_work(claim: u64, work: u64, more: u32) {
            let more = u64::from(more);
            prop_assert!(claim_time(claim.saturating_add(more), work) >= claim_time(claim, work));
            prop_assert!(claim_time(claim, work.saturating_add(more)) >= claim_time(claim, work));
        }

        #[test]
        fn a_loop_takes_a_logarithm_of_claims(claim in 1_u64..1_000, work in 1_u64..1 << 50) {
            prop_assert!(claims(claim, work) <= 4 + (work / claim).checked_ilog2().unwrap_or(0) as u64);
        }
    }
}
