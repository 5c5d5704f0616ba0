//! The interface by which a kernel (a fork-join program) asks for parallelism.

use super::splitting::{Splittable, halve};
use manycore_platform::Platform;
use std::marker::PhantomData;
use std::ops::Range;

/// A scheduler of fork-join programs.
///
/// A scheduler implements [`threads`](Self::threads) and [`join_context`](Self::join_context). The loops are built on
/// these two methods, so that schedulers differ in nothing else.
///
/// ```
/// use manycore_programs::fork::{Fork, Serial};
/// use manycore_platform::Native;
///
/// fn sum<F: Fork>(fork: &F, numbers: &[u64]) -> u64 {
///     match numbers {
///         [] => 0,
///         [one] => *one,
///         more => {
///             let (left, right) = more.split_at(more.len() / 2);
///             let (left, right) = fork.join(|| sum(fork, left), || sum(fork, right));
///             left + right
///         }
///     }
/// }
/// assert_eq!(sum(&Serial::<Native>::default(), &[1, 2, 3]), 6);
/// ```
pub trait Fork: Sized + Sync {
    /// The platform that the program runs on.
    type Platform: Platform;

    /// The most threads that work at once. Loops first split into about two pieces for each of these threads.
    fn threads(&self) -> usize;

    /// Runs both closures, perhaps at the same time, and returns when both are done. Each closure receives whether it
    /// migrated, that is, whether it runs on another thread than the caller.
    fn join_context<A, B, RA, RB>(&self, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(bool) -> RA + Send,
        B: FnOnce(bool) -> RB + Send,
        RA: Send,
        RB: Send;

    /// Runs both closures, perhaps at the same time, and returns when both are
    /// done.
    ///
    /// ```
    /// use manycore_programs::fork::{Fork, Serial};
    /// use manycore_platform::Native;
    /// assert_eq!(Serial::<Native>::default().join(|| 1, || "two"), (1, "two"));
    /// ```
    #[inline]
    fn join<A, B, RA, RB>(&self, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce() -> RA + Send,
        B: FnOnce() -> RB + Send,
        RA: Send,
        RB: Send,
    {
        self.join_context(|_| a(), |_| b())
    }

    /// Halves `work` through `join`, calls `leaf` on the pieces, and combines the results of neighbours by
    /// `combine`, which must be associative.
    ///
    /// At first `work` is halved into about two pieces for each thread. A migrated piece shows that a thread was out of
    /// work. So that piece is halved into as many pieces again.
    ///
    /// ```
    /// use manycore_programs::fork::{Fork, Serial};
    /// use manycore_platform::Native;
    ///
    /// let fork = Serial::<Native>::default();
    /// let text = fork.reduce(0..4, &|piece| format!("{piece:?} "), &|a, b| a + &b);
    /// assert_eq!(text, "0..2 2..4 ");
    /// ```
    #[inline]
    fn reduce<S, R>(
        &self,
        work: S,
        leaf: &(impl Fn(S) -> R + Sync),
        combine: &(impl Fn(R, R) -> R + Sync),
    ) -> R
    where
        S: Splittable,
        R: Send,
    {
        halve(self, self.threads(), work, leaf, combine)
    }

    /// Calls `body` once for each index of `range`, split as
    /// [`reduce`](Self::reduce) splits.
    ///
    /// ```
    /// use manycore_programs::fork::{Fork, Serial};
    /// use manycore_platform::Native;
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// let sum = AtomicUsize::new(0);
    /// Serial::<Native>::default().for_each(0..10, &|index| {
    ///     sum.fetch_add(index, Ordering::Relaxed);
    /// });
    /// assert_eq!(sum.into_inner(), 45);
    /// ```
    #[inline]
    fn for_each(&self, range: Range<usize>, body: &(impl Fn(usize) + Sync)) {
        self.reduce(
            range,
            &|piece: Range<usize>| piece.for_each(body),
            &|(), ()| (),
        );
    }

    /// Combines `map(i)` for all `i` of `range`, in order, by `combine`, which must be associative, with
    /// `identity` as its neutral element. Splits as [`reduce`](Self::reduce) does.
    ///
    /// ```
    /// use manycore_programs::fork::{Fork, Serial};
    /// use manycore_platform::Native;
    ///
    /// let fork = Serial::<Native>::default();
    /// assert_eq!(fork.map_reduce(0..5, &|i| i * i, 0, &|a, b| a + b), 30);
    /// ```
    #[inline]
    fn map_reduce<R>(
        &self,
        range: Range<usize>,
        map: &(impl Fn(usize) -> R + Sync),
        identity: R,
        combine: &(impl Fn(R, R) -> R + Sync),
    ) -> R
    where
        R: Clone + Send + Sync,
    {
        let leaf = |piece: Range<usize>| piece.map(map).fold(identity.clone(), combine);
        self.reduce(range, &leaf, combine)
    }
}

/// A scheduler with one thread. It calls the two closures of a `join` one after the other.
///
/// ```
/// use manycore_programs::fork::{Fork, Serial};
/// use manycore_platform::Native;
///
/// let fork = Serial::<Native>::default();
/// assert_eq!(fork.join_context(|migrated| migrated, |migrated| migrated), (false, false));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Serial<P>(PhantomData<fn() -> P>);

impl<P> Default for Serial<P> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<P: Platform> Fork for Serial<P> {
    type Platform = P;

    fn threads(&self) -> usize {
        1
    }

    #[inline]
    fn join_context<A, B, RA, RB>(&self, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(bool) -> RA + Send,
        B: FnOnce(bool) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        (a(false), b(false))
    }
}
