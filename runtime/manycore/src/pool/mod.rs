//! The pool: its workers and their jobs, and the board, which is the list of posted loops. While a thread waits for
//! its own loop, it helps with loops inside that loop.

mod blocked;
mod board;
mod broadcast;
mod build;
mod builder;
mod call_back;
mod caller_slot;
#[cfg(test)]
mod checked;
mod compiled_here;
mod context;
mod enter;
mod error;
mod extension;
mod fork;
mod free_functions;
mod gate;
mod global;
mod growable_list;
mod invite;
mod job;
mod join;
mod leapfrog;
mod mailbox;
mod monitor;
mod monitored;
mod naps;
mod oneshot;
mod partial_slot;
mod permit;
mod permit_holders;
mod permits;
mod probe;
mod queue;
mod registry;
mod revoked;
mod run_others;
mod scope;
mod search;
mod shared;
mod spawn;
mod thread_set;
mod threads;
mod visit;
mod wait;
mod watch;
mod work;
mod worker;
mod yields;

pub(crate) use board::{Participation, PostedLoop};
pub use broadcast::BroadcastContext;
pub use builder::Builder;
pub(crate) use compiled_here::Address;
pub(crate) use context::{Context, Participant};
pub use error::BuildError;
pub use extension::BuilderExt;
pub use free_functions::{
    broadcast, current_num_threads, current_thread_has_pending_tasks, current_thread_index,
    in_place_scope, in_place_scope_fifo, join, join_context, scope, scope_fifo, spawn,
    spawn_broadcast, spawn_fifo, yield_local, yield_now,
};
pub(crate) use free_functions::{is_in_a_pool, join_context_here_or, registry_here};
#[cfg(test)]
pub(crate) use gate::Gate;
pub(crate) use job::Group;
pub use join::FnContext;
pub(crate) use partial_slot::PartialSlot;
pub use probe::Probe;
pub(crate) use registry::Registry;
pub use scope::{Scope, ScopeFifo};
pub(crate) use shared::Shared;
pub(crate) use threads::Making;
pub use threads::ThreadStart;
pub(crate) use wait::Waited;
pub(crate) use watch::Frame;
pub(crate) use worker::Worker;
pub use yields::Yield;

use call_back::Call;
use manycore_platform::Platform;

use manycore_platform::Native;
use std::mem::ManuallyDrop;
use std::sync::Arc;

/// A fixed number of threads that run parallel loops and jobs together with their
/// callers.
///
/// A pool of `n` threads has `n` *permits*: only a thread with a permit runs jobs. The pool starts
/// `n - 1` threads, and a thread that calls the pool takes the first permit. So a pool of one thread runs
/// every loop inline. Any thread may call the pool. Calls may be concurrent or nested. If the first permit is
/// taken, the call runs with the permit of a sleeping worker, or waits in the pool's queue, first come, first
/// served.
///
/// The pool starts another thread when it has jobs of its own, such as spawned jobs, while no thread calls. It also
/// starts one when a thread of the pool waits inside a job for longer than 60 us while other jobs are pending: the new
/// thread takes over the permit. Additional threads sleep when they are not needed. While loops of few iterations run,
/// a thread that runs no jobs checks every 2 ms that the callers of these loops make progress.
///
/// Dropping the pool ends and joins all its threads. If the pool is dropped by one of its jobs, or by a call that such
/// a job makes, the drop waits for nothing. But the pool does not recognise a thread of another pool that runs only a
/// part of such a call, such as a half of a `join` or an iteration of a loop. If the job waits for that part, and the
/// part drops this pool, both wait for ever. Use [`dismiss`](Self::dismiss) there.
///
/// In a child of `fork` the workers do not exist. In the child, each call to a pool that the parent has built panics
/// at once, and dropping such a pool does nothing. Build a new pool there. The [global pool](Pool::global) renews
/// itself. A thread that forks within a call, such as in a loop's body, may go on alone in the child. If it must wait
/// for other threads, the child prints a line that says so, and aborts.
///
/// Idle workers spin for a moment, then sleep. After 100 ms without loops they cost nothing.
///
/// A pool may [follow](Builder::follow) an [`Allotment`](manycore_cores::elastic::Allotment) of cores. The
/// pool's number of threads is then an upper bound: only as many threads run as the allotment allows.
///
/// ```
/// use manycore::Pool;
/// use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
///
/// let pool = Pool::builder().threads(2).build()?;
/// let sum = AtomicUsize::new(0);
/// pool.parallel_for(0..1_000, |i| {
///     sum.fetch_add(i, Relaxed);
/// });
/// assert_eq!(sum.into_inner(), 499_500);
/// # Ok::<(), manycore::BuildError>(())
/// ```
pub struct Pool<P: Platform = Native> {
    registry: Arc<Registry<P>>,
}

impl Pool<Native> {
    /// Starts to describe a pool.
    ///
    /// ```
    /// let pool = manycore::Pool::builder().threads(1).build()?;
    /// assert_eq!(pool.threads(), 1);
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    pub fn builder() -> Builder<Native> {
        Builder::new()
    }
}

impl<P: Platform> Pool<P> {
    /// The number of threads that run a loop, including its caller.
    ///
    /// ```
    /// let pool = manycore::Pool::builder().threads(3).build()?;
    /// assert_eq!(pool.threads(), 3);
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    pub fn threads(&self) -> usize {
        self.registry.shared().threads()
    }

