//! The inputs that PARSEC publishes, by name, and other problems.

use crate::by_name;
use std::ops::RangeInclusive;

by_name! {
    /// An input that PARSEC publishes with the program.
    ///
    /// The number of barrier waits is that of one rank (thread of the team) in the whole program. It is the same for
    /// any number of ranks.
    ///
    /// ```
    /// use manycore_programs::spmd::StreamclusterInput;
    ///
    /// let input: StreamclusterInput = "simsmall".parse()?;
    /// assert_eq!(input.barrier_waits(), 11_397);
    /// assert_eq!(input.problem().points(), 4_096);
    /// # Ok::<(), manycore_programs::UnknownName>(())
    /// ```
    pub enum StreamclusterInput: "streamcluster has no input", "there are" {
        /// 10 points on a line. With 64 ranks, 63 ranks have no points, so nearly all time goes into barriers.
        Test = "test",
        /// 16 points in 3 dimensions.
        SimDev = "simdev",
        /// 4,096 points in 32 dimensions.
        SimSmall = "simsmall",
        /// 8,192 points in 64 dimensions.
        SimMedium = "simmedium",
        /// 16,384 points in 128 dimensions.
        SimLarge = "simlarge",
    }
}

impl StreamclusterInput {
    /// The problem: points, and limits of the number of centres.
    ///
    /// ```
    /// use manycore_programs::spmd::StreamclusterInput;
    /// assert_eq!(StreamclusterInput::Test.problem().centres(), 2..=5);
    /// ```
    #[must_use]
    pub fn problem(self) -> StreamclusterProblem {
        let (least, most, dimensions, points) = match self {
            Self::Test => (2, 5, 1, 10),
            Self::SimDev => (3, 10, 3, 16),
            Self::SimSmall => (10, 20, 32, 4_096),
            Self::SimMedium => (10, 20, 64, 8_192),
            Self::SimLarge => (10, 20, 128, 16_384),
        };
        StreamclusterProblem {
            least,
            most,
            dimensions,
            points,
            block: points,
        }
    }

    /// How often each rank waits at the barrier, counted in runs of PARSEC's program.
    ///
    /// ```
    /// use manycore_programs::spmd::StreamclusterInput;
    /// assert_eq!(StreamclusterInput::Test.barrier_waits(), 1_107);
    /// ```
    #[must_use]
    pub fn barrier_waits(self) -> u64 {
        match self {
            Self::Test => 1_107,
            Self::SimDev => 5_632,
            Self::SimSmall => 11_397,
            Self::SimMedium => 13_003,
            Self::SimLarge => 16_204,
        }
    }

    /// How often the program computes the gain from a new centre, counted in runs of PARSEC's
    /// program.
    ///
    /// ```
    /// use manycore_programs::spmd::StreamclusterInput;
    /// assert_eq!(StreamclusterInput::Test.offers(), 120);
    /// ```
    #[must_use]
    pub fn offers(self) -> u64 {
        match self {
            Self::Test => 120,
            Self::SimDev => 621,
            Self::SimSmall => 1_253,
            Self::SimMedium => 1_432,
            Self::SimLarge => 1_790,
        }
    }
}

/// Random points in a unit cube, and limits of the number of centres.
///
/// ```
/// use manycore_programs::spmd::StreamclusterProblem;
///
/// // 100 points in a plane, in blocks of 40.
/// let problem = StreamclusterProblem::new(3..=6, 2, 100, 40)?;
/// assert_eq!(problem.blocks(), 3);
/// # Ok::<(), manycore_programs::spmd::InvalidStreamcluster>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StreamclusterProblem {
    pub(super) least: usize,
    pub(super) most: usize,
    pub(super) dimensions: usize,
    pub(super) points: usize,
    pub(super) block: usize,
}

/// The reason why a problem is invalid.
///
/// ```
/// use manycore_programs::spmd::{InvalidStreamcluster, StreamclusterProblem};
/// assert_eq!(StreamclusterProblem::new(1..=5, 1, 10, 10), Err(InvalidStreamcluster::Centres(1, 5)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidStreamcluster {
    /// The limits of the number of centres are invalid. The program draws 3 k ln k candidates, where k is the least
    /// number of centres. For k = 1 there would be no candidates.
    #[error(
        "the least number of centres must be at least 2 and at most the greatest, not {0}..={1}"
    )]
    Centres(usize, usize),
    /// No points, no dimensions, or empty blocks.
    #[error("points, dimensions and points a block must each be at least 1")]
    Empty,
    /// Sums of costs could overflow.
    #[error("points times points times dimensions must be at most 2^53")]
    TooLarge,
    /// Too many blocks, since all blocks are kept in memory.
    #[error("points must come in at most 65,536 blocks, not {0}")]
    Blocks(usize),
    /// No rank, or too many ranks.
    #[error("there must be at least 1 rank and at most 65,536, not {0}")]
    Ranks(usize),
}

/// The product of blocks and ranks must fit in 32 bits.
const MOST_BLOCKS: usize = 1 << 16;

