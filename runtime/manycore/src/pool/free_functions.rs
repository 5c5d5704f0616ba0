//! The fork-join calls that find their pool by themselves.

use super::Pool;
use super::broadcast::BroadcastContext;
use super::context::Context;
use super::join::FnContext;
use super::registry::Registry;
use super::scope::{Scope, ScopeFifo};
use super::worker::Worker;
use super::yields::Yield;
use manycore_platform::Native;

/// [`Pool::join`] in the pool that this thread is part of, or else in the
/// [global one](Pool::global).
///
/// # Panics
///
/// As [`Pool::join`], and as [`Pool::global`].
///
/// ```
/// fn fib(n: u32) -> u32 {
///     if n < 2 {
///         return n;
///     }
///     let (a, b) = manycore::join(|| fib(n - 1), || fib(n - 2));
///     a + b
/// }
/// assert_eq!(fib(20), 6765);
/// ```
#[inline]
pub fn join<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    join_context(|_| a(), |_| b())
}

/// [`Pool::join_context`] in the pool that this thread is part of, or else in the
/// [global one](Pool::global).
///
/// # Panics
///
/// As [`join`].
///
/// ```
/// let (a, b) = manycore::join_context(|a| a.migrated(), |_| 2);
/// assert_eq!((a, b), (false, 2));
/// ```
#[inline]
pub fn join_context<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce(FnContext) -> RA + Send,
    B: FnOnce(FnContext) -> RB + Send,
    RA: Send,
    RB: Send,
{
    join_context_here_or(a, b, Pool::global)
}

/// `join_context` in the pool that this thread is part of, or in that of `elsewhere`.
#[inline(always)]
pub(crate) fn join_context_here_or<A, B, RA, RB>(
    a: A,
    b: B,
    elsewhere: fn() -> &'static Pool,
) -> (RA, RB)
where
    A: FnOnce(FnContext) -> RA + Send,
    B: FnOnce(FnContext) -> RB + Send,
    RA: Send,
    RB: Send,
{
    Context::<Native>::own_worker(|own| match own {
        Some(worker) => worker.join(false, a, b),
        None => elsewhere().registry.join_from_outside(a, b),
    })
}

/// What `call` makes of the worker that this thread is, if it is one.
#[inline(always)]
fn own<R>(call: impl FnOnce(&Worker<Native>) -> R) -> Option<R> {
    Context::<Native>::own_worker(|own| own.map(call))
}

/// Calls `call` with the registry that this thread is part of, or with the global one.
#[inline(always)]
pub(crate) fn registry_here<R>(call: impl FnOnce(&Registry<Native>) -> R) -> R {
    Context::<Native>::own_worker(|own| match own {
        Some(worker) => call(worker.registry()),
        None => call(&Pool::global().registry),
    })
}

/// The threads of the pool that this thread is part of, or else of the
/// [global one](Pool::global): as [`Pool::threads`].
///
/// # Panics
///
/// As [`Pool::global`].
///
/// ```
/// let pool = manycore::Pool::builder().threads(3).build()?;
/// assert_eq!(pool.install(manycore::current_num_threads), 3);
/// assert_eq!(manycore::current_num_threads(), manycore::Pool::global().threads());
/// # Ok::<(), manycore::BuildError>(())
/// ```
pub fn current_num_threads() -> usize {
    registry_here(|registry| registry.shared().threads())
}

/// [`Pool::scope`] in the pool that this thread is part of, or else in the
/// [global one](Pool::global).
///
/// # Panics
///
/// As [`Pool::scope`], and as [`Pool::global`].
///
/// ```
/// let mut x = 0;
/// manycore::scope(|scope| scope.spawn(|_| x = 1));
/// assert_eq!(x, 1);
/// ```
pub fn scope<'scope, R: Send>(body: impl FnOnce(&Scope<'scope>) -> R + Send) -> R {
    registry_here(|registry| {
        registry.enter(|worker, _| Scope::new(registry, Some(worker)).complete(body))
    })
}

/// [`Pool::scope_fifo`] in the pool that this thread is part of, or else in the
/// [global one](Pool::global).
///
/// # Panics
///
/// As [`scope`].
///
/// ```
/// let mut x = 0;
/// manycore::scope_fifo(|scope| scope.spawn_fifo(|_| x = 1));
/// assert_eq!(x, 1);
/// ```
pub fn scope_fifo<'scope, R: Send>(body: impl FnOnce(&ScopeFifo<'scope>) -> R + Send) -> R {
    registry_here(|registry| {
        registry.enter(|worker, _| ScopeFifo::new(registry, Some(worker)).complete(body))
    })
}

