//! Scopes, whose jobs may borrow data that outlives the scope.

use super::BroadcastContext;
use super::context::Context;
use super::job::{Group, Job};
use super::oneshot::Oneshot;
use super::queue::Fifo;
use super::registry::Registry;
use super::worker::Worker;
use crate::sleep::Latch;
use manycore_cores::sync::let_go;
use manycore_platform::{Atomic, AtomicInteger, Native, Ordering, Platform};
use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

/// A scope. Its jobs may borrow data from outside the scope; see [`scope`](crate::scope).
///
/// ```
/// let mut halves = [0, 0];
/// let (left, right) = halves.split_at_mut(1);
/// manycore::scope(|scope| {
///     scope.spawn(|_| left[0] = 1);
///     scope.spawn(|_| right[0] = 2);
/// });
/// assert_eq!(halves, [1, 2]);
/// ```
pub struct Scope<'scope, P: Platform = Native> {
    /// The group of the scope's jobs.
    group: Group,
    registry: *const Registry<P>,
    /// The worker that waits for the scope.
    owner: Option<usize>,
    /// The event on which the waiting thread blocks if it is not a worker.
    oneshot: Option<Arc<Oneshot<P>>>,
    /// The number of jobs that have not ended, plus 1 for the scope's body until it has ended.
    open: P::AtomicUsize,
    /// Set when `open` has reached 0.
    latch: Latch<P>,
    /// The payload of the first panic, in a box of its own, until the panic is raised again.
    panic: P::AtomicPtr<Box<dyn Any + Send>>,
    /// Makes the type invariant in `'scope`: jobs are called with `&Scope<'scope>`, and may write through what
    /// they borrow.
    lives: PhantomData<fn(&'scope ()) -> &'scope ()>,
}

// SAFETY: jobs on other threads use only the scope's atomics, and the registry, which lives as long as its threads
// and callers.
unsafe impl<P: Platform> Sync for Scope<'_, P> {}
// SAFETY: as above. A scope is bound to no thread.
unsafe impl<P: Platform> Send for Scope<'_, P> {}

impl<P: Platform> fmt::Debug for Scope<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}

impl<'scope, P: Platform> Scope<'scope, P> {
    pub(super) fn new(registry: &Registry<P>, owner: Option<&Worker<P>>) -> Self {
        let around = owner.map_or(std::ptr::null(), Worker::group);
        Self::within(around, registry, owner)
    }

    /// Makes a scope for `owner`, which runs on another thread than the caller. The owner is in the scope `around`.
    ///
    /// # Safety
    ///
    /// The scope, and what its jobs use, stay where they are until the owner has [completed](Self::complete) the
    /// scope.
    pub(crate) unsafe fn of_another(owner: &Worker<P>, around: *const Group) -> Self {
        Self::within(around, owner.registry(), Some(owner))
    }

    fn within(around: *const Group, registry: &Registry<P>, owner: Option<&Worker<P>>) -> Self {
        Self {
            group: Group { around },
            registry,
            owner: owner.map(|worker| worker.id()),
            oneshot: match owner {
                Some(_) => None,
                None => Some(Arc::new(Oneshot::new())),
            },
            open: P::AtomicUsize::new(1),
            latch: Latch::new(),
            panic: P::AtomicPtr::new(std::ptr::null_mut()),
            lives: PhantomData,
        }
    }

    fn registry(&self) -> &Registry<P> {
        // SAFETY: the registry outlives its scopes, since the caller of a scope uses the pool.
        unsafe { &*self.registry }
    }

