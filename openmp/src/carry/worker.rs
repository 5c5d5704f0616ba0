//! Workers: kernel threads that execute ranks (the threads of a team), one worker for each core.

use super::alarm::Alarm;
use super::division::Part;
use super::mask::{CHANGES, Mask};
use super::rank::Rank;
use super::registry::{self, ranks};
use super::{costs, home, kernel_threads, pending, switch, thread_state};
use crate::environment::cores::{await_core, cores};
use crate::system::masks::{ALL, block_all, set_mask};
use crate::system::shared_core;
use crate::words::bell::WORKERS;
use crate::words::spin::{NextLook, is_wanted};
use manycore_platform::{Native, Platform};
use std::cell::{Cell, UnsafeCell};
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicPtr, AtomicU64};
use std::time::Duration;

/// How long a worker without a rank leaves the ranks of other workers alone.
const POLITENESS: Duration = Duration::from_micros(1);
/// How long a worker without a rank stays awake.
const PATIENCE: Duration = Duration::from_micros(200);

/// A kernel thread's state between ranks. A rank leaves by itself, or is *cut* by the signal of the worker's alarm. An
/// *episode* is the time from one barrier to the next. A worker's *part* is the ranks that
/// [`division`](super::division) plans for it.
pub(super) struct Worker {
    pub(super) index: usize,
    pub(super) stack: UnsafeCell<usize>,
    pub(super) thread_pointer: usize,
    /// How often the worker has changed ranks.
    pub(super) switches: AtomicU64,
    /// The rank that the worker executes. The worker and its signal handler write this.
    pub(super) current: AtomicPtr<Rank>,
    pub(super) alarm: Alarm,
    /// The processor flags of the last rank ([`switch::flags`]).
    flags: Cell<u32>,
    /// The signals that this kernel thread has blocked.
    pub(super) mask: Mask<Native>,
    /// The episode that the worker is in, and the worker's part of that episode.
    episode: Cell<u64>,
    part: Cell<Part>,
    /// The index, in the part, of the rank that was cut here as planned. Another worker continues that rank.
    left: Cell<Option<usize>>,
    /// The state of the first rank of the part, if that rank is to be cut.
    first: Cell<First>,
    /// Set if the last rank was cut without a plan, or lets other ranks run first.
    stalled: Cell<bool>,
    /// The index of the rank that `take_any` looks at first.
    cursor: Cell<usize>,
    /// The rank that the worker executes next. The worker took it before its last rank left.
    next: Cell<Option<&'static Rank>>,
    /// The signals that the worker's last rank had blocked.
    last: Cell<u64>,
    /// How often ranks here have left for others since the worker last yielded its core to other threads.
    yields: Cell<usize>,
}

// SAFETY: only the worker's kernel thread touches the fields that are not `Sync`: `flags`, `episode`, `part`, `left`,
// `first`, `stalled`, `cursor`, `next`, `last`, `yields`, `stack` (which `enter` writes and `leave` reads), and the
// cells of `mask` and of `alarm`. Signal handlers of the same kernel thread touch these cells too. Worker 0 runs on the
// leader's kernel thread. In `claim` the next leader acquires what the last leader has released. At that time no thread
// executes worker 0. All other threads read `index`, `thread_pointer`, and atomics.
unsafe impl Sync for Worker {}

/// The state of the rank that a worker runs first, until the rank is cut.
#[derive(Clone, Copy, PartialEq)]
enum First {
    /// The rank may not have left another worker yet.
    Awaited,
    Begun,
    /// Other ranks ran before it, so that a cut would gain nothing.
    Late,
}

