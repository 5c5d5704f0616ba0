//! The fork-join calls of a pool.

use super::Pool;
use super::broadcast::BroadcastContext;
use super::context::Context;
use super::join::FnContext;
use super::registry::Registry;
use super::scope::{Scope, ScopeFifo};
use super::worker::Worker;
use super::yields::Yield;
use manycore_platform::Platform;

/// Fork-join calls.
///
/// A call from a thread outside of the pool makes that thread worker 0 during the call, unless another
/// thread is worker 0; see [`Builder::dedicated`](crate::Builder::dedicated).
impl<P: Platform> Pool<P> {
    /// Runs `a` and `b`, perhaps in parallel, and returns both results. `a` runs on this thread; then `b`
    /// runs here too, unless another thread has stolen it.
    ///
    /// When no thread is idle, a `join` costs a few loads and stores more than two calls. While this thread waits for a
    /// stolen `b`, it runs only jobs that `b` has forked.
    ///
    /// # Panics
    ///
    /// If `a` or `b` panics. The panic continues once both have ended. If both panic, this continues the panic of `a`.
    ///
    /// ```
    /// let pool = manycore::Pool::builder().threads(2).build()?;
    /// fn sum(pool: &manycore::Pool, range: std::ops::Range<u64>) -> u64 {
    ///     if range.end - range.start < 100 {
    ///         return range.sum();
    ///     }
    ///     let middle = range.start.midpoint(range.end);
    ///     let (a, b) = pool.join(|| sum(pool, range.start..middle), || sum(pool, middle..range.end));
    ///     a + b
    /// }
    /// assert_eq!(sum(&pool, 0..10_000), 49_995_000);
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    #[inline]
    pub fn join<A, B, RA, RB>(&self, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce() -> RA + Send,
        B: FnOnce() -> RB + Send,
        RA: Send,
        RB: Send,
    {
        self.join_context(|_| a(), |_| b())
    }

    /// As [`join`](Self::join), but each closure gets a context that says whether it has moved to another thread.
    ///
    /// # Panics
    ///
    /// As [`join`](Self::join).
    ///
    /// ```
    /// let pool = manycore::Pool::builder().threads(2).build()?;
    /// let (a, b) = pool.join_context(|context| context.migrated(), |_| 7);
    /// assert_eq!((a, b), (false, 7));
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    #[inline]
    pub fn join_context<A, B, RA, RB>(&self, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(FnContext) -> RA + Send,
        B: FnOnce(FnContext) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        match Context::worker_of(&*self.registry) {
            Some(worker) => worker.join(false, a, b),
            None => self.registry.join_from_outside(a, b),
        }
    }

    /// Runs `op` as a worker of this pool. `op` runs on this thread if no other thread is worker 0, and otherwise on a
    /// thread of the pool. Calls in `op` that name no pool, such as [`join`](crate::join), happen in this pool.
    ///
    /// # Panics
    ///
    /// If `op` panics, with the same panic.
    ///
    /// ```
    /// let pool = manycore::Pool::builder().threads(2).build()?;
    /// assert_eq!(pool.install(|| manycore::join(|| 1, || 2)), (1, 2));
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    pub fn install<R: Send>(&self, op: impl FnOnce() -> R + Send) -> R {
        self.registry.enter(|_, _| op())
    }

    /// Runs `body` with a [`Scope`] to spawn jobs into, and returns when they have
    /// all ended. The jobs may borrow values that outlive the scope.
    ///
    /// While the thread waits, it runs jobs of the scope, and of scopes within the scope.
    ///
    /// # Panics
    ///
    /// If `body` or a job panics. This continues the first panic once `body` and all jobs have ended.
    ///
    /// ```
    /// let pool = manycore::Pool::builder().threads(2).build()?;
    /// let mut words = vec![String::new(); 3];
    /// pool.scope(|scope| {
    ///     for word in &mut words {
    ///         scope.spawn(|_| word.push('x'));
    ///     }
    /// });
    /// assert_eq!(words.concat(), "xxx");
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    pub fn scope<'scope, R: Send>(&self, body: impl FnOnce(&Scope<'scope, P>) -> R + Send) -> R {
        self.registry
            .enter(|worker, _| Scope::new(&self.registry, Some(worker)).complete(body))
    }

    /// As [`scope`](Self::scope), but the jobs of each spawning thread begin in the order in which that thread spawned
    /// them.
    ///
    /// # Panics
    ///
    /// As [`scope`](Self::scope).
    ///
    /// ```
    /// let pool = manycore::Pool::builder().threads(1).build()?;
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// pool.scope_fifo(|scope| {
    ///     for i in 0..3 {
    ///         let sender = sender.clone();
    ///         scope.spawn_fifo(move |_| sender.send(i).unwrap());
    ///     }
    /// });
    /// assert_eq!(receiver.iter().take(3).collect::<Vec<_>>(), [0, 1, 2]);
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    pub fn scope_fifo<'scope, R: Send>(
        &self,
        body: impl FnOnce(&ScopeFifo<'scope, P>) -> R + Send,
    ) -> R {
        self.registry
            .enter(|worker, _| ScopeFifo::new(&self.registry, Some(worker)).complete(body))
    }

    /// As [`scope`](Self::scope), but the body always runs on the calling thread. So neither the body nor its result
    /// need be `Send`.
    ///
    /// # Panics
    ///
    /// As [`scope`](Self::scope).
    ///
    /// ```
    /// let pool = manycore::Pool::builder().threads(2).build()?;
    /// let here = std::rc::Rc::new(5);
    /// let also_here = pool.in_place_scope(|scope| {
    ///     scope.spawn(|_| ());
    ///     std::rc::Rc::clone(&here)
    /// });
    /// assert_eq!(*also_here, 5);
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    pub fn in_place_scope<'scope, R>(&self, body: impl FnOnce(&Scope<'scope, P>) -> R) -> R {
        self.registry
            .scope_in_place(|worker| Scope::new(&self.registry, worker).complete(body))
    }

    /// As [`scope_fifo`](Self::scope_fifo), but the body always runs on the calling thread.
    ///
    /// # Panics
    ///
    /// As [`scope`](Self::scope).
    ///
    /// ```
    /// let pool = manycore::Pool::builder().threads(2).build()?;
    /// let mut done = false;
    /// pool.in_place_scope_fifo(|scope| scope.spawn_fifo(|_| done = true));
    /// assert!(done);
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    pub fn in_place_scope_fifo<'scope, R>(
        &self,
        body: impl FnOnce(&ScopeFifo<'scope, P>) -> R,
    ) -> R {
        self.registry
            .scope_in_place(|worker| ScopeFifo::new(&self.registry, worker).complete(body))
    }

    /// Runs `job` on some worker. This call does not wait for the job. The pool does not end before the job has ended.
    /// Each spawn makes one allocation.
    ///
    /// If the job panics, the panic goes to the [`panic_handler`](crate::Builder::panic_handler).
    ///
    /// ```
    /// let pool = manycore::Pool::builder().threads(2).build()?;
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// pool.spawn(move || sender.send(3).unwrap());
    /// assert_eq!(receiver.recv(), Ok(3));
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    pub fn spawn(&self, job: impl FnOnce() + Send + 'static) {
        self.registry.spawn(job);
    }

    /// As [`spawn`](Self::spawn), but the jobs that one thread spawns with this method begin in the order of the
    /// spawns.
    ///
    /// ```
    /// let pool = manycore::Pool::builder().threads(2).build()?;
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// pool.spawn_fifo(move || sender.send(3).unwrap());
    /// assert_eq!(receiver.recv(), Ok(3));
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    pub fn spawn_fifo(&self, job: impl FnOnce() + Send + 'static) {
        self.registry.spawn_fifo(job);
    }

    /// Runs `op` once for each [`current_thread_index`](Self::current_thread_index), and returns the results in
    /// that order. An index is a permit to run, which one thread has at a time. Each call of `op` begins when the
    /// thread with that permit has ended its current job.
    ///
    /// Calls of `op` that wait for each other run at once, each on a thread of its own. Other calls may share a
    /// thread: a thread that waits for long gives its permit away, and may get another permit later. So do not
    /// use `op` to set up thread-local state.
    ///
    /// # Panics
    ///
    /// If a call of `op` panics. Once all calls have ended, this continues the panic of the lowest index.
    ///
    /// ```
    /// let pool = manycore::Pool::builder().threads(2).build()?;
    /// assert_eq!(pool.broadcast(|context| context.index()), [0, 1]);
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    pub fn broadcast<R: Send>(&self, op: impl Fn(BroadcastContext<'_>) -> R + Sync) -> Vec<R> {
        self.registry.broadcast(op)
    }

    /// As [`broadcast`](Self::broadcast), but does not wait for the calls. If the pool can start no thread for index 0,
    /// this thread runs the call of index 0 itself. So do not hold a lock that `op` takes.
    ///
    /// ```
    /// let pool = manycore::Pool::builder().threads(2).build()?;
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// pool.spawn_broadcast(move |context| sender.send(context.index()).unwrap());
    /// assert_eq!(receiver.iter().take(2).sum::<usize>(), 1);
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    pub fn spawn_broadcast(&self, op: impl Fn(BroadcastContext<'_>) + Send + Sync + 'static) {
        self.registry.spawn_broadcast(op);
    }

    /// Runs one job of the pool, if there is one. Returns `None` if the caller is not a thread of the pool.
    ///
    /// ```
    /// let pool = manycore::Pool::builder().threads(1).build()?;
    /// assert_eq!(pool.yield_now(), None); // called from outside
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    pub fn yield_now(&self) -> Option<Yield> {
        Context::worker_of(&*self.registry).map(Worker::yield_now)
    }

    /// As [`yield_now`](Self::yield_now), but runs only a job that this thread has spawned, or that was sent to it.
    ///
    /// ```
    /// let pool = manycore::Pool::builder().threads(1).build()?;
    /// assert_eq!(pool.install(|| pool.yield_local()), Some(manycore::Yield::Idle));
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    pub fn yield_local(&self) -> Option<Yield> {
        Context::worker_of(&*self.registry).map(Worker::yield_local)
    }

    /// Returns which of the pool's threads the caller is, or `None` if the caller is not a thread of the pool.
    ///
    /// ```
    /// let pool = manycore::Pool::builder().threads(1).build()?;
    /// assert_eq!(pool.current_thread_index(), None);
    /// assert_eq!(pool.install(|| pool.current_thread_index()), Some(0));
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    pub fn current_thread_index(&self) -> Option<usize> {
        Context::worker_of(&*self.registry).map(Worker::index)
    }

    /// Whether this thread has jobs that no thread has begun. Returns `None` if this thread is not a thread of the
    /// pool.
    ///
    /// ```
    /// let pool = manycore::Pool::builder().threads(1).build()?;
    /// let (pending, _) = pool.join(|| pool.current_thread_has_pending_tasks(), || ());
    /// assert_eq!(pending, Some(true));
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    pub fn current_thread_has_pending_tasks(&self) -> Option<bool> {
        Context::worker_of(&*self.registry).map(Worker::has_pending)
    }
}

impl<P: Platform> Registry<P> {
    #[cold]
    #[inline(never)]
    pub(super) fn join_from_outside<A, B, RA, RB>(&self, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(FnContext) -> RA + Send,
        B: FnOnce(FnContext) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        self.enter(|worker, migrated| worker.join(migrated, a, b))
    }
}
