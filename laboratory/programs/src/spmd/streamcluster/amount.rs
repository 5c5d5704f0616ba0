//! Costs as integers.
//!
//! Ranks (threads of the team) add up the costs of their points, and rank 0 adds up the sums of the ranks. In floating
//! point the result would depend on the number of ranks. In integers of a small unit it does not, and it is exact: the
//! gain that a search claims is exactly the decrease of the cost.

use super::StreamclusterProblem;

/// A cost, or a change of a cost, in units of its [`Scale`].
pub(super) type Amount = i64;

/// The unit of costs, a power of two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    units_in_one: f64,
}

impl Scale {
    /// Returns the finest unit, down to 2^-40, with which no sum of the search overflows.
    ///
    /// Coordinates are from 0 to 1 and weights add up to the number of points, so all points together cost at most
    /// points times dimensions. A centre never costs more than all points, and there are at most as many centres as
    /// points. So no sum is more than four times points squared times dimensions, which is less than 2^62 units. Every
    /// [`StreamclusterProblem`] is small enough for a unit of 2^-6.
    pub(super) fn of(problem: &StreamclusterProblem) -> Self {
        let largest = (problem.points * problem.points * problem.dimensions) as u64;
        let magnitude = u64::BITS - largest.leading_zeros();
        Self::with_bits(40.min(60 - magnitude))
    }

    fn with_bits(bits: u32) -> Self {
        Self {
            units_in_one: (1u64 << bits) as f64,
        }
    }

    /// `cost`, rounded down to the unit.
    pub(super) fn amount(self, cost: f32) -> Amount {
        (f64::from(cost) * self.units_in_one) as Amount
    }

    /// The cost of `amount` units.
    pub(super) fn cost(self, amount: Amount) -> f64 {
        amount as f64 / self.units_in_one
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spmd::StreamclusterInput;

    #[test]
    fn the_unit_is_fine_for_small_problems_and_no_sum_overflows_in_large_ones() {
        for (input, bits) in [
            (StreamclusterInput::Test, 40),
            (StreamclusterInput::SimDev, 40),
            (StreamclusterInput::SimSmall, 30),
            (StreamclusterInput::SimMedium, 27),
            (StreamclusterInput::SimLarge, 24),
        ] {
            let problem = input.problem();
            let scale = Scale::of(&problem);
            assert_eq!(scale, Scale::with_bits(bits), "{input}");
            let all = scale.amount((problem.points * problem.dimensions) as f32);
            assert!(all.checked_mul(4 * problem.points as i64).is_some());
        }
    }

    #[test]
    fn amounts_are_rounded_down_and_read_back() {
        let scale = Scale::with_bits(8);
        assert_eq!(scale.amount(2.5 / 256.0), 2);
        assert_eq!(scale.cost(384), 1.5);
    }
}