/// A rank that was taken. If it is to be cut, also the number of ticks after which.
struct Taken(&'static Rank, Option<u64>);

/// The first tick at which a rank may continue without a ring of the bell [`WORKERS`].
fn next_poll() -> u64 {
    ranks()
        .map(|rank| rank.polled.time())
        .min()
        .unwrap_or(u64::MAX)
}

/// Whether a rank may continue now without a ring of [`WORKERS`].
fn is_any_polled() -> bool {
    next_poll() <= Native::now()
}

impl Worker {
    pub(super) fn new(index: usize) -> Self {
        Self {
            index,
            stack: UnsafeCell::new(0),
            thread_pointer: switch::thread_pointer(),
            switches: AtomicU64::new(0),
            current: AtomicPtr::new(ptr::null_mut()),
            alarm: Alarm::new(),
            flags: Cell::new(switch::flags()),
            mask: Mask::new(ALL),
            episode: Cell::new(0),
            part: Cell::new(Part::default()),
            left: Cell::new(None),
            first: Cell::new(First::Awaited),
            stalled: Cell::new(false),
            cursor: Cell::new(0),
            next: Cell::new(None),
            last: Cell::new(ALL),
            yields: Cell::new(0),
        }
    }

    /// The worker's address, which its alarm's signals carry.
    pub(super) fn address(&self) -> *const c_void {
        ptr::from_ref(self).cast()
    }

    /// Whether this worker has lost its core. Worker 0 always has one.
    pub(super) fn is_revoked(&self) -> bool {
        self.index != 0 && self.index >= cores()
    }

    /// Takes the rank, if it can continue.
    fn try_take(&self, rank: &'static Rank) -> bool {
        let may = || self.index == 0 || !rank.pinned.load(Relaxed);
        rank.word.take(&WORKERS, may, || rank.goes_on())
    }

    /// The rank at a place of this worker's part.
    fn planned(part: &Part, at: usize) -> Option<&'static Rank> {
        registry::member(part.member(at)?)
    }

    /// Takes the next rank of this worker's part, except the rank that was cut here as planned. The part's first rank
    /// may have opened the episode on another worker, and may be about to leave that worker. So this worker waits for
    /// the first rank, unless it `may_skip` that rank.
    fn take_own(&self, may_skip: bool) -> Option<Taken> {
        let (part, left) = (self.part.get(), self.left.get());
        for at in (0..part.len()).filter(|&at| left != Some(at)) {
            let is_first = at == 0 && part.budget > 0;
            let Some(rank) = Self::planned(&part, at).filter(|rank| self.try_take(rank)) else {
                if is_first && self.first.get() == First::Awaited && !may_skip {
                    return None;
                }
                continue;
            };
            let first = match self.first.get() {
                First::Awaited if is_first => First::Begun,
                First::Awaited => First::Late,
                known => known,
            };
            self.first.set(first);
            let planned = is_first && first == First::Begun;
            let rest = || part.budget.saturating_sub(rank.used.get());
            return Some(Taken(rank, planned.then(rest)));
        }
        None
    }

    /// Takes a rank by the plan. If ranks have turns of limited length, or if the worker has `stalled`, takes the next
    /// of all ranks instead. In these cases ranks may wait for any other rank, even for a rank that has not begun.
    fn take(&self, may_help: bool) -> Option<Taken> {
        let quantum = self.part.get().quantum();
        let any = || self.take_any().map(|rank| Taken(rank, quantum));
        if quantum.is_some() || self.stalled.take() {
            return any();
        }
        self.take_own(may_help)
            .or_else(|| may_help.then(any).flatten())
    }

    /// Takes any rank that can continue.
    pub(super) fn take_any(&self) -> Option<&'static Rank> {
        let count = registry::rank_count();
        let first = self.cursor.get();
        let found = ranks()
            .enumerate()
            .skip(first)
            .chain(ranks().enumerate().take(first))
            .find(|&(_, rank)| self.try_take(rank));
        found.map(|(at, rank)| {
            self.cursor.set((at + 1) % count.max(1));
            rank
        })
    }

    /// Called by the rank that this worker executes. If another rank can continue, and if the calling rank may leave,
    /// the caller leaves its worker to the other rank. Returns whether it did. If no rank waits, this makes no system
    /// call.
    pub(super) fn pass(&self, rank: &Rank) -> bool {
        if self.next.get().is_none() && !ranks().any(|other| other.word.is_waiting()) {
            return false;
        }
        // A rank would be lost if a handler jumped out of this function after the function has taken the rank. Once
        // the rank is in `next`, such a jump does no harm: the rank stays there until the worker's rank leaves.
        let mask = block_all();
        let next = match self.next.get() {
            None if rank.state.is_noted(mask) => self.take_any(),
            known => known,
        };
        self.next.set(next);
        set_mask(mask);
        if next.is_none() || !rank.state.is_noted(mask) {
            // While this look owned a rank, another worker may have missed that rank.
            WORKERS.ring();
            return false;
        }
        rank.wait_once(None);
        true
    }

    /// The rank that this worker executes is about to leave, and can continue soon. Makes the worker take another rank
    /// first: the next of all ranks. If the worker looked at its own part first, it would execute the same few ranks
    /// repeatedly.
    pub(super) fn let_others_first(&self) {
        self.stalled.set(true);
    }

    /// Counts that a rank on this worker has left for another rank. Returns whether this has happened `round` times.
    pub(super) fn count_yield(&self, round: usize) -> bool {
        let yields = self.yields.get() + 1;
        let is_last = yields >= round;
        self.yields.set(if is_last { 0 } else { yields });
        is_last
    }

    /// Executes the rank until it leaves. Returns the time at which it left. While the team's ranks run at their
    /// [homes](super::home), makes the rank continue at its home instead. Only the leader's rank then runs on worker 0,
    /// which is its own kernel thread.
    pub(super) fn run(&'static self, rank: &'static Rank, budget: Option<u64>) -> u64 {
        if self.index < home::FIRST
            && registry::division().is_some_and(|it| it.is_at_home())
            && !(self.index == 0 && registry::lead().is_some_and(|lead| ptr::eq(lead.rank, rank)))
            && let Some(home) = rank.home()
        {
            self.switches.fetch_add(1, Relaxed);
            home.call();
            return Native::now();
        }
        let is_summoned = self.index >= home::FIRST && rank.is_summoned();
        self.execute(rank, budget, is_summoned);
        self.has_left(rank)
    }

    /// Executes the rank until it leaves. This worker still owns the rank then. If the rank `is_summoned` by a signal,
    /// the rank sets its signal mask itself, on its own stack.
    #[inline]
    fn execute(&'static self, rank: &'static Rank, budget: Option<u64>, is_summoned: bool) {
        self.switches.fetch_add(1, Relaxed);
        rank.set_worker(self);
        let now = Native::now();
        rank.since.store(now, Relaxed);
        self.current.store(ptr::from_ref(rank).cast_mut(), Relaxed);
        if !is_summoned {
            rank.state.put_on(&self.mask);
        }
        self.mask.runs();
        self.alarm.begin(self.address(), self.mask.get());
        if let Some(budget) = budget {
            let took = self.alarm.set(self.address(), now, budget);
            rank.lost.set(rank.lost.get() + took);
        }
        // SAFETY: this worker alone owns the rank, and the rank's stack was saved.
        let flags = unsafe {
            switch::enter(
                self.stack.get(),
                *rank.stack.get(),
                rank.thread_pointer.get(),
                self.flags.get(),
            )
        };
        self.flags.set(flags);
    }

    /// Lets go of a rank that has left. Returns the time.
    fn has_left(&self, rank: &Rank) -> u64 {
        self.current.store(ptr::null_mut(), Relaxed);
        let was_preempted = self.alarm.rank_has_left();
        rank.was_preempted.set(was_preempted);
        if was_preempted {
            // Sets the mask that the signal's frame has, which does not block the alarm's signal.
            self.mask.set(rank.state.mask());
            set_mask(self.mask.get());
        }
        self.last.set(rank.state.mask());
        // The state must be taken off before another worker may take the rank.
        rank.state.take_off(&self.mask, was_preempted);
        self.mask.looks();
        if self.index >= home::FIRST {
            // While another worker owns the rank, no signal handler of the program may run here with the rank's
            // thread-locals.
            thread_state::rest(&self.mask);
        }
        let now = Native::now();
        rank.runs_until(now);
        if was_preempted {
            rank.lost.set(rank.lost.get() + costs::LATE.ticks());
            let part = self.part.get();
            let first = (part.budget > 0).then(|| Self::planned(&part, 0)).flatten();
            let as_planned = first.is_some_and(|first| ptr::eq(first, rank));
            self.left.set(as_planned.then_some(0));
            self.stalled.set(!as_planned);
        }
        let goes_home = rank.goes_home.take();
        match rank.home().filter(|_| goes_home) {
            // The rank stays taken, for its home.
            Some(home) => home.call(),
            None => rank.word.leave(&WORKERS),
        }
        now
    }

    /// Returns whether another episode has begun, and notes this worker's part of it.
    fn look_at_episode(&self) -> bool {
        let found = registry::division().and_then(|it| it.part(self.index, self.episode.get()));
        let Some((episode, part)) = found else {
            return false;
        };
        self.episode.set(episode);
        self.part.set(part);
        self.left.set(None);
        self.first.set(First::Awaited);
        true
    }

    /// The life of a worker.
    pub(super) fn work(&'static self) -> ! {
        registry::add_worker(self);
        if self.index == 0 {
            // The leader's kernel thread comes here when the leader waits for the first time.
            self.flags.set(switch::flags());
            shared_core::lead();
            registry::lead().inspect(|lead| _ = self.has_left(lead.rank));
        } else {
            switch::use_vectors();
            kernel_threads::enter(self.address(), self.thread_pointer);
            self.alarm.make(self.address());
        }
        let politeness = Native::duration_to_ticks(POLITENESS);
        let patience = Native::duration_to_ticks(PATIENCE);
        // The time since which the worker has found no rank, and the length of that time. `run` returns the time, so
        // the clock is not read again.
        let (mut since, mut waited) = (Native::now(), 0);
        // The time at which a wait began, and the next look of that wait: whether the worker shares its core.
        let mut wait = (since, NextLook::begin(since));
        loop {
            if let Some(rank) = self.next.take() {
                (since, waited) = (self.run(rank, self.part.get().quantum()), 0);
                continue;
            }
            if self.is_revoked() {
                WORKERS.ring();
                thread_state::rest(&self.mask);
                // This worker does not sleep at the bell, since no ring concerns it: it holds no rank, and worker 0
                // always has a core. The allotment of cores wakes this worker when there is a core for it again.
                // `Allotment::await_turn` loses no such wake-up, and is checked.
                await_core(self.index);
                (since, waited) = (Native::now(), 0);
                continue;
            }
            if self.look_at_episode() {
                (since, waited) = (Native::now(), 0);
            }
            if let Some(Taken(rank, budget)) = self.take(waited > politeness) {
                if registry::division().is_none_or(|it| it.is_in(self.episode.get())) {
                    (since, waited) = (self.run(rank, budget), 0);
                } else {
                    // The rank has begun an episode after this worker's last look. The plan may differ now.
                    rank.word.put_back();
                }
                continue;
            }
            if self.mask.is_stale(&CHANGES) {
                thread_state::rest(&self.mask);
            }
            if waited <= patience {
                if wait.0 != since {
                    wait = (since, NextLook::begin(since));
                }
                if wait.1.is_due(since + waited) {
                    if is_wanted(since + waited) {
                        waited = patience + 1;
                        continue;
                    }
                    wait.1 = wait.1.look(true);
                } else {
                    Native::relax();
                }
            } else if is_any_polled() {
                // A rank may continue at any time, and no bell rings for it. Meanwhile other threads may use the core,
                // above all the worker of a rank that must act first.
                std::thread::yield_now();
            } else {
                self.sleep();
                since = Native::now();
            }
            let now = Native::now();
            // If the clock has stepped back, the wait begins anew.
            since = since.min(now);
            waited = now - since;
        }
    }

    /// Sleeps until something may have changed.
    fn sleep(&'static self) {
        // A worker without a core sleeps elsewhere.
        if self.is_revoked() {
            return;
        }
        thread_state::rest(&self.mask);
        pending::take(self.last.get());
        let look = || {
            let is_polled = || is_any_polled().then_some(None);
            self.take_any().map(Some).or_else(is_polled)
        };
        let timeout = || {
            let until = next_poll().saturating_sub(Native::now());
            let until = Duration::from_nanos(Native::ticks_to_ns(until) as u64);
            // Otherwise the worker has nothing to do before the next region rings the bell.
            let looks = registry::is_in_region() || pending::may_come();
            looks.then_some(until.min(Duration::from_millis(10)))
        };
        shared_core::forget();
        match WORKERS.sleep(look, timeout) {
            Some(found) => {
                shared_core::note();
                found.inspect(|&rank| _ = self.run(rank, None));
            }
            // The kernel may have woken the thread on any core.
            None => _ = shared_core::is_shared(true),
        }
    }
}
