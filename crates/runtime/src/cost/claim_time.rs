//! How long a block should last, when it is chosen by time.

/// How long the next block of one participant should take.
///
/// `claim_cost` is what a claim takes the participant, `work` how long it would
/// be busy with all that is left for it; both in one unit, ticks or
/// nanoseconds, and so is the result: at most `work`, and at least 1.
///
/// ```
/// use manycore::cost::claim_time;
///
/// // A millisecond left, claims of 20 ns: blocks of 6.3 us, so 158 claims cost
/// // 3.2 us, as much as the participants wait for each other in the end.
/// assert_eq!(claim_time(20, 1_000_000), 6_324);
/// // Nearly done: all at once.
/// assert_eq!(claim_time(20, 30), 30);
/// ```
///
/// Blocks of duration d make `work / d` claims, each of which costs c. In the
/// end a participant is uniformly somewhere in its last block while the others
/// wait for the longest of these ends, on average at most half a block. The sum
///
/// ```text
/// c work / d + d / 2
/// ```
///
/// is least where its terms are equal: d = sqrt(2 c work). It then costs
/// sqrt(2 c / work) of the work, and it is flat there: half or twice the
/// duration costs a quarter more. Asked again for every block with the work
/// that is left then, d shrinks with the square root of it, which makes the
/// last blocks shorter than the balance asks for and costs at most twice as
/// many claims.
#[inline]
#[must_use]
pub fn claim_time(claim_cost: u64, work: u64) -> u64 {
    let balanced = (2.0 * claim_cost as f64 * work as f64).sqrt();
    // The cast saturates.
    (balanced as u64).min(work).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
        fn no_other_duration_is_cheaper(claim in 1_u64..1_000, work in 100_000_u64..1 << 40, per_cent in 1_u64..1_000) {
            let cost = |d: f64| claim as f64 * work as f64 / d + d / 2.0;
            let chosen = claim_time(claim, work);
            let other = chosen * per_cent / 100 + 1;
            prop_assert!(cost(chosen as f64) <= cost(other as f64) * 1.001);
        }

        #[test]
        fn asking_again_makes_at_most_twice_the_claims(claim in 1_u64..200, work in 100_000_u64..10_000_000) {
            let (mut left, mut claims) = (work, 0.0);
            while left > 0 {
                left -= claim_time(claim, left);
                claims += 1.0;
            }
            prop_assert!(claims <= 2.0 * work as f64 / claim_time(claim, work) as f64 + 2.0);
        }
    }
}
