//! The pool: its workers, the board on which loops are posted, and how a
//! thread waits for its own loop while helping inside it.

mod anywhere;
mod aside;
mod board;
mod broadcast;
mod builder;
#[cfg(test)]
mod checked;
mod crew;
mod fork;
mod gate;
mod halves;
mod join;
mod leapfrog;
pub(crate) mod lock;
mod mailbox;
mod queue;
mod scope;
mod search;
mod seat;
mod spawn;
mod wait;
mod worker;
mod yields;

pub use anywhere::{
    broadcast, current_thread_has_pending_tasks, current_thread_index, in_place_scope,
    in_place_scope_fifo, join, join_context, scope, scope_fifo, spawn, spawn_broadcast, spawn_fifo,
    yield_local, yield_now,
};
pub(crate) use board::{Job, Part};
pub use broadcast::BroadcastContext;
pub(crate) use builder::Cores;
pub use builder::{BuildError, Builder};
#[cfg(test)]
pub(crate) use gate::Gate;
pub use join::FnContext;
pub use scope::{Scope, ScopeFifo};
pub(crate) use wait::Waited;
pub(crate) use worker::Context;
pub use yields::Yield;

use crate::elastic::Allotment;
use crate::loops::{self, Loop, Partitioner, Sites, Splits};
use crate::sleep::policy::Alarm;
use crate::sleep::{Idle, Nearest, Sleep};
use board::Board;
use crew::Crew;
use manycore_platform::{Atomic, CachePadded, Native, Ordering, Platform};
use std::sync::{Arc, OnceLock, Weak};

/// A fixed number of threads that run parallel loops together with whoever
/// calls them.
///
/// A pool of `n` threads has `n - 1` workers: the thread that calls a loop is
/// the other one, so a pool of one thread has none and runs every loop inline.
/// Loops may be called from any thread, from several at once and from inside
/// the body of another loop. Dropping the pool ends and joins its workers.
///
/// Idle workers spin for a moment, then sleep; after 100 ms without loops they
/// cost nothing.
///
/// A pool may [follow](Builder::follow) an [`Allotment`](crate::elastic::Allotment) of
/// cores: its threads are then the most there will ever be, and as many of them run as
/// are allowed now.
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
pub struct Pool<P: Platform = Native, S: Sleep<P> = Nearest<P>> {
    crew: Arc<Crew<P, S>>,
    threads: Vec<P::Thread>,
}

/// What the workers and the callers of a pool share.
pub(crate) struct Shared<P: Platform> {
    pub(crate) threads: usize,
    pub(crate) core_groups: usize,
    /// More threads than cores: a thread that spins may be keeping the one it
    /// waits for from running.
    pub(crate) oversubscribed: bool,
    /// The platform's clock rate.
    pub(crate) ticks_per_ns: f32,
    /// What a claim from an own range costs here, in ticks.
    pub(crate) claim_ticks: u64,
    pub(crate) board: Board<P>,
    pub(crate) idle: Arc<Idle<P>>,
    /// The sleep policy, by what loops need of it.
    pub(crate) alarm: Arc<dyn Alarm<P>>,
    /// The crew, by what the partitioner `split` needs of it.
    pub(crate) crew: Weak<dyn Splits<P>>,
    pub(crate) sites: Sites<P>,
    /// Per rank, each on a line of its own that only its worker writes.
    ranks: Box<[CachePadded<Rank<P>>]>,
    terminating: P::AtomicBool,
    /// What the pool follows, if anything.
    allotment: Option<Allotment<P>>,
}

struct Rank<P: Platform> {
    /// Whether the worker is in a loop: read by nested loops, which ask
    /// whether anybody could help.
    busy: P::AtomicBool,
    /// Where the frame of the last loop was: most likely where the next is.
    last_frame: P::AtomicPtr<()>,
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

    /// The pool that the crate's free functions use, made at the first call
    /// with a thread for each core that this process may use.
    ///
    /// # Panics
    ///
    /// If the operating system refuses even the first thread.
    ///
    /// ```
    /// assert!(manycore::Pool::global().threads() >= 1);
    /// ```
    pub fn global() -> &'static Self {
        static GLOBAL: OnceLock<Pool> = OnceLock::new();
        GLOBAL.get_or_init(|| match Self::builder().name("manycore-global").build() {
            Ok(pool) => pool,
            // A process at its thread limit still computes.
            Err(BuildError::Spawn { .. }) => Self::builder()
                .threads(1)
                .build()
                .expect("a pool of one thread starts none"),
            Err(error) => panic!("the global pool: {error}"),
        })
    }
}

