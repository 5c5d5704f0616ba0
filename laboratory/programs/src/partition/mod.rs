//! Ways to divide a loop: the partitioners of the pool, and partitioners for comparison, each in its own file.
//! [`Loops`] runs loops by any of them.

mod auto;
#[cfg(test)]
mod checked;
mod factoring;
mod guided;
mod partitioner;
mod split;
mod r#static;

pub use partitioner::{Block, ParsePartitionerError, Partitioner};

use crate::cost::Prices;
use factoring::Factoring;
use guided::Guided;
use manycore::Pool;
use manycore::seam::{divided, sharded};
use manycore_platform::Platform;
use r#static::Static;
use std::ops::Range;

/// Loops on a pool, divided by one partitioner.
///
/// ```
/// use manycore_programs::partition::{Loops, Partitioner};
/// use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
///
/// let pool = manycore::Pool::builder().threads(2).build()?;
/// let sum = AtomicUsize::new(0);
/// Loops::new(&pool, Partitioner::Guided).parallel_for(0..100, |i| {
///     sum.fetch_add(i, Relaxed);
/// });
/// assert_eq!(sum.into_inner(), 4950);
/// # Ok::<(), manycore::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Loops<'a, P: Platform> {
    pool: &'a Pool<P>,
    partitioner: Partitioner,
    prices: Option<Prices>,
}

impl<'a, P: Platform> Loops<'a, P> {
    /// Makes loops on `pool` that `partitioner` divides.
    pub fn new(pool: &'a Pool<P>, partitioner: Partitioner) -> Self {
        Self {
            pool,
            partitioner,
            prices: None,
        }
    }

    /// Sets the machine's prices (times) for the steps of a loop. From these, `fixed-block` and `sharded` without a
    /// size pick a block. Without prices they use the pool's own measurement of a claim, and [`Prices::default`] for
    /// the other prices.
    #[must_use]
    pub fn told(self, prices: Prices) -> Self {
        Self {
            prices: Some(prices),
            ..self
        }
    }

    /// Runs `body` once for each index of `range`.
    ///
    /// # Panics
    ///
    /// As [`Pool::parallel_for`].
    #[inline]
    pub fn parallel_for(&self, range: Range<usize>, body: impl Fn(usize) + Sync) {
        self.parallel_for_blocks(range, |block| block.for_each(&body));
    }

    /// Calls `body` on sub-ranges that cover `range`, each index exactly once.
    ///
    /// # Panics
    ///
    /// As [`Pool::parallel_for`].
    #[inline]
    pub fn parallel_for_blocks(&self, range: Range<usize>, body: impl Fn(Range<usize>) + Sync) {
        let by = match self.partitioner {
            Partitioner::Adaptive => manycore::Partitioner::default(),
            Partitioner::FixedBlock(Block::Size(size)) => {
                manycore::Partitioner::fixed_block(size.get())
            }
            Partitioner::Sharded(Block::Size(size)) => sharded(size.get()),
            _ => return self.divide(range, body),
        };
        self.pool.with(by).parallel_for_blocks(range, body);
    }

    /// As `parallel_for_blocks`, with a partitioner that the pool does not have.
    fn divide(&self, range: Range<usize>, body: impl Fn(Range<usize>) + Sync) {
        let (pool, n, start) = (self.pool, range.len(), range.start);
        let body = |block: Range<usize>| body(start + block.start..start + block.end);
        divided(pool, n, body, |divided| match self.partitioner {
            Partitioner::Static => divided.share(Static::<P>::new(n, divided.allowed())),
            Partitioner::Guided => divided.share(Guided::<P>::new(n, divided.allowed())),
            Partitioner::Factoring => divided.share(Factoring::<P>::new(n, divided.allowed())),
            Partitioner::Split => split::run(divided, pool),
            Partitioner::Sharded(_) => auto::run(divided, pool.threads(), self.prices, sharded),
            _ => {
                let fixed_block = manycore::Partitioner::fixed_block;
                auto::run(divided, pool.threads(), self.prices, fixed_block);
            }
        });
    }
}