/// [`Pool::in_place_scope`] in the pool that this thread is part of, or else in
/// the [global one](Pool::global).
///
/// # Panics
///
/// As [`scope`].
///
/// ```
/// let mut x = 0;
/// manycore::in_place_scope(|scope| scope.spawn(|_| x = 1));
/// assert_eq!(x, 1);
/// ```
pub fn in_place_scope<'scope, R>(body: impl FnOnce(&Scope<'scope>) -> R) -> R {
    registry_here(|registry| {
        registry.in_place(|worker| Scope::new(registry, worker).complete(body))
    })
}

/// [`Pool::in_place_scope_fifo`] in the pool that this thread is part of, or else
/// in the [global one](Pool::global).
///
/// # Panics
///
/// As [`scope`].
///
/// ```
/// let mut x = 0;
/// manycore::in_place_scope_fifo(|scope| scope.spawn_fifo(|_| x = 1));
/// assert_eq!(x, 1);
/// ```
pub fn in_place_scope_fifo<'scope, R>(body: impl FnOnce(&ScopeFifo<'scope>) -> R) -> R {
    registry_here(|registry| {
        registry.in_place(|worker| ScopeFifo::new(registry, worker).complete(body))
    })
}

/// [`Pool::spawn`] in the pool that this thread is part of, or else in the
/// [global one](Pool::global).
///
/// ```
/// let (tell, told) = std::sync::mpsc::channel();
/// manycore::spawn(move || tell.send(1).unwrap());
/// assert_eq!(told.recv(), Ok(1));
/// ```
pub fn spawn(job: impl FnOnce() + Send + 'static) {
    registry_here(|registry| registry.spawn(job));
}

/// [`Pool::spawn_fifo`] in the pool that this thread is part of, or else in the
/// [global one](Pool::global).
///
/// ```
/// let (tell, told) = std::sync::mpsc::channel();
/// manycore::spawn_fifo(move || tell.send(1).unwrap());
/// assert_eq!(told.recv(), Ok(1));
/// ```
pub fn spawn_fifo(job: impl FnOnce() + Send + 'static) {
    registry_here(|registry| registry.spawn_fifo(job));
}

/// [`Pool::broadcast`] in the pool that this thread is part of, or else in the
/// [global one](Pool::global).
///
/// # Panics
///
/// As [`Pool::broadcast`], and as [`Pool::global`].
///
/// ```
/// let calls = manycore::broadcast(|context| context.index());
/// assert!(calls.is_sorted());
/// ```
pub fn broadcast<R: Send>(op: impl Fn(BroadcastContext<'_>) -> R + Sync) -> Vec<R> {
    registry_here(|registry| registry.broadcast(op))
}

/// [`Pool::spawn_broadcast`] in the pool that this thread is part of, or else in
/// the [global one](Pool::global).
///
/// ```
/// let (tell, told) = std::sync::mpsc::channel();
/// manycore::spawn_broadcast(move |context| drop(tell.send(context.index())));
/// assert_eq!(told.iter().min(), Some(0));
/// ```
pub fn spawn_broadcast(op: impl Fn(BroadcastContext<'_>) + Send + Sync + 'static) {
    registry_here(|registry| registry.spawn_broadcast(op));
}

/// [`Pool::yield_now`] in the pool that this thread is part of, if any.
///
/// ```
/// assert_eq!(manycore::yield_now(), None);
/// ```
pub fn yield_now() -> Option<Yield> {
    own(Worker::yield_now)
}

/// [`Pool::yield_local`] in the pool that this thread is part of, if any.
///
/// ```
/// assert_eq!(manycore::yield_local(), None);
/// ```
pub fn yield_local() -> Option<Yield> {
    own(Worker::yield_local)
}

/// [`Pool::current_thread_index`] in the pool that this thread is part of, if
/// any.
///
/// ```
/// assert_eq!(manycore::current_thread_index(), None);
/// ```
pub fn current_thread_index() -> Option<usize> {
    own(Worker::index)
}

/// [`Pool::current_thread_has_pending_tasks`] in the pool that this thread is part
/// of, if any.
///
/// ```
/// assert_eq!(manycore::current_thread_has_pending_tasks(), None);
/// ```
pub fn current_thread_has_pending_tasks() -> Option<bool> {
    own(Worker::has_pending)
}
