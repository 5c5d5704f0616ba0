//! Loops over slices.

use super::parts::Parts;
use super::{Loop, Partitioner, loop_here};
use crate::pool::Pool;
use manycore_platform::Platform;

impl<P: Platform> Loop<'_, P> {
    /// Runs `body` on each item.
    ///
    /// # Panics
    ///
    /// As [`Pool::parallel_for`].
    ///
    /// ```
    /// use manycore::{Partitioner, Pool};
    ///
    /// let pool = Pool::builder().threads(2).build()?;
    /// pool.with(Partitioner::fixed_block(2)).for_each(&[1, 2, 3], |item| assert!(*item > 0));
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    pub fn for_each<T: Sync>(&self, items: &[T], body: impl Fn(&T) + Sync) {
        self.parallel_for_blocks(0..items.len(), |block| items[block].iter().for_each(&body));
    }

    /// Runs `body` on each item, mutably.
    ///
    /// # Panics
    ///
    /// As [`Pool::parallel_for`].
    ///
    /// ```
    /// use manycore::{Partitioner, Pool};
    ///
    /// let pool = Pool::builder().threads(2).build()?;
    /// let mut items = [1, 2, 3];
    /// pool.with(Partitioner::fixed_block(2)).for_each_mut(&mut items, |item| *item *= 2);
    /// assert_eq!(items, [2, 4, 6]);
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    pub fn for_each_mut<T: Send>(&self, items: &mut [T], body: impl Fn(&mut T) + Sync) {
        let parts = Parts::of(items);
        self.parallel_for_blocks(0..parts.len(), |block| {
            // SAFETY: the blocks of a loop are disjoint, and `items` is
            // borrowed until the loop has returned.
            unsafe { parts.part(block) }.iter_mut().for_each(&body);
        });
    }

    /// Cuts `items` into chunks of `chunk` items, the last one maybe shorter,
    /// and runs `body` on each with its index.
    ///
    /// # Panics
    ///
    /// If `chunk` is 0; else as [`Pool::parallel_for`].
    ///
    /// ```
    /// use manycore::{Partitioner, Pool};
    ///
    /// let pool = Pool::builder().threads(2).build()?;
    /// let mut items = [0; 5];
    /// pool.with(Partitioner::fixed_block(2)).chunks_mut(&mut items, 2, |i, items| items.fill(i));
    /// assert_eq!(items, [0, 0, 1, 1, 2]);
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    #[track_caller]
    pub fn chunks_mut<T: Send>(
        &self,
        items: &mut [T],
        chunk: usize,
        body: impl Fn(usize, &mut [T]) + Sync,
    ) {
        assert!(chunk > 0, "chunks_mut: a chunk has at least one item");
        let parts = Parts::of(items);
        self.parallel_for(0..parts.len().div_ceil(chunk), |index| {
            let start = index * chunk;
            let end = parts.len().min(start.saturating_add(chunk));
            // SAFETY: chunks with different indices are disjoint, each index
            // runs once, and `items` is borrowed until the loop has returned.
            body(index, unsafe { parts.part(start..end) });
        });
    }
}

impl<P: Platform> Pool<P> {
    /// Runs `body` on each item.
    ///
    /// # Panics
    ///
    /// As [`parallel_for`](Self::parallel_for).
    ///
    /// ```
    /// let pool = manycore::Pool::builder().threads(2).build()?;
    /// pool.for_each(&["a", "b"], |name| assert_eq!(name.len(), 1));
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    pub fn for_each<T: Sync>(&self, items: &[T], body: impl Fn(&T) + Sync) {
        self.with(Partitioner::default()).for_each(items, body);
    }

    /// Runs `body` on each item, mutably.
    ///
    /// # Panics
    ///
    /// As [`parallel_for`](Self::parallel_for).
    ///
    /// ```
    /// let pool = manycore::Pool::builder().threads(2).build()?;
    /// let mut items = vec![1.0, 2.0];
    /// pool.for_each_mut(&mut items, |item| *item += 0.5);
    /// assert_eq!(items, [1.5, 2.5]);
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    pub fn for_each_mut<T: Send>(&self, items: &mut [T], body: impl Fn(&mut T) + Sync) {
        self.with(Partitioner::default()).for_each_mut(items, body);
    }

    /// Cuts `items` into chunks of `chunk` items, the last one maybe shorter,
    /// and runs `body` on each with its index.
    ///
    /// # Panics
    ///
    /// If `chunk` is 0; else as [`parallel_for`](Self::parallel_for).
    ///
    /// ```
    /// let pool = manycore::Pool::builder().threads(2).build()?;
    /// let mut image = vec![0_u8; 640 * 480];
    /// pool.chunks_mut(&mut image, 640, |row, pixels| pixels.fill(row as u8));
    /// assert_eq!(image[640 * 7], 7);
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    #[track_caller]
    pub fn chunks_mut<T: Send>(
        &self,
        items: &mut [T],
        chunk: usize,
        body: impl Fn(usize, &mut [T]) + Sync,
    ) {
        self.with(Partitioner::default())
            .chunks_mut(items, chunk, body);
    }
}

/// [`Pool::for_each`] in the pool that this thread is part of, or else in the
/// [global one](Pool::global).
///
/// # Panics
///
/// As [`Pool::parallel_for`], and as [`Pool::global`].
///
/// ```
/// manycore::for_each(&["a", "b"], |name| assert_eq!(name.len(), 1));
/// ```
pub fn for_each<T: Sync>(items: &[T], body: impl Fn(&T) + Sync) {
    loop_here(|here| here.for_each(items, body));
}

/// [`Pool::for_each_mut`] in the pool that this thread is part of, or else in the
/// [global one](Pool::global).
///
/// # Panics
///
/// As [`Pool::parallel_for`], and as [`Pool::global`].
///
/// ```
/// let mut items = vec![1.0, 2.0];
/// manycore::for_each_mut(&mut items, |item| *item += 0.5);
/// assert_eq!(items, [1.5, 2.5]);
/// ```
pub fn for_each_mut<T: Send>(items: &mut [T], body: impl Fn(&mut T) + Sync) {
    loop_here(|here| here.for_each_mut(items, body));
}

/// [`Pool::chunks_mut`] in the pool that this thread is part of, or else in the
/// [global one](Pool::global).
///
/// # Panics
///
/// If `chunk` is 0; else as [`Pool::parallel_for`], and as [`Pool::global`].
///
/// ```
/// let mut image = vec![0_u8; 640 * 480];
/// manycore::chunks_mut(&mut image, 640, |row, pixels| pixels.fill(row as u8));
/// assert_eq!(image[640 * 7], 7);
/// ```
#[track_caller]
pub fn chunks_mut<T: Send>(items: &mut [T], chunk: usize, body: impl Fn(usize, &mut [T]) + Sync) {
    loop_here(|here| here.chunks_mut(items, chunk, body));
}