impl StreamclusterProblem {
    /// `points` points in `dimensions` dimensions, in blocks of `block` points. For each block, and
    /// at the end for the centres of all blocks, the program searches for a number of centres in
    /// the range `centres`.
    ///
    /// # Errors
    ///
    /// [`InvalidStreamcluster`].
    ///
    /// ```
    /// use manycore_programs::spmd::{StreamclusterInput, StreamclusterProblem};
    /// assert_eq!(StreamclusterProblem::new(2..=5, 1, 10, 10), Ok(StreamclusterInput::Test.problem()));
    /// ```
    pub fn new(
        centres: RangeInclusive<usize>,
        dimensions: usize,
        points: usize,
        block: usize,
    ) -> Result<Self, InvalidStreamcluster> {
        let (least, most) = centres.into_inner();
        if least < 2 || least > most {
            return Err(InvalidStreamcluster::Centres(least, most));
        }
        if dimensions == 0 || points == 0 || block == 0 {
            return Err(InvalidStreamcluster::Empty);
        }
        let size = points as u128 * points as u128 * dimensions as u128;
        if size > 1 << 53 || points > u32::MAX as usize {
            return Err(InvalidStreamcluster::TooLarge);
        }
        let problem = Self {
            least,
            most,
            dimensions,
            points,
            block,
        };
        if problem.blocks() > MOST_BLOCKS {
            return Err(InvalidStreamcluster::Blocks(problem.blocks()));
        }
        Ok(problem)
    }

    /// The number of points.
    ///
    /// ```
    /// use manycore_programs::spmd::StreamclusterInput;
    /// assert_eq!(StreamclusterInput::SimDev.problem().points(), 16);
    /// ```
    #[must_use]
    pub fn points(&self) -> usize {
        self.points
    }

    /// The number of coordinates of a point.
    ///
    /// ```
    /// use manycore_programs::spmd::StreamclusterInput;
    /// assert_eq!(StreamclusterInput::SimDev.problem().dimensions(), 3);
    /// ```
    #[must_use]
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// The limits of the number of centres.
    ///
    /// ```
    /// use manycore_programs::spmd::StreamclusterInput;
    /// assert_eq!(StreamclusterInput::SimDev.problem().centres(), 3..=10);
    /// ```
    #[must_use]
    pub fn centres(&self) -> RangeInclusive<usize> {
        self.least..=self.most
    }

    /// The number of blocks.
    ///
    /// ```
    /// use manycore_programs::spmd::StreamclusterInput;
    /// assert_eq!(StreamclusterInput::SimLarge.problem().blocks(), 1);
    /// ```
    #[must_use]
    pub fn blocks(&self) -> usize {
        self.points.div_ceil(self.block)
    }

    /// The number of points that a search tries as centres: 3 k ln k, where k is the least number of centres, or all
    /// points if there are fewer.
    pub(super) fn candidates(&self, points: usize) -> usize {
        points.min(three_k_log_k(self.least))
    }

    /// The number of points that a round of the search tries as new centres: 3 k ln k, where k is the greatest number
    /// of centres.
    pub(super) fn offers_a_round(&self) -> usize {
        three_k_log_k(self.most)
    }
}

impl From<StreamclusterInput> for StreamclusterProblem {
    fn from(input: StreamclusterInput) -> Self {
        input.problem()
    }
}

fn three_k_log_k(k: usize) -> usize {
    (3.0 * k as f64 * (k as f64).ln()) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for input in StreamclusterInput::ALL {
            assert_eq!(input.to_string().parse(), Ok(input));
        }
    }

    #[test]
    fn the_published_inputs_are_valid() {
        for input in StreamclusterInput::ALL {
            let StreamclusterProblem {
                least,
                most,
                dimensions,
                points,
                block,
            } = input.problem();
            let made = StreamclusterProblem::new(least..=most, dimensions, points, block);
            assert_eq!(made, Ok(input.problem()));
        }
    }

    #[test]
    fn offers_come_in_whole_rounds() {
        for input in StreamclusterInput::ALL {
            let round = input.problem().offers_a_round() as u64;
            assert_eq!(input.offers() % round, 0, "{input}: {round}");
        }
    }

    #[test]
    fn invalid_problems_are_refused() {
        assert_eq!(
            StreamclusterProblem::new(RangeInclusive::new(6, 5), 1, 10, 10),
            Err(InvalidStreamcluster::Centres(6, 5))
        );
        for (dimensions, points, block) in [(0, 10, 10), (1, 0, 10), (1, 10, 0)] {
            let made = StreamclusterProblem::new(2..=5, dimensions, points, block);
            assert_eq!(made, Err(InvalidStreamcluster::Empty));
        }
        let made = StreamclusterProblem::new(2..=5, 1 << 14, 1 << 20, 1);
        assert_eq!(made, Err(InvalidStreamcluster::TooLarge));
        let made = StreamclusterProblem::new(2..=5, 1, 1 << 20, 10);
        assert_eq!(made, Err(InvalidStreamcluster::Blocks(104_858)));
    }
}
