//! How long a block should last, when it is chosen by time.

/// A block is this part of what is left of its thread's range: one half.
const PART: u64 = 2;

/// How long the next block of one participant should take, when each claims
/// from a range of its own and takes half of another's when that is empty.
///
/// `claim_cost` is what a claim takes the participant, `work` how long it would
/// be busy with all that is left of its range; both in one unit, ticks or
/// nanoseconds, and so is the result: at most `work`, and at least 1.
///
/// No thread can take another's claimed block, so the loop ends when the last block does. Blocks
/// that are a part f of the remainder shrink until they reach a least duration m; from work w that
/// takes `ln(f w / m) / -ln(1 - f)` claims and some `1 / f` more. At the end a thread waits for
/// half a least block on average. With claims of cost c the two that depend on m,
///
/// ```text
/// c / -ln(1 - f) ln(1 / m)  +  m / 2
/// ```
///
/// are least at m = 2 c / -ln(1 - f), for f = 1/2 about 3 c, and flat there;
/// the nearest power of two, 4 c, is taken. A larger f claims less often and
/// hides more in one block: one half is where a thread that turns out to be
/// half as fast as the others has not yet claimed more than its share.
#[inline]
pub(super) fn claim_time(claim_cost: u64, work: u64) -> u64 {
    let least = claim_cost.saturating_mul(4);
    (work / PART).max(least).min(work).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Claims until nothing of `work` is left.
    fn claims(claim: u64, work: u64) -> u64 {
        let (mut left, mut claims) = (work, 0);
        while left > 0 {
            left -= claim_time(claim, left);
            claims += 1;
        }
        claims
    }

    #[test]
    fn half_of_what_is_left_and_at_least_four_claims() {
        // A millisecond left, claims of 50 ns: half of it.
        assert_eq!(claim_time(50, 1_000_000), 500_000);
        // Near the end no block is shorter than four claims,
        assert_eq!(claim_time(50, 300), 200);
        // and what is shorter than that is run at once.
        assert_eq!(claim_time(50, 120), 120);
    }

    proptest! {
        #[test]
        fn within_the_work(claim: u64, work: u64) {
            prop_assert!((1..=work.max(1)).contains(&claim_time(claim, work)));
        }

        #[test]
        fn grows_with_the_claim_and_with_the_work(claim: u64, work: u64, more: u32) {
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
