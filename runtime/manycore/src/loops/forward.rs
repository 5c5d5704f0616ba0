//! The loops of [`Loop`](super::Loop) with the default partitioner: methods of [`Pool`], and functions that find
//! the current thread's pool.

use super::loop_here;
use crate::partition::Partitioner;
use crate::pool::Pool;
use manycore_platform::Platform;
use std::ops::Range;

/// Defines a method of [`Pool`] for each loop. If the loop is `free`, also defines a function of the crate.
macro_rules! forward {
    ($(
        $(#[$meta:meta])*
        $kind:ident $name:ident[$($generics:tt)*]($($argument:ident: $type:ty),*) $(-> $result:ty)?;
    )*) => {
        /// Loops with the default [`Partitioner`].
        impl<P: Platform> Pool<P> {
            $(
                $(#[$meta])*
                #[inline]
                pub fn $name<$($generics)*>(&self, $($argument: $type),*) $(-> $result)? {
                    self.with(Partitioner::default()).$name($($argument),*)
                }
            )*
        }

        $(forward!(@$kind $name[$($generics)*]($($argument: $type),*) $(-> $result)?);)*
    };
    (@method $($any:tt)*) => {};
    (@free $name:ident[$($generics:tt)*]($($argument:ident: $type:ty),*) $(-> $result:ty)?) => {
        #[doc = concat!("[`Pool::", stringify!($name), "`] in the pool that this thread is part of,")]
        /// or else in the [global pool](Pool::global).
        ///
        /// # Panics
        ///
        /// Like the method, and like [`Pool::global`].
        #[inline]
        pub fn $name<$($generics)*>($($argument: $type),*) $(-> $result)? {
            loop_here(|here| here.$name($($argument),*))
        }
    };
}

forward! {
    /// Runs `body` once for each index of `range`, in parallel and in no
    /// particular order.
    ///
    /// A loop that is too short to gain from a second thread runs inline, at
    /// the cost of a table lookup and two clock reads (some 25 ns).
    ///
    /// # Panics
    ///
    /// If `body` panics, the caller gets the first panic once every thread has left the loop. Iterations that have
    /// not begun may be skipped. The pool stays usable.
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
    free parallel_for[](range: Range<usize>, body: impl Fn(usize) + Sync);

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
    method parallel_for_blocks[](range: Range<usize>, body: impl Fn(Range<usize>) + Sync);

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
    free for_each[T: Sync](items: &[T], body: impl Fn(&T) + Sync);

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
    free for_each_mut[T: Send](items: &mut [T], body: impl Fn(&mut T) + Sync);

    /// Cuts `items` into chunks of `chunk` items and runs `body` on each chunk with the chunk's index. The last
    /// chunk may be shorter.
    ///
    /// # Panics
    ///
    /// If `chunk` is 0, and like [`parallel_for`](Self::parallel_for).
    ///
    /// ```
    /// let pool = manycore::Pool::builder().threads(2).build()?;
    /// let mut image = vec![0_u8; 640 * 480];
    /// pool.chunks_mut(&mut image, 640, |row, pixels| pixels.fill(row as u8));
    /// assert_eq!(image[640 * 7], 7);
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    #[track_caller]
    free chunks_mut[T: Send](items: &mut [T], chunk: usize, body: impl Fn(usize, &mut [T]) + Sync);

    /// Maps each index of `range` and combines neighbouring results, left with right, until one result is left.
    /// Returns `identity()` if the range is empty.
    ///
    /// `reduce` must be associative but need not be commutative. If it is only nearly associative, like
    /// floating-point addition, the last digits of the result may differ from run to run.
    /// [`map_reduce_deterministic`](Self::map_reduce_deterministic) avoids this.
    ///
    /// # Panics
    ///
    /// As [`parallel_for`](Self::parallel_for).
    ///
    /// ```
    /// let pool = manycore::Pool::builder().threads(2).build()?;
    /// let sum = pool.map_reduce(0..1_000, || 0, |i| i, |a, b| a + b);
    /// assert_eq!(sum, 499_500);
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    free map_reduce[R: Send](
        range: Range<usize>,
        identity: impl Fn() -> R + Sync,
        map: impl Fn(usize) -> R + Sync,
        reduce: impl Fn(R, R) -> R + Sync
    ) -> R;

    /// Like [`map_reduce`](Self::map_reduce), but the result depends only on the range: every bit is independent
    /// of threads and timing.
    ///
    /// # Panics
    ///
    /// As [`parallel_for`](Self::parallel_for).
    ///
    /// ```
    /// let pool = manycore::Pool::builder().threads(2).build()?;
    /// let norm = |xs: &[f64]| {
    ///     pool.map_reduce_deterministic(0..xs.len(), || 0.0, |i| xs[i] * xs[i], |a, b| a + b)
    /// };
    /// assert_eq!(norm(&[3.0, 4.0]), 25.0);
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    method map_reduce_deterministic[R: Send](
        range: Range<usize>,
        identity: impl Fn() -> R + Sync,
        map: impl Fn(usize) -> R + Sync,
        reduce: impl Fn(R, R) -> R + Sync
    ) -> R;

    /// Replaces each item with the combination of itself and all items before it.
    ///
    /// `op` must be associative but need not be commutative. Every bit of the result is independent of threads and
    /// timing.
    ///
    /// # Panics
    ///
    /// As [`parallel_for`](Self::parallel_for).
    ///
    /// ```
    /// let pool = manycore::Pool::builder().threads(2).build()?;
    /// let mut items = vec![1_u64; 100_000];
    /// pool.inclusive_scan(&mut items, |a, b| a + b);
    /// assert_eq!(items[99_999], 100_000);
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    method inclusive_scan[T: Clone + Send + Sync](items: &mut [T], op: impl Fn(&T, &T) -> T + Sync);

    /// Replaces each item with the combination of `identity` and all items before it. Returns the combination of
    /// `identity` and all items. Otherwise like [`inclusive_scan`](Self::inclusive_scan).
    ///
    /// # Panics
    ///
    /// As [`parallel_for`](Self::parallel_for).
    ///
    /// ```
    /// let pool = manycore::Pool::builder().threads(2).build()?;
    /// let mut counts = [3, 0, 2];
    /// let total = pool.exclusive_scan(&mut counts, 0, |a, b| a + b);
    /// assert_eq!((counts, total), ([0, 3, 3], 5));
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    method exclusive_scan[T: Clone + Send + Sync](
        items: &mut [T],
        identity: T,
        op: impl Fn(&T, &T) -> T + Sync
    ) -> T;
}
