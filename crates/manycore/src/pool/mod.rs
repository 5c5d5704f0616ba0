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
mod error;
mod fork;
mod gate;
mod global;
mod halves;
mod join;
mod leapfrog;
mod mailbox;
mod places;
mod queue;
mod roster;
mod scope;
mod search;
mod seat;
mod spawn;
mod told;
mod wait;
mod without_place;
mod worker;
mod yields;

pub(crate) use anywhere::shared_here;
pub use anywhere::{
    broadcast, current_num_threads, current_thread_has_pending_tasks, current_thread_index,
    in_place_scope, in_place_scope_fifo, join, join_context, scope, scope_fifo, spawn,
    spawn_broadcast, spawn_fifo, yield_local, yield_now,
};
pub(crate) use board::{Job, Part};
pub use broadcast::BroadcastContext;
pub use builder::Builder;
pub(crate) use builder::Cores;
pub use error::BuildError;
#[cfg(test)]
pub(crate) use gate::Gate;
pub use join::FnContext;
pub use scope::{Scope, ScopeFifo};
pub(crate) use wait::Waited;
pub(crate) use worker::Context;
pub use yields::Yield;

use crate::elastic::Allotment;
use crate::loops::{self, Body, Loop, Partitioner, Sites};
use crate::sleep::policy::Alarm;
use crate::sleep::{Idle, Nearest, Sleep};
use crate::sync::Lock;
use board::Board;
use crew::Crew;
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Native, Ordering, Platform};
use seat::{Seat, Seated};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// A fixed number of threads that run parallel loops and jobs together with their
/// callers.
///
/// A pool of `n` threads runs jobs on `n` threads at most, and starts `n - 1`: the thread
/// that calls is the other one, so a pool of one thread runs every loop inline. Calls may
/// come from any thread, from several at once and from inside of each other. If a caller
/// finds the caller's place taken, its call goes to the pool's queue, first come, first
/// served.
///
/// The pool starts another thread when it has jobs of its own while nobody calls, such as
/// spawned ones, and when one of its threads waits inside of a job for longer than 60 us
/// while others' jobs lie there: the new thread works in that one's place. Such threads
/// sleep when they are not needed. Dropping the pool ends and joins all of them.
///
/// In a child of `fork` the workers do not exist. There each call of a pool of the
/// parent's panics at once, and dropping it does nothing: build a new one. The
/// [global pool](Pool::global) is a new one by itself. A thread that forks in the midst of
/// a call, say in a loop's body, may go on in the child as far as it comes by itself; if it
/// must wait for others, the child is aborted, with a line that says so.
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
}

/// How long a caller from outside spins for a call that others run, before it sleeps.
const TOLD_SPIN: Duration = Duration::from_micros(10);

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
    /// The way in for threads from outside.
    pub(crate) seat: Seat<P>,
    seated: Seated<P>,
    members: MembersOf<P>,
    /// How long a thread waits in its place beside others' jobs, and how long one that
    /// is no worker spins, in ticks.
    pub(crate) patience: u64,
    told_spin: u64,
    pub(crate) sites: Sites<P>,
    /// Per rank, each on a line of its own that only its worker writes.
    ranks: Box<[CachePadded<Rank<P>>]>,
    terminating: P::AtomicBool,
    /// What the pool follows, if anything.
    allotment: Option<Allotment<P>>,
    /// `P::forks()` of the process that the pool's threads are in.
    generation: u32,
}

/// What is known of a place's holder as far as loops go.
struct Rank<P: Platform> {
    /// Whether the worker is in a loop: read by nested loops, which ask
    /// whether anybody could help.
    busy: P::AtomicBool,
    /// Where the frame of the last loop was: most likely where the next is.
    last_frame: P::AtomicPtr<()>,
    /// How many loops the place is barred from, and their slots.
    bars: P::AtomicU32,
    barred: Lock<P, Vec<usize>>,
}

