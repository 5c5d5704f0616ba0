//! A pool that is not the global pool.

#[allow(deprecated)]
use crate::Configuration;
use crate::{BroadcastContext, Probe, Scope, ScopeFifo, Yield, trace};
use manycore::elastic::Watch;
use manycore::{Pool, seam};
use std::error::Error;
use std::fmt;
use std::mem::ManuallyDrop;

/// A pool of threads. When it is dropped, its threads finish their work and end. The drop does not wait for their end.
///
/// ```
/// let pool = rayon_core::ThreadPoolBuilder::new().num_threads(2).build()?;
/// assert_eq!(pool.install(rayon_core::current_num_threads), 2);
/// # Ok::<(), rayon_core::ThreadPoolBuildError>(())
/// ```
pub struct ThreadPool {
    /// Taken out when the `ThreadPool` is dropped.
    pool: ManuallyDrop<Pool>,
    /// The watch of the cores that the pool follows.
    watch: Option<Watch>,
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        trace::ends(&self.pool);
        let threads = self.pool.threads();
        // SAFETY: no code uses the field after this.
        unsafe { ManuallyDrop::take(&mut self.pool) }.dismiss();
        if let Some(watch) = self.watch.take() {
            let allotment = watch.allotment().clone();
            drop(watch);
            // The remaining jobs go on without a watch.
            allotment.set(threads);
        }
    }
}

impl ThreadPool {
    pub(crate) fn of(pool: Pool, watch: Option<Watch>) -> Self {
        Self {
            pool: ManuallyDrop::new(pool),
            watch,
        }
    }

    /// Makes the pool that `configuration` describes.
    ///
    /// # Errors
    ///
    /// As [`ThreadPoolBuilder::build`](crate::ThreadPoolBuilder::build).
    #[deprecated(note = "use `ThreadPoolBuilder::build`")]
    #[allow(deprecated)]
    pub fn new(configuration: Configuration) -> Result<Self, Box<dyn Error>> {
        configuration.build()
    }

    /// The state of the pool: its queues, and how many of its threads sleep. rayon's pools have no such method.
    pub fn probe(&self) -> Probe {
        seam::probe(&self.pool)
    }

    /// Ends the pool's threads, and waits until they have ended. The pool's next call starts new threads. See
    /// [`end_global_threads`](crate::end_global_threads).
    #[must_use = "the threads may be there still"]
    pub fn end_threads(&self) -> bool {
        self.pool.end_threads()
    }

    /// Runs `op` on a thread of the pool, and waits for it.
    ///
    /// # Panics
    ///
    /// Panics with the panic of `op`.
    pub fn install<OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce() -> R + Send,
        R: Send,
    {
        trace::call(&self.pool, "install", || self.pool.install(op))
    }

    /// Runs `op` on each thread of the pool, and waits for all of them.
    ///
    /// # Panics
    ///
    /// Panics with the panic of the thread with the lowest number.
    pub fn broadcast<OP, R>(&self, op: OP) -> Vec<R>
    where
        OP: Fn(BroadcastContext<'_>) -> R + Sync,
        R: Send,
    {
        trace::call(&self.pool, "broadcast", || self.pool.broadcast(op))
    }

    /// The number of threads of the pool.
    pub fn current_num_threads(&self) -> usize {
        self.pool.threads()
    }

    /// The current thread's number, if it belongs to the pool.
    pub fn current_thread_index(&self) -> Option<usize> {
        self.pool.current_thread_index()
    }

    /// Whether the current thread has jobs that no thread has begun. `None` if the current thread is not a thread of
    /// the pool.
    pub fn current_thread_has_pending_tasks(&self) -> Option<bool> {
        self.pool.current_thread_has_pending_tasks()
    }

    /// [`join`](crate::join) in this pool.
    ///
    /// # Panics
    ///
    /// Panics with the panic of the first closure, or else with the panic of the second closure.
    pub fn join<A, B, RA, RB>(&self, oper_a: A, oper_b: B) -> (RA, RB)
    where
        A: FnOnce() -> RA + Send,
        B: FnOnce() -> RB + Send,
        RA: Send,
        RB: Send,
    {
        self.pool.join(oper_a, oper_b)
    }

    /// [`scope`](crate::scope()) in this pool.
    ///
    /// # Panics
    ///
    /// Panics with the first panic in the scope.
    pub fn scope<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&Scope<'scope>) -> R + Send,
        R: Send,
    {
        trace::call(&self.pool, "scope", || self.pool.scope(op))
    }

    /// [`scope_fifo`](crate::scope_fifo) in this pool.
    ///
    /// # Panics
    ///
    /// As [`scope`](Self::scope).
    pub fn scope_fifo<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&ScopeFifo<'scope>) -> R + Send,
        R: Send,
    {
        self.pool.scope_fifo(op)
    }

    /// [`in_place_scope`](crate::in_place_scope) in this pool.
    ///
    /// # Panics
    ///
    /// As [`scope`](Self::scope).
    pub fn in_place_scope<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&Scope<'scope>) -> R,
    {
        self.pool.in_place_scope(op)
    }

    /// [`in_place_scope_fifo`](crate::in_place_scope_fifo) in this pool.
    ///
    /// # Panics
    ///
    /// As [`scope`](Self::scope).
    pub fn in_place_scope_fifo<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&ScopeFifo<'scope>) -> R,
    {
        self.pool.in_place_scope_fifo(op)
    }

    /// Runs `op` in this pool at some time, without waiting.
    pub fn spawn<OP>(&self, op: OP)
    where
        OP: FnOnce() + Send + 'static,
    {
        self.pool.spawn(op);
    }

    /// As [`spawn`](Self::spawn), but the jobs of each thread begin in the order in which the thread has spawned them.
    pub fn spawn_fifo<OP>(&self, op: OP)
    where
        OP: FnOnce() + Send + 'static,
    {
        self.pool.spawn_fifo(op);
    }

    /// Runs `op` on each thread of this pool at some time, without waiting.
    pub fn spawn_broadcast<OP>(&self, op: OP)
    where
        OP: Fn(BroadcastContext<'_>) + Send + Sync + 'static,
    {
        self.pool.spawn_broadcast(op);
    }

    /// Runs one job of the pool, if the current thread belongs to it and there is a job.
    pub fn yield_now(&self) -> Option<Yield> {
        self.pool.yield_now()
    }

    /// As [`yield_now`](Self::yield_now), but only for jobs of the current thread.
    pub fn yield_local(&self) -> Option<Yield> {
        self.pool.yield_local()
    }
}

impl fmt::Debug for ThreadPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadPool")
            .field("num_threads", &self.current_num_threads())
            .field("id", &std::ptr::from_ref::<Pool>(&self.pool))
            .finish()
    }
}