impl<P: Platform, S: Sleep<P>> Pool<P, S> {
    /// The threads that run a loop, its caller counted.
    ///
    /// ```
    /// let pool = manycore::Pool::builder().threads(3).build()?;
    /// assert_eq!(pool.threads(), 3);
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    pub fn threads(&self) -> usize {
        self.crew.shared.threads
    }

    /// The pool's loops with `partitioner` in place of
    /// [`Partitioner::Adaptive`].
    ///
    /// ```
    /// use manycore::{Partitioner, Pool};
    /// use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    ///
    /// let pool = Pool::builder().threads(2).build()?;
    /// let calls = AtomicUsize::new(0);
    /// pool.with(Partitioner::Static).parallel_for(0..100, |_| {
    ///     calls.fetch_add(1, Relaxed);
    /// });
    /// assert_eq!(calls.into_inner(), 100);
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    pub fn with(&self, partitioner: Partitioner) -> Loop<'_, P> {
        Loop::new(&self.crew.shared, partitioner)
    }
}

impl<P: Platform> Shared<P> {
    /// Names what threads wait on and fight over, where they are to stay.
    fn name(&self) {
        self.board.name();
        self.idle.events.name();
        P::name(&*self.ranks, "pool: ranks");
    }

    fn new(
        threads: usize,
        cores: Cores,
        idle: Arc<Idle<P>>,
        alarm: Arc<dyn Alarm<P>>,
        crew: Weak<dyn Splits<P>>,
        allotment: Option<Allotment<P>>,
    ) -> Self {
        let oversubscribed = is_oversubscribed(threads, cores, allotment.as_ref());
        Self {
            threads,
            core_groups: cores.groups,
            oversubscribed,
            ticks_per_ns: P::ticks_per_ns() as f32,
            claim_ticks: loops::measure_claim::<P>(),
            // One for each thread, as many again for loops nested in loops,
            // and some for visitors. Who finds none runs its loop alone, when
            // that many loops are open already.
            board: Board::new(2 * threads + 8),
            idle,
            alarm,
            crew,
            sites: Sites::new(),
            ranks: (0..threads)
                .map(|_| CachePadded::new(Rank::new()))
                .collect(),
            terminating: P::AtomicBool::new(false),
            allotment,
        }
    }

    /// Wakes up to `count` workers for a loop, and times how long one takes.
    pub(crate) fn wake(&self, rank: usize, count: u32) {
        self.idle.waking();
        self.alarm.wake_any(rank, count);
    }

    /// Acquire pairs with the release in `terminate`.
    fn is_terminating(&self) -> bool {
        self.terminating.load(Ordering::Acquire)
    }

    /// Says whether worker `rank` is at work.
    ///
    /// Relaxed: a hint, and no other memory is read on its strength. Looking first
    /// spares the line, which is written by this worker only.
    fn set_busy(&self, rank: usize, busy: bool) {
        let word = &self.ranks[rank].busy;
        if word.load(Ordering::Relaxed) != busy {
            word.store(busy, Ordering::Relaxed);
        }
    }

    /// Whether some worker is waiting for work, as a hint.
    pub(crate) fn anyone_idle(&self) -> bool {
        self.ranks[1..]
            .iter()
            .any(|rank| !rank.busy.load(Ordering::Relaxed))
    }
}

/// Whether more threads may run at once than there are cores for them. Not in a pool
/// that follows an allotment: that is what it follows it for.
fn is_oversubscribed<P: Platform>(
    threads: usize,
    cores: Cores,
    allotment: Option<&Allotment<P>>,
) -> bool {
    allotment.is_none() && threads > cores.cores
}

impl<P: Platform> Rank<P> {
    fn new() -> Self {
        Self {
            busy: P::AtomicBool::new(true),
            last_frame: P::AtomicPtr::new(std::ptr::null_mut()),
        }
    }
}

impl<P: Platform, S: Sleep<P>> Drop for Pool<P, S> {
    fn drop(&mut self) {
        let crew = &*self.crew;
        let me = Context::worker_below(crew);
        // One of the pool's threads cannot wait for itself, nor a job. But the
        // adopted thread can: it works until all jobs are done, of which some may
        // be for it alone.
        let helper =
            me.filter(|me| crew.adopted && me.known.index == 0 && me.state.detached.get() == 0);
        crew.terminate(crew.adopted && helper.is_none());
        match helper {
            Some(adopted) => adopted.work(),
            None if me.is_some() => return,
            None => {}
        }
        self.threads.drain(..).for_each(P::join);
        // Last: the other workers' last jobs may have been what it was started for.
        if let Some(own) = self.crew.seat.own.with(Option::take) {
            P::join(own);
        }
    }
}

impl<P: Platform, S: Sleep<P>> std::fmt::Debug for Pool<P, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool")
            .field("threads", &self.threads())
            .finish_non_exhaustive()
    }
}
