//! Builder settings for crates that build on this one, not for programs.

use super::Builder;
use manycore_platform::Platform;

/// Builder settings for crates that build on this one through [`seam`](crate::seam).
pub trait BuilderExt<P: Platform>: Sized {
    /// Sets whether the pool starts its threads only when there is work for them. Such work is a half of a `join`, a
    /// job or a call that another thread could take, or a loop that is worth sharing. By default the pool starts them
    /// when it is built, so that the first work begins sooner.
    ///
    /// If the system refuses a thread of a lazy pool, the caller does the work itself. If only the pool's threads can
    /// do that work, the caller panics. A pool with [threads from outside](crate::seam::build) starts these threads
    /// when it is built.
    ///
    /// ```
    /// use manycore::seam::BuilderExt;
    ///
    /// let pool = manycore::Pool::builder().threads(64).lazy(true).build()?;
    /// assert_eq!(pool.threads(), 64); // not yet started
    /// assert_eq!(pool.join(|| 1, || 2), (1, 2)); // starts them
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    #[must_use]
    fn lazy(self, lazy: bool) -> Self;

    /// Sets how many nested `join`s of one thread are offered to thieves at most (65,536 by default). Deeper `join`s
    /// run on the thread alone. Each of these `join`s uses 24 bytes of address space in each thread.
    ///
    /// ```
    /// use manycore::seam::BuilderExt;
    ///
    /// let pool = manycore::Pool::builder().threads(1).open_joins(2).build()?;
    /// let (_, (_, (_, deep))) = pool.join(|| 1, || pool.join(|| 2, || pool.join(|| 3, || 4)));
    /// assert_eq!(deep, 4);
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    #[must_use]
    fn open_joins(self, most: u32) -> Self;

    /// Sets whether the pool may start a thread in place of a thread that waits inside a job while other jobs are
    /// pending. By default it may. At most [`threads`](Builder::threads) threads run at once.
    ///
    /// Without this reserve the pool never has other threads than it began with. A permit (right to run jobs) then
    /// changes hands only if a caller from outside borrows it from a sleeping worker. So a worker that waits for a
    /// stolen half of a `join`, or for another pool, runs unrelated jobs on top of its wait. Such a job may need a lock
    /// that a frame below it on the stack holds.
    ///
    /// ```
    /// use manycore::seam::BuilderExt;
    ///
    /// let pool = manycore::Pool::builder().threads(2).reserve(false).build()?;
    /// assert_eq!(pool.join(|| 1, || 2), (1, 2));
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    #[must_use]
    fn reserve(self, reserve: bool) -> Self;

    /// Sets whether a thread that waits at the end of a scope also runs jobs that it has spawned into outer scopes,
    /// newest first, as rayon does. By default it does not. So while a thread holds a lock around the inner scope, it
    /// runs no job of the outer scope that may need the lock.
    ///
    /// ```
    /// use manycore::seam::BuilderExt;
    ///
    /// let pool = manycore::Pool::builder().threads(1).scopes_help_outer(true).build()?;
    /// let order = std::sync::Mutex::new(vec![]);
    /// let note = |what| order.lock().unwrap().push(what);
    /// pool.scope(|outer| {
    ///     pool.scope(|inner| {
    ///         inner.spawn(|_| note("inner"));
    ///         outer.spawn(|_| note("outer"));
    ///     });
    ///     note("inner scope's end");
    /// });
    /// assert_eq!(order.into_inner().unwrap(), ["outer", "inner", "inner scope's end"]);
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    #[must_use]
    fn scopes_help_outer(self, help: bool) -> Self;

    /// Sets the function that makes the sleep policy, in place of the default policy.
    #[must_use]
    #[cfg(feature = "policies")]
    fn policy(self, make: Option<crate::sleep::Make<P>>) -> Self;
}

impl<P: Platform> BuilderExt<P> for Builder<P> {
    fn lazy(mut self, lazy: bool) -> Self {
        self.settings.lazy = lazy;
        self
    }

    fn open_joins(mut self, most: u32) -> Self {
        self.settings.stack_capacity = most;
        self
    }

    fn reserve(mut self, reserve: bool) -> Self {
        self.settings.reserve = reserve;
        self
    }

    fn scopes_help_outer(mut self, help: bool) -> Self {
        self.settings.scopes_help_outer = help;
        self
    }

    #[cfg(feature = "policies")]
    fn policy(mut self, make: Option<crate::sleep::Make<P>>) -> Self {
        self.policy = make;
        self
    }
}