    /// Runs `body` on this worker or another worker, at some time before the scope ends. This takes one
    /// allocation.
    ///
    /// If `body` panics, the scope raises the panic again when all its jobs have ended. If several jobs panic,
    /// it raises the first panic.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    ///
    /// let sum = AtomicUsize::new(0);
    /// manycore::scope(|scope| {
    ///     for i in 0..10 {
    ///         let sum = &sum;
    ///         scope.spawn(move |scope| {
    ///             scope.spawn(move |_| drop(sum.fetch_add(i, Relaxed)));
    ///         });
    ///     }
    /// });
    /// assert_eq!(sum.into_inner(), 45);
    /// ```
    pub fn spawn<F>(&self, body: F)
    where
        F: FnOnce(&Scope<'scope, P>) + Send + 'scope,
    {
        let job = || self.job(body);
        match Context::worker_of(self.registry()) {
            Some(worker) => worker.push_spawned(job()),
            None => self.registry().post_scoped(job),
        }
    }

    /// Spawns `body` as if the owner had called [`spawn`](Self::spawn), but another thread calls this. Any worker may
    /// run the job.
    pub(crate) fn spawn_for_owner<F>(&self, body: F)
    where
        F: FnOnce(&Scope<'scope, P>) + Send + 'scope,
    {
        let owner = self.owner.expect("a worker owns the scope");
        self.registry().worker(owner).push_for(self.job(body));
    }

    /// Runs `body` once for each of the pool's permits (rights to run jobs, one for each thread), at some time before
    /// the scope ends.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    ///
    /// let pool = manycore::Pool::builder().threads(2).build()?;
    /// let calls = AtomicUsize::new(0);
    /// pool.scope(|scope| {
    ///     scope.spawn_broadcast(|_, _| drop(calls.fetch_add(1, Relaxed)));
    /// });
    /// assert_eq!(calls.into_inner(), 2);
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    pub fn spawn_broadcast<F>(&self, body: F)
    where
        F: Fn(&Scope<'scope, P>, BroadcastContext<'_>) + Send + Sync + 'scope,
    {
        let body = Arc::new(body);
        let threads = self.registry().mailboxes().len();
        let jobs = (0..threads).map(|index| {
            let body = Arc::clone(&body);
            self.job(move |scope: &Self| body(scope, BroadcastContext::new(index, threads)))
        });
        self.registry().send_to_all(jobs);
        self.registry().have_lost_mail_read();
    }

    /// Makes `body` a job for which the scope waits.
    pub(super) fn job<F>(&self, body: F) -> Job
    where
        F: FnOnce(&Scope<'scope, P>) + Send + 'scope,
    {
        // Relaxed: the caller is itself counted, so the count is not 0.
        self.open.fetch_add(1, Ordering::Relaxed);
        let scope: *const Self = self;
        // SAFETY: the scope, and with it all of `'scope`, lives until `close` sets its latch. This
        // is the last use of the scope by `close`. `body` is `Send`, and `run` catches its panic.
        unsafe {
            let body = move || _ = (*scope).run(|| body(&*scope));
            Job::before(body, move || Self::close(scope)).in_group(&raw const self.group)
        }
    }

    /// Runs `body` and catches its panic. Keeps the scope's first panic.
    fn run<R>(&self, body: impl FnOnce() -> R) -> Option<R> {
        match catch_unwind(AssertUnwindSafe(body)) {
            Ok(result) => Some(result),
            Err(payload) => {
                let payload = Box::into_raw(Box::new(payload));
                // Release publishes the payload to the thread that takes it in `complete`. Relaxed on failure: this
                // thread does not look at the payload that another thread has published.
                let first = (self.panic).compare_exchange(
                    std::ptr::null_mut(),
                    payload,
                    Ordering::Release,
                    Ordering::Relaxed,
                );
                if first.is_err() {
                    // SAFETY: the box was made above, and was not published.
                    let later = unsafe { Box::from_raw(payload) };
                    let_go(*later);
                }
                None
            }
        }
    }

    /// Subtracts one job, or the body, from the count. When the count is zero, ends the wait for the scope.
    ///
    /// # Safety
    ///
    /// The scope is alive and counts the caller. The scope may be gone afterwards.
    unsafe fn close(scope: *const Self) {
        // SAFETY: the scope is alive until all jobs have counted themselves out and the latch is set. So what is
        // needed afterwards is read before the subtraction.
        let (registry, owner, last) = unsafe {
            let scope = &*scope;
            let (registry, owner) = (scope.registry, scope.owner);
            // Release: the job's writes happen before the end. Acquire: the job that sets the latch comes after
            // the writes of all jobs.
            let last = scope.open.fetch_sub(1, Ordering::AcqRel) == 1;
            (registry, owner, last)
        };
        if !last {
            return;
        }
        // SAFETY: this was the last job. The scope stays until its owner is notified.
        let oneshot = unsafe { (*scope).oneshot.clone() };
        // SAFETY: this was the last job. Only the waiting owner still uses the scope, and it waits until the latch is
        // set.
        let sleeps = unsafe { (*scope).latch.set() };
        // SAFETY: pools outlive their jobs.
        let registry = unsafe { &*registry };
        if let Some(oneshot) = oneshot {
            oneshot.notify();
        }
        if let Some(owner) = owner.filter(|_| sleeps) {
            registry.notify(owner);
        }
    }

    /// Runs the scope's body, waits for all jobs, and raises the first panic again.
    pub(crate) fn complete<R>(&self, body: impl FnOnce(&Self) -> R) -> R {
        let registry = self.registry();
        let worker = self.owner.map(|owner| registry.worker(owner));
        let group: *const Group = &raw const self.group;
        let outer = worker.map(|worker| worker.enter_group(group));
        let result = self.run(|| body(self));
        // SAFETY: the scope is alive, and `open` counts the body.
        unsafe { Self::close(self) };
        match (worker, &self.oneshot) {
            (Some(worker), _) => {
                worker.wait_in_scope(&self.latch, group);
                worker.enter_group(outer.unwrap_or(std::ptr::null()));
            }
            (None, Some(oneshot)) => {
                registry.await_oneshot(oneshot);
            }
            (None, None) => unreachable!("a scope has an owner or a oneshot"),
        }
        // Acquire pairs with the release in `run`: this thread sees the whole payload.
        let payload = self.panic.swap(std::ptr::null_mut(), Ordering::Acquire);
        if !payload.is_null() {
            let_go(result);
            // SAFETY: the pointer is from `Box::into_raw` in `run`, and is taken once.
            resume_unwind(*unsafe { Box::from_raw(payload) });
        }
        result.expect("a body without a panic has a result")
    }
}

/// A scope in which the jobs of one thread begin in the order of their spawns; see
/// [`scope_fifo`](crate::scope_fifo).
///
/// ```
/// let pool = manycore::Pool::builder().threads(1).build()?;
/// let order = std::sync::Mutex::new(vec![]);
/// pool.scope_fifo(|scope| {
///     for i in 0..3 {
///         let order = &order;
///         scope.spawn_fifo(move |_| order.lock().unwrap().push(i));
///     }
/// });
/// assert_eq!(order.into_inner().unwrap(), [0, 1, 2]);
/// # Ok::<(), manycore::BuildError>(())
/// ```
pub struct ScopeFifo<'scope, P: Platform = Native> {
    scope: Scope<'scope, P>,
    /// One queue for each worker, with the jobs that the worker has spawned. The last queue is for all other threads.
    fifos: Box<[Fifo<P>]>,
}

impl<P: Platform> fmt::Debug for ScopeFifo<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopeFifo").finish_non_exhaustive()
    }
}

