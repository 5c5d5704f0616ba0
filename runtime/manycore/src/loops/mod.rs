//! Parallel loops over index ranges and slices.

mod adaptive;
mod believed;
mod dispatch;
mod divided;
mod launch;
#[cfg(test)]
mod leaving_checked;
mod parts;
mod reduce;
mod scan;
mod slices;

pub use divided::{Divided, divided};
pub(crate) use parts::Parts;
pub use reduce::map_reduce;
pub use slices::{chunks_mut, for_each, for_each_mut};

use crate::partition::{Body, Partitioner};
use crate::pool::{Pool, Registry, registry_here};
use manycore_platform::Native;
use manycore_platform::Platform;
use std::fmt;
use std::ops::Range;

/// A pool's loops with a chosen partitioner; made by [`Pool::with`]. The same
/// methods are on [`Pool`] itself, with the default [`Partitioner`].
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

    /// Runs `body` once for each index of `range`, in parallel and in no
    /// particular order.
    ///
    /// # Panics
    ///
    /// With the first panic of `body`, once every thread has left the loop.
    /// Iterations not begun by then may be skipped. The pool stays usable.
    ///
    /// ```
    /// use manycore::{Partitioner, Pool};
    /// use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    ///
    /// let pool = Pool::builder().threads(2).build()?;
    /// let sum = AtomicUsize::new(0);
    /// pool.with(Partitioner::fixed_block(4)).parallel_for(10..20, |i| {
    ///     sum.fetch_add(i, Relaxed);
    /// });
    /// assert_eq!(sum.into_inner(), 145);
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    #[inline]
    pub fn parallel_for(&self, range: Range<usize>, body: impl Fn(usize) + Sync) {
        self.ranked(range, |_, block| block.for_each(&body));
    }

    /// Runs `body` on sub-ranges that cover `range`, each index exactly once.
    /// For bodies that do something once a block. The blocks are as long as
    /// the partitioner makes them.
    ///
    /// # Panics
    ///
    /// As [`parallel_for`](Self::parallel_for).
    ///
    /// ```
    /// use manycore::{Partitioner, Pool};
    ///
    /// let pool = Pool::builder().threads(2).build()?;
    /// let eights = pool.with(Partitioner::fixed_block(8));
    /// eights.parallel_for_blocks(0..100, |block| assert!(block.len() <= 8));
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    #[inline]
    pub fn parallel_for_blocks(&self, range: Range<usize>, body: impl Fn(Range<usize>) + Sync) {
        self.ranked(range, |_, block| body(block));
    }

    /// Runs `body` on blocks with the rank of the thread that runs it: below
    /// the pool's threads, and one thread's alone while the loop lasts.
    #[inline]
    pub(crate) fn ranked(&self, range: Range<usize>, body: impl Fn(usize, Range<usize>) + Sync) {
        dispatch::drive(self.pool, self.partitioner, range, Body::new(&body));
    }
}

/// The loops of [`Loop`], with the default [`Partitioner`].
impl<P: Platform> Pool<P> {
    /// The pool's loops with `partitioner` in place of
    /// the default [`Partitioner`].
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

    /// Runs `body` once for each index of `range`, in parallel and in no
    /// particular order.
    ///
    /// A loop that is too short to gain from a second thread runs inline, at
    /// the cost of a table lookup and two clock reads (some 25 ns).
    ///
    /// # Panics
    ///
    /// With the first panic of `body`, once every thread has left the loop.
    /// Iterations not begun by then may be skipped. The pool stays usable.
    ///
    /// ```
    /// use manycore::Pool;
    /// use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    ///
    /// let pool = Pool::builder().threads(2).build()?;
    /// let sum = AtomicUsize::new(0);
    /// pool.parallel_for(0..100, |i| {
    ///     sum.fetch_add(i, Relaxed);
    /// });
    /// assert_eq!(sum.into_inner(), 4950);
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    #[inline]
    pub fn parallel_for(&self, range: Range<usize>, body: impl Fn(usize) + Sync) {
        self.with(Partitioner::default()).parallel_for(range, body);
    }

    /// Runs `body` on sub-ranges that cover `range`, each index exactly once.
    ///
    /// # Panics
    ///
    /// As [`parallel_for`](Self::parallel_for).
    ///
    /// ```
    /// use manycore::Pool;
    ///
    /// let pool = Pool::builder().threads(2).build()?;
    /// pool.parallel_for_blocks(0..100, |block| {
    ///     let _scratch = vec![0_u8; block.len()]; // once a block
    /// });
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    #[inline]
    pub fn parallel_for_blocks(&self, range: Range<usize>, body: impl Fn(Range<usize>) + Sync) {
        self.with(Partitioner::default())
            .parallel_for_blocks(range, body);
    }
}

/// [`Pool::parallel_for`] in the pool that this thread is part of, or else in the
/// [global one](Pool::global).
///
/// # Panics
///
/// As [`Pool::parallel_for`], and as [`Pool::global`].
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
///
/// let sum = AtomicUsize::new(0);
/// manycore::parallel_for(0..100, |i| {
///     sum.fetch_add(i, Relaxed);
/// });
/// assert_eq!(sum.into_inner(), 4950);
/// ```
#[inline]
pub fn parallel_for(range: Range<usize>, body: impl Fn(usize) + Sync) {
    loop_here(|here| here.parallel_for(range, body));
}

/// Calls `run` with the loops of the pool that this thread is part of, or of the global one.
#[inline(always)]
pub(crate) fn loop_here<R>(run: impl FnOnce(Loop<'_>) -> R) -> R {
    registry_here(|registry| run(Loop::new(registry, Partitioner::default())))
}