    /// How the pool ran its loops and why, by call site, the most frequent first. The list is empty unless the
    /// pool was [built to explain](Builder::explain). Loops with a [`Partitioner`](crate::Partitioner) other
    /// than the default are always shared among threads, and are not listed.
    ///
    /// ```
    /// use manycore::Reason;
    ///
    /// let pool = manycore::Pool::builder().threads(2).explain(true).build()?;
    /// for _ in 0..10 {
    ///     pool.parallel_for(0..8, |_| ());
    /// }
    /// let decisions = pool.decisions();
    /// assert_eq!(decisions[0].reason, Reason::Short);
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    pub fn decisions(&self) -> Vec<crate::Decision> {
        let explained = self.registry.shared().explained();
        explained.map_or_else(Vec::new, |explained| explained.decisions())
    }

    /// Ends the pool without waiting for it. The pool's threads run the pending jobs and end.
    ///
    /// Dropping a pool, in contrast, waits until its threads have ended. If the pool has
    /// [adopted](Builder::adopt_current_thread) a thread, the other threads run the jobs of the adopted thread.
    ///
    /// ```
    /// let pool = manycore::Pool::builder().threads(2).build()?;
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// pool.spawn(move || sender.send(1).unwrap());
    /// pool.dismiss();
    /// assert_eq!(receiver.recv(), Ok(1));
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    pub fn dismiss(self) {
        // This value is never dropped. The code below does what `drop` does, except the waiting.
        let pool = ManuallyDrop::new(self);
        // SAFETY: the registry is read once, and `pool` is not used again.
        let registry = unsafe { std::ptr::read(&pool.registry) };
        if registry.shared().is_forked() {
            // The registry is leaked, for the same reason as in `drop`.
            std::mem::forget(registry);
        } else {
            registry.terminate(registry.is_adopted());
        }
    }

    /// Ends the pool's threads, and waits until they have ended. The pool stays usable: the next call in which
    /// other threads could take part starts the threads again. This is for the time before a `fork`, before the
    /// library is unloaded, or before threads and memory are counted.
    ///
    /// This function waits for a moment at which nothing runs in the pool and no thread is in a call. It stops no
    /// call. If another thread calls meanwhile, the pool's threads serve this call before they end, or the call waits
    /// for their end and starts the threads again. So if other threads use the pool, it may have threads when this
    /// returns.
    ///
    /// Returns `false` if it has ended no thread, for one of three reasons. The current thread is in a call or a job of
    /// the pool. It is a thread of the pool that drops its thread-locals. Or the pool could not start its threads
    /// again, because it has adopted a thread or was built on threads of its user.
    ///
    /// This function waits for ever if a job of the pool waits until this function returns, and the pool does not
    /// recognise the calling thread: a thread of another pool that runs only a part of the job's call, such as a half
    /// of a `join`, or a thread that the job has made.
    ///
    /// Thread-locals of the pool's threads are dropped meanwhile. Their destructors may use the pool. If they spawn
    /// jobs, the threads are started again.
    ///
    /// ```
    /// let pool = manycore::Pool::builder().threads(2).build()?;
    /// assert_eq!(pool.join(|| 1, || 2), (1, 2));
    /// assert!(pool.end_threads()); // here the process has none of the pool's
    /// assert_eq!(pool.join(|| 3, || 4), (3, 4));
    /// assert!(!pool.install(|| pool.end_threads()));
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    #[must_use = "the threads may be there still"]
    pub fn end_threads(&self) -> bool {
        self.registry.end_threads()
    }

    pub(crate) fn registry(&self) -> &Registry<P> {
        &self.registry
    }

    /// Drops the pool.
    #[inline(never)]
    fn end(&self) {
        let registry = &*self.registry;
        if registry.shared().is_forked() {
            // The pool's threads are in the parent, so there is no thread to join. At the fork, each of them may have
            // been using the memory that would be freed, so the pool is leaked.
            std::mem::forget(Arc::clone(&self.registry));
            return;
        }
        let me = Context::worker_below(registry);
        let is_inside = me.is_some() || Call::is_inside(registry) || registry.is_ending_thread();
        // A thread of the pool cannot wait for its own end, and a job cannot wait for the end of its thread. But the
        // adopted thread can wait. It works until all jobs are done, since some jobs are for this thread only.
        let helper = me.filter(|me| registry.is_adopted() && me.id() == 0 && !me.is_detached());
        registry.terminate(registry.is_adopted() && helper.is_none());
        let join_all = || registry.join_threads();
        if let Some(adopted) = helper {
            // This thread's newest call may be in another pool. `be` makes the thread the adopted worker again.
            Registry::be(adopted, |adopted| {
                adopted.work();
                Context::leave_others(registry.shared());
                join_all();
            });
        } else if is_inside {
            // The pool's threads end by themselves, after this call.
        } else if Context::<P>::is_taken() {
            // The last jobs of these threads may call a pool in which this thread is a worker.
            Context::<P>::without_permits(join_all);
        } else {
            join_all();
        }
    }
}

impl<P: Platform> Drop for Pool<P> {
    fn drop(&mut self) {
        self.end();
    }
}

impl<P: Platform> std::fmt::Debug for Pool<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool")
            .field("threads", &self.threads())
            .finish_non_exhaustive()
    }
}