impl<'scope, P: Platform> ScopeFifo<'scope, P> {
    pub(super) fn new(registry: &Registry<P>, owner: Option<&Worker<P>>) -> Self {
        Self {
            scope: Scope::new(registry, owner),
            fifos: (0..=registry.mailboxes().len())
                .map(|_| Fifo::new())
                .collect(),
        }
    }

    /// As [`Scope::spawn`]. The job begins after the jobs that this thread has spawned before.
    ///
    /// ```
    /// manycore::scope_fifo(|scope| scope.spawn_fifo(|_| ()));
    /// ```
    pub fn spawn_fifo<F>(&self, body: F)
    where
        F: FnOnce(&ScopeFifo<'scope, P>) + Send + 'scope,
    {
        let me: *const Self = self;
        // The scope waits for the job, and `Scope::job` catches its panic.
        let job = || self.scope.job(Borrowed(me).then(body));
        let worker = Context::worker_of(self.scope.registry());
        // The queue belongs to the thread and not to its permit, since the permit may change while the thread waits.
        let threads = self.fifos.len() - 1;
        let index = worker.map_or(threads, |worker| worker.id() % threads);
        // SAFETY: the scope owns the queue, and waits for the job that `next` runs.
        let next = || unsafe { self.fifos[index].push(job()) };
        match worker {
            Some(worker) => worker.push_spawned(next()),
            None => self.scope.registry().post_scoped(next),
        }
    }

    /// As [`Scope::spawn_broadcast`].
    ///
    /// ```
    /// manycore::scope_fifo(|scope| scope.spawn_broadcast(|_, _| ()));
    /// ```
    pub fn spawn_broadcast<F>(&self, body: F)
    where
        F: Fn(&ScopeFifo<'scope, P>, BroadcastContext<'_>) + Send + Sync + 'scope,
    {
        let me = Borrowed::<Self>(self);
        self.scope
            .spawn_broadcast(move |_, context| body(me.get(), context));
    }

    pub(super) fn complete<R>(&self, body: impl FnOnce(&Self) -> R) -> R {
        // From here on the scope stays where it is. No job was spawned yet.
        for fifo in &self.fifos {
            fifo.in_group(&raw const self.scope.group);
        }
        self.scope.complete(|_| body(self))
    }
}

/// A job's pointer to its scope.
struct Borrowed<T>(*const T);

// SAFETY: the pointer is to a scope, which threads may share, and which waits for its jobs.
unsafe impl<T> Send for Borrowed<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Borrowed<T> {}

impl<'scope, P: Platform> Borrowed<ScopeFifo<'scope, P>> {
    fn get(&self) -> &ScopeFifo<'scope, P> {
        // SAFETY: only the scope's jobs use the pointer, and the scope waits for them.
        unsafe { &*self.0 }
    }

    fn then<F>(self, body: F) -> impl FnOnce(&Scope<'scope, P>) + Send + 'scope
    where
        F: FnOnce(&ScopeFifo<'scope, P>) + Send + 'scope,
        P: 'scope,
    {
        move |_| body(self.get())
    }
}