/// The crew that a pool's shared part is in, by what is done the same whatever its
/// sleep policy.
pub(crate) trait Members<P: Platform> {
    /// Runs `body` over `range`, halved by `join`.
    fn split(&self, body: Body<'_>, range: Range<usize>);

    /// Has another thread run `op`, once, and waits for it.
    fn run_inside(&self, op: &mut (dyn FnMut() + '_));

    /// Gets up from the seat, of which somebody else wants something.
    fn get_up_slowly(&self);

    /// Finds a thread for the vacant seat.
    fn fill_seat(&self);

    /// Wakes worker `caller`, whose helpers have left.
    fn tell_caller(&self, caller: usize);
}

/// The crew around a [`Shared`].
struct MembersOf<P: Platform>(*const dyn Members<P>);

// SAFETY: a reference to the crew, which is `Sync` as it stands.
unsafe impl<P: Platform> Send for MembersOf<P> {}
// SAFETY: as above.
unsafe impl<P: Platform> Sync for MembersOf<P> {}

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
        self.seat.name();
        P::name(&*self.ranks, "pool: ranks");
    }

    fn new(
        threads: usize,
        cores: Cores,
        idle: Arc<Idle<P>>,
        alarm: Arc<dyn Alarm<P>>,
        members: *const dyn Members<P>,
        allotment: Option<Allotment<P>>,
    ) -> Self {
        let oversubscribed = is_oversubscribed(threads, cores, allotment.as_ref());
        // Where threads wait for a core, they are late for no other reason.
        let (patience, told_spin) = if oversubscribed {
            (50 * places::PATIENCE, Duration::ZERO)
        } else {
            (places::PATIENCE, TOLD_SPIN)
        };
        Self {
            threads,
            core_groups: cores.groups,
            oversubscribed,
            ticks_per_ns: P::ticks_per_ns() as f32,
            claim_ticks: loops::measure_claim::<P>(),
            // One for each thread, as many again for loops nested in loops,
            // and some for visitors. A caller that finds none runs its loop alone, when
            // that many loops are open already.
            board: Board::new(2 * threads + 8),
            idle,
            alarm,
            seat: Seat::new(),
            seated: Seated::new(),
            members: MembersOf(members),
            patience: P::duration_to_ticks(patience),
            told_spin: P::duration_to_ticks(told_spin),
            sites: Sites::new(),
            ranks: (0..threads)
                .map(|_| CachePadded::new(Rank::new()))
                .collect(),
            terminating: P::AtomicBool::new(false),
            allotment,
            generation: P::forks(),
        }
    }

    /// The crew that this is in.
    pub(crate) fn members(&self) -> &dyn Members<P> {
        // SAFETY: the crew holds this.
        unsafe { &*self.members.0 }
    }

    /// Whether this process is a child of `fork`, and the pool's threads are in its
    /// parent. One relaxed load natively: no thread sees it change.
    #[inline]
    fn is_forked(&self) -> bool {
        self.generation != P::forks()
    }

    /// To be called where a thread comes in that is not at work for the pool.
    ///
    /// # Panics
    ///
    /// If the pool's threads are in the parent of this process.
    #[inline]
    fn check_fork(&self) {
        if self.is_forked() {
            refuse_forked();
        }
    }

    /// To be called where a thread that is at work for the pool found that it must wait
    /// for others. In a child of `fork` it was in the midst of a call when its process
    /// was made, and there are no others: what it waits for never comes. No panic: the
    /// frames that it would pass are lent to the others.
    #[inline]
    fn check_wait(&self) {
        if self.is_forked() {
            abort_forked();
        }
    }

    /// Wakes up to `count` workers for a loop, and times how long one takes.
    pub(crate) fn wake(&self, rank: usize, count: u32) {
        self.idle.waking();
        self.alarm.wake_any(rank, count);
    }

    /// Keeps the holder of `place` out of the loop in `slot`, in which another thread
    /// takes part with that number.
    fn bar(&self, place: usize, slot: usize) {
        let rank = &self.ranks[place];
        rank.barred.with(|slots| slots.push(slot));
        // Relaxed: handed over with the place.
        rank.bars.fetch_add(1, Ordering::Relaxed);
    }

    fn unbar(&self, place: usize, slot: usize) {
        let rank = &self.ranks[place];
        rank.barred.with(|slots| {
            let index = slots.iter().rposition(|&barred| barred == slot);
            slots.swap_remove(index.expect("barred by this thread"));
        });
        // Release: who comes in with the number now comes after all that this thread
        // did with it.
        rank.bars.fetch_sub(1, Ordering::Release);
    }

    /// Whether the holder of `place` must not help in `slot`. Cost: one load of a line
    /// that is the holder's own.
    #[inline]
    fn is_barred(&self, place: usize, slot: usize) -> bool {
        let rank = &self.ranks[place];
        // Acquire pairs with `unbar`.
        rank.bars.load(Ordering::Acquire) != 0 && rank.barred.with(|slots| slots.contains(&slot))
    }

    /// Whether a loop invites whoever has `place`.
    fn invites_rank(&self, place: usize) -> bool {
        self.board
            .inviting(0)
            .any(|slot| !self.is_barred(place, slot))
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
        self.ranks
            .iter()
            .any(|rank| !rank.busy.load(Ordering::Relaxed))
    }
}

#[cold]
#[inline(never)]
fn refuse_forked() -> ! {
    panic!("this pool's threads did not survive fork(): build a new pool in the child");
}

#[cold]
#[inline(never)]
fn abort_forked() -> ! {
    eprintln!(
        "manycore: fork() was called inside a pool, and the child waits for its threads, which \
         did not survive; aborting"
    );
    std::process::abort();
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
            bars: P::AtomicU32::new(0),
            barred: Lock::new(Vec::new()),
        }
    }
}

impl<P: Platform, S: Sleep<P>> Drop for Pool<P, S> {
    fn drop(&mut self) {
        let crew = &*self.crew;
        if crew.shared.is_forked() {
            // Its threads are the parent's: there is nobody to join, and any of them may
            // have been in the midst of whatever would be torn down. Leaked.
            std::mem::forget(Arc::clone(&self.crew));
            return;
        }
        let me = Context::worker_below(crew);
        // One of the pool's threads cannot wait for itself, nor a job. But the
        // adopted thread can: it works until all jobs are done, of which some may
        // be for it alone.
        let helper =
            me.filter(|me| crew.adopted && me.known.id == 0 && me.state.detached.get() == 0);
        crew.terminate(crew.adopted && helper.is_none());
        match helper {
            Some(adopted) => adopted.work(),
            None if me.is_some() => return,
            None => {}
        }
        // The last may have been started while others were joined.
        let join_all = || {
            while let Some(thread) = crew.threads.with(Vec::pop) {
                P::join(thread);
            }
        };
        if Context::<P>::is_taken() && helper.is_none() {
            // Their last jobs may call a pool of which this thread is a worker.
            Context::<P>::without_places(join_all);
        } else {
            join_all();
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
