//! Parallel loops over index ranges and slices.

mod adaptive;
mod claims;
mod dispatch;
mod divided;
mod forward;
mod inline_run;
mod invitation;
mod launch;
#[cfg(test)]
mod leaving_checked;
mod parts;
mod predicted;
mod reduce;
mod scan;
mod share;
mod slices;

pub use divided::{Divided, divided};
pub use forward::{chunks_mut, for_each, for_each_mut, map_reduce, parallel_for};
pub(crate) use parts::Parts;

use crate::partition::{Body, Partitioner};
use crate::pool::{Pool, Registry, registry_here};
use manycore_platform::Native;
use manycore_platform::Platform;
use std::fmt;
use std::ops::Range;

/// Runs loops in a pool with a chosen partitioner. [`Pool::with`] creates a `Loop`. [`Pool`] has the same methods, and
/// they use the default [`Partitioner`].
///
/// ```
/// use manycore::{Partitioner, Pool};
///
/// let pool = Pool::builder().threads(2).build()?;
/// let mut squares = vec![0; 100];
/// pool.with(Partitioner::fixed_block(4)).chunks_mut(&mut squares, 10, |chunk, items| {
///     for (i, item) in items.iter_mut().enumerate() {
///         *item = (chunk * 10 + i).pow(2);
///     }
/// });
/// assert_eq!(squares[99], 9801);
/// # Ok::<(), manycore::BuildError>(())
/// ```
#[derive(Clone, Copy)]
pub struct Loop<'a, P: Platform = Native> {
    pool: &'a Registry<P>,
    partitioner: Partitioner,
}

impl<P: Platform> fmt::Debug for Loop<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loop")
            .field("partitioner", &self.partitioner)
            .finish_non_exhaustive()
    }
}

impl<'a, P: Platform> Loop<'a, P> {
    pub(crate) fn new(pool: &'a Registry<P>, partitioner: Partitioner) -> Self {
        Self { pool, partitioner }
    }

    /// Like [`Pool::parallel_for`].
    #[inline]
    pub fn parallel_for(&self, range: Range<usize>, body: impl Fn(usize) + Sync) {
        self.ranked(range, |_, block| block.for_each(&body));
    }

    /// Like [`Pool::parallel_for_blocks`].
    #[inline]
    pub fn parallel_for_blocks(&self, range: Range<usize>, body: impl Fn(Range<usize>) + Sync) {
        self.ranked(range, |_, block| body(block));
    }

    /// Runs `body` on blocks. `body` also gets the rank of the thread that runs it, which is less than the number of
    /// the pool's threads. No two threads that take part in a posted loop have the same rank. But if a monitor gives
    /// away iterations of a loop that is not posted, several threads run them at once with the rank 0.
    #[inline]
    pub(crate) fn ranked(&self, range: Range<usize>, body: impl Fn(usize, Range<usize>) + Sync) {
        self.drive(range, Body::new(&body));
    }

    #[inline]
    fn drive(&self, range: Range<usize>, body: Body<'_>) {
        dispatch::drive(self.pool, self.partitioner, range, body);
    }
}

impl<P: Platform> Pool<P> {
    /// Returns the pool's loops with `partitioner` in place of the default [`Partitioner`].
    ///
    /// ```
    /// use manycore::{Partitioner, Pool};
    /// use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    ///
    /// let pool = Pool::builder().threads(2).build()?;
    /// let calls = AtomicUsize::new(0);
    /// pool.with(Partitioner::fixed_block(16)).parallel_for(0..100, |_| {
    ///     calls.fetch_add(1, Relaxed);
    /// });
    /// assert_eq!(calls.into_inner(), 100);
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    pub fn with(&self, partitioner: Partitioner) -> Loop<'_, P> {
        Loop::new(self.registry(), partitioner)
    }
}

/// Calls `run` with the loops of the pool that this thread is part of, or else of the global pool.
#[inline(always)]
pub(crate) fn loop_here<R>(run: impl FnOnce(Loop<'_>) -> R) -> R {
    registry_here(|registry| run(Loop::new(registry, Partitioner::default())))
}
