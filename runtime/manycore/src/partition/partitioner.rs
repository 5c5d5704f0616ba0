//! How a loop may be divided.

use std::fmt;
use std::num::NonZeroUsize;

/// How iterations are given to threads, and when that is decided.
///
/// The default measures the loop while it runs: each thread has a range of its own, claims blocks
/// that are sized by the time they take, and takes half of another's range when its own is empty; a
/// loop too short to gain from a second thread runs inline. There is nothing to choose.
///
/// ```
/// use manycore::Partitioner;
///
/// assert_eq!(Partitioner::default().to_string(), "adaptive");
/// assert_eq!(Partitioner::fixed_block(16).to_string(), "fixed-block=16");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Partitioner(pub(crate) Division);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Division {
    #[default]
    Adaptive,
    FixedBlock(NonZeroUsize),
    /// As [`Adaptive`](Self::Adaptive), but blocks of one size, and always posted.
    Sharded(NonZeroUsize),
}

impl Partitioner {
    /// Blocks of this number of `iterations`, from a counter that all threads share. The loop is
    /// shared at any cost.
    ///
    /// # Panics
    ///
    /// If `iterations` is 0.
    ///
    /// ```
    /// use manycore::{Partitioner, Pool};
    ///
    /// let pool = Pool::builder().threads(2).build()?;
    /// let eights = pool.with(Partitioner::fixed_block(8));
    /// eights.parallel_for_blocks(0..100, |block| assert!(block.len() <= 8));
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    #[track_caller]
    pub fn fixed_block(iterations: usize) -> Self {
        Self(Division::FixedBlock(at_least_one(iterations)))
    }

    /// For `seam`.
    #[track_caller]
    pub(crate) fn sharded(iterations: usize) -> Self {
        Self(Division::Sharded(at_least_one(iterations)))
    }
}

#[track_caller]
fn at_least_one(iterations: usize) -> NonZeroUsize {
    NonZeroUsize::new(iterations).expect("a block has at least one iteration")
}

impl fmt::Display for Partitioner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Division::Adaptive => f.write_str("adaptive"),
            Division::FixedBlock(size) => write!(f, "fixed-block={size}"),
            Division::Sharded(size) => write!(f, "sharded={size}"),
        }
    }
}
