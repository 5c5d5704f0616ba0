//! The fork-join functions that use the calling thread's pool, or the global pool.

use super::Pool;
use super::broadcast::BroadcastContext;
use super::context::Context;
use super::join::FnContext;
use super::registry::Registry;
use super::scope::{Scope, ScopeFifo};
use super::worker::Worker;
use super::yields::Yield;
use manycore_platform::Native;

/// [`Pool::join`] in the pool of this thread, or in the [global pool](Pool::global) if the thread has none.
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

/// [`Pool::join_context`] in the pool of this thread, or in the [global pool](Pool::global) if the thread has none.
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

/// `join_context` in the pool of this thread, or, if the thread has none, in the pool that `elsewhere` returns.
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

/// The result of `call` with this thread's worker, if the thread is a worker.
#[inline(always)]
fn own<R>(call: impl FnOnce(&Worker<Native>) -> R) -> Option<R> {
    Context::<Native>::own_worker(|own| own.map(call))
}

/// Calls `call` with the registry of this thread's pool, or of the global pool if the thread has none.
#[inline(always)]
pub(crate) fn registry_here<R>(call: impl FnOnce(&Registry<Native>) -> R) -> R {
    Context::<Native>::own_worker(|own| match own {
        Some(worker) => call(worker.registry()),
        None => call(&Pool::global().registry),
    })
}

/// Defines functions that call the registry of this thread's pool, or of the global pool.
macro_rules! here {
    ($(
        $name:ident[$($generics:tt)*]($($argument:ident: $type:ty),*) $(-> $result:ty)?, as $pool:ident:
        $call:expr;
    )*) => {$(
        #[doc = concat!("[`Pool::", stringify!($pool), "`] in the pool that this thread is part of,")]
        /// or else in the [global pool](Pool::global).
        ///
        /// # Panics
        ///
        /// As that method, and as [`Pool::global`].
        pub fn $name<$($generics)*>($($argument: $type),*) $(-> $result)? {
            registry_here($call)
        }
    )*};
}

here! {
    current_num_threads[]() -> usize, as threads: |registry| registry.shared().threads();

    scope['scope, R: Send](body: impl FnOnce(&Scope<'scope>) -> R + Send) -> R, as scope:
    |registry| registry.enter(|worker, _| Scope::new(registry, Some(worker)).complete(body));

    scope_fifo['scope, R: Send](body: impl FnOnce(&ScopeFifo<'scope>) -> R + Send) -> R, as scope_fifo:
    |registry| registry.enter(|worker, _| ScopeFifo::new(registry, Some(worker)).complete(body));

    in_place_scope['scope, R](body: impl FnOnce(&Scope<'scope>) -> R) -> R, as in_place_scope:
    |registry| registry.scope_in_place(|worker| Scope::new(registry, worker).complete(body));

    in_place_scope_fifo['scope, R](body: impl FnOnce(&ScopeFifo<'scope>) -> R) -> R,
    as in_place_scope_fifo:
    |registry| registry.scope_in_place(|worker| ScopeFifo::new(registry, worker).complete(body));

    spawn[](job: impl FnOnce() + Send + 'static), as spawn: |registry| registry.spawn(job);

    spawn_fifo[](job: impl FnOnce() + Send + 'static), as spawn_fifo:
    |registry| registry.spawn_fifo(job);

    broadcast[R: Send](op: impl Fn(BroadcastContext<'_>) -> R + Sync) -> Vec<R>, as broadcast:
    |registry| registry.broadcast(op);

    spawn_broadcast[](op: impl Fn(BroadcastContext<'_>) + Send + Sync + 'static), as spawn_broadcast:
    |registry| registry.spawn_broadcast(op);
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

/// [`Pool::current_thread_index`] in the pool that this thread is part of, if any.
///
/// ```
/// assert_eq!(manycore::current_thread_index(), None);
/// ```
pub fn current_thread_index() -> Option<usize> {
    own(Worker::index)
}

/// Whether this thread is part of a pool. It may have no permit (right to run jobs) there.
#[inline]
pub(crate) fn is_in_a_pool() -> bool {
    own(|_| ()).is_some()
}

/// [`Pool::current_thread_has_pending_tasks`] in the pool that this thread is part of, if any.
///
/// ```
/// assert_eq!(manycore::current_thread_has_pending_tasks(), None);
/// ```
pub fn current_thread_has_pending_tasks() -> Option<bool> {
    own(Worker::has_pending)
}
