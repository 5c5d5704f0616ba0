//! The global pool, and the free functions. They use the current thread's pool, or else the global pool.

use crate::builder::ThreadPoolBuilder;
use crate::error::ThreadPoolBuildError;
use crate::{BroadcastContext, FnContext, Scope, ScopeFifo};
use manycore::{Pool, seam};

/// Returns the global pool. If there is none, makes it, as rayon does.
///
/// # Panics
///
/// Panics if the pool cannot be made.
fn pool() -> &'static Pool {
    match seam::global(ThreadPoolBuilder::make_global) {
        Ok(pool) => pool,
        Err(error) => panic!("The global thread pool has not been initialized: {error}"),
    }
}

pub(crate) fn make(
    pool: impl FnOnce() -> Result<Pool, ThreadPoolBuildError>,
) -> Result<(), ThreadPoolBuildError> {
    match seam::make_global(pool)? {
        true => Ok(()),
        false => Err(ThreadPoolBuildError::global_exists()),
    }
}

/// Makes sure that the current thread has a pool, which is its own pool or the global pool.
fn prepare() {
    if !manycore::seam::is_in_a_pool() {
        pool();
    }
}

/// Ends the threads of the global pool, and waits until they have ended. Call this before a `fork`, before the library
/// is unloaded, or before a search for leaks. The next call starts new threads. rayon-core has no such function.
///
/// The function waits until nothing runs in the pool and no thread is in a call to the pool. If another call begins
/// meanwhile, the threads serve this call before they end, or the call starts new threads. Returns `false` if the
/// threads still exist. This is so if the caller is inside of the pool, or if the pool has a spawn handler or uses its
/// builder's thread. The thread of [`follow_cores`](crate::ThreadPoolBuilderExt::follow_cores) stays.
///
/// ```
/// assert_eq!(rayon_core::join(|| 1, || 2), (1, 2));
/// assert!(rayon_core::end_global_threads());
/// assert_eq!(rayon_core::join(|| 3, || 4), (3, 4));
/// ```
#[must_use = "the threads may be there still"]
pub fn end_global_threads() -> bool {
    Pool::end_global()
}

/// The number of threads of the current pool, or else of the global pool.
///
/// ```
/// assert!(rayon_core::current_num_threads() >= 1);
/// ```
pub fn current_num_threads() -> usize {
    prepare();
    manycore::current_num_threads()
}

/// Runs both closures, perhaps at the same time, and returns both results.
///
/// # Panics
///
/// Panics with the panic of the first closure, or else with the panic of the second closure. Both closures have run by
/// then.
///
/// ```
/// assert_eq!(rayon_core::join(|| 1, || 2), (1, 2));
/// ```
#[inline]
pub fn join<A, B, RA, RB>(oper_a: A, oper_b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    seam::join_context(|_| oper_a(), |_| oper_b(), pool)
}

/// [`join`] with closures that can ask whether they run on another thread than the caller of this function.
///
/// # Panics
///
/// As [`join`].
///
/// ```
/// let (here, _) = rayon_core::join(|| (), || ());
/// let (_, two) = rayon_core::join_context(|_| (), |context| { context.migrated(); 2 });
/// assert_eq!((here, two), ((), 2));
/// ```
#[inline]
pub fn join_context<A, B, RA, RB>(oper_a: A, oper_b: B) -> (RA, RB)
where
    A: FnOnce(FnContext) -> RA + Send,
    B: FnOnce(FnContext) -> RB + Send,
    RA: Send,
    RB: Send,
{
    seam::join_context(oper_a, oper_b, pool)
}

/// Runs `op` in the pool. `op` may spawn jobs that borrow values which outlive the scope. Returns when all jobs have
/// run.
///
/// # Panics
///
/// Panics with the first panic in the scope.
///
/// ```
/// let mut halves = [0, 0];
/// let (left, right) = halves.split_at_mut(1);
/// rayon_core::scope(|s| {
///     s.spawn(|_| left[0] = 1);
///     s.spawn(|_| right[0] = 2);
/// });
/// assert_eq!(halves, [1, 2]);
/// ```
pub fn scope<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&Scope<'scope>) -> R + Send,
    R: Send,
{
    prepare();
    manycore::scope(op)
}

/// [`scope`] with jobs that begin, for each thread, in the order in which the thread has spawned them.
///
/// # Panics
///
/// As [`scope`].
pub fn scope_fifo<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&ScopeFifo<'scope>) -> R + Send,
    R: Send,
{
    prepare();
    manycore::scope_fifo(op)
}

/// [`scope`], but `op` itself runs on the current thread.
///
/// # Panics
///
/// As [`scope`].
pub fn in_place_scope<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&Scope<'scope>) -> R,
{
    prepare();
    manycore::in_place_scope(op)
}

/// [`scope_fifo`], but `op` itself runs on the current thread.
///
/// # Panics
///
/// As [`scope`].
pub fn in_place_scope_fifo<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&ScopeFifo<'scope>) -> R,
{
    prepare();
    manycore::in_place_scope_fifo(op)
}

/// Runs `func` in the pool at some time, without waiting.
///
/// ```
/// let (tell, told) = std::sync::mpsc::channel();
/// rayon_core::spawn(move || tell.send(1).unwrap());
/// assert_eq!(told.recv(), Ok(1));
/// ```
pub fn spawn<F>(func: F)
where
    F: FnOnce() + Send + 'static,
{
    prepare();
    manycore::spawn(func);
}

/// As [`spawn`], but a thread begins its own jobs in the order in which it has spawned them.
pub fn spawn_fifo<F>(func: F)
where
    F: FnOnce() + Send + 'static,
{
    prepare();
    manycore::spawn_fifo(func);
}

/// Runs `op` on each thread of the pool, and waits for all of them.
///
/// # Panics
///
/// Panics with the panic of the thread with the lowest number.
///
/// ```
/// let indices = rayon_core::broadcast(|context| context.index());
/// assert!(indices.into_iter().eq(0..rayon_core::current_num_threads()));
/// ```
pub fn broadcast<OP, R>(op: OP) -> Vec<R>
where
    OP: Fn(BroadcastContext<'_>) -> R + Sync,
    R: Send,
{
    prepare();
    manycore::broadcast(op)
}

/// Runs `op` on each thread of the pool at some time, without waiting.
pub fn spawn_broadcast<OP>(op: OP)
where
    OP: Fn(BroadcastContext<'_>) + Send + Sync + 'static,
{
    prepare();
    manycore::spawn_broadcast(op);
}
