//! How a loop may be divided.

use std::fmt;
use std::num::NonZeroUsize;

/// How iterations are divided among threads.
///
/// The default partitioner measures the loop while it runs, so there is nothing to choose. Each thread has its own
/// range and claims blocks from it, and the time of earlier blocks gives the size of the next. Once its range is
/// empty, the thread takes half of another thread's range. If a loop is too short to gain from a second thread, it
/// runs inline.
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
    /// Like [`Adaptive`](Self::Adaptive), but all blocks have one size, and the loop is always posted.
    Sharded(NonZeroUsize),
}

impl Partitioner {
    /// Threads claim blocks of this many `iterations` from one shared counter. The loop is always shared, whatever
    /// that costs.
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

    /// `seam` uses this.
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
