//! Settings of a builder for the crates above this one, not for programs.

use super::Builder;
use manycore_platform::Platform;

/// Settings of a builder for the crates on this one (`seam`).
pub trait BuilderExt<P: Platform>: Sized {
    /// Whether the pool starts its threads with the first work for them: a half of a `join`, a job or a
    /// call that another thread could take, or a loop that is worth sharing. By default it starts them when
    /// it is built, so that the first work begins sooner.
    ///
    /// If the system refuses a thread then, a caller with a job that only the pool's threads can do panics;
    /// otherwise the caller does the work itself. Pools with [threads from outside](crate::seam::build)
    /// start them when they are built.
    ///
    /// ```
    /// use manycore::seam::BuilderExt;
    ///
    /// let pool = manycore::Pool::builder().threads(64).lazy(true).build()?;
    /// assert_eq!(pool.threads(), 64); // of which none is there
    /// assert_eq!(pool.join(|| 1, || 2), (1, 2)); // now they are
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    #[must_use]
    fn lazy(self, lazy: bool) -> Self;

    /// The most `join`s that may be open inside one another on one thread before
    /// deeper ones are no longer offered to thieves (65,536 by default); 24 bytes of
    /// address space each, for each thread.
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

    /// Whether the pool may start a thread in the place of a thread that waits inside of a job while
    /// others' jobs are pending (by default it may; never more than [`threads`](Builder::threads) run at once).
    ///
    /// Without a reserve each permit is one thread's for good. Then a worker that waits for a stolen half
    /// of a `join`, or for another pool, runs others' jobs on top of its wait. They may meet a lock that a
    /// frame below them holds.
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

    /// Whether the end of a scope also runs what its thread has spawned into scopes around it, the
    /// newest first, while the scope's own jobs are not done: as rayon does. By default it does
    /// not, so that a lock that is held around the inner scope meets no job of the outer one.
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

    /// Has `make` make the sleep policy, in the place of the default one.
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
