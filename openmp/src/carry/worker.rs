//! Workers: kernel threads that execute ranks, one a core.

use super::alarm::Alarm;
use super::division::Part;
use super::mask::{CHANGES, Mask};
use super::rank::Rank;
use super::registry::{self, ranks};
use super::{costs, home, kernel_threads, pending, switch, thread_state};
use crate::environment::cores::{await_core, cores};
use crate::system::masks::{ALL, set_mask};
use crate::words::bell::WORKERS;
use crate::words::spin;
use manycore_platform::{Native, Platform};
use std::cell::{Cell, UnsafeCell};
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicPtr, AtomicU64};
use std::time::Duration;

/// How long a worker leaves others' ranks alone when it has none itself.
const POLITENESS: Duration = Duration::from_micros(1);
/// How long a worker that has nothing to do stays awake.
const PATIENCE: Duration = Duration::from_micros(200);

/// A kernel thread's state between ranks.
pub(super) struct Worker {
    pub(super) index: usize,
    pub(super) stack: UnsafeCell<usize>,
    pub(super) thread_pointer: usize,
    /// Times that it has changed ranks.
    pub(super) switches: AtomicU64,
    /// The rank that it executes. It and its signal handler write it.
    pub(super) current: AtomicPtr<Rank>,
    pub(super) alarm: Alarm,
    /// The flags of the last rank ([`switch::flags`]).
    flags: Cell<u32>,
    /// The signals that its kernel thread has blocked.
    pub(super) mask: Mask<Native>,
    /// The episode that it is in, and what it is to run in it.
    episode: Cell<u64>,
    part: Cell<Part>,
    /// The index in its part of the rank that it has left as planned: another worker's now.
    left: Cell<Option<usize>>,
    /// The state of its first rank, which is to be cut.
    first: Cell<First>,
    /// The last rank had to be made to leave.
    stalled: Cell<bool>,
    /// The first of the others' ranks to look at.
    cursor: Cell<usize>,
    /// The rank that it executes next: it has taken that for the rank that has left.
    next: Cell<Option<&'static Rank>>,
    /// The signals that the rank it has run last had blocked.
    last: Cell<u64>,
    /// How often ranks have left for others since other threads were let go on.
    yields: Cell<usize>,
}

// SAFETY: only the worker's kernel thread touches what is not `Sync`: `flags`, `episode`, `part`, `left`, `first`, `stalled`,
// `cursor`, `next`, `last`, `yields`, and the cells of `mask` and of `alarm` (its signal handlers too); and
// `stack`, which `enter` writes and `leave` reads. Worker 0 runs on the leader's kernel thread. The next leader
// acquires, in `claim`, what the last leader has released, and at that time no thread executes worker 0. All other threads read
// `index`, `thread_pointer`, and atomics.
unsafe impl Sync for Worker {}

/// The rank that a worker is to run first, until it is cut.
#[derive(Clone, Copy, PartialEq)]
enum First {
    /// It may still be on its way from another worker.
    Awaited,
    Begun,
    /// Others went before it, so that a cut would gain nothing.
    Late,
}

/// A rank that was taken, and how much of its time it is to have now, if that is less than all.
struct Taken(&'static Rank, Option<u64>);

/// The first tick when a rank may go on without a bell.
fn next_poll() -> u64 {
    ranks()
        .map(|rank| rank.polled.time())
        .min()
        .unwrap_or(u64::MAX)
}

/// Whether a rank may go on now without a bell.
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

    /// The worker's address, which signals carry.
    pub(super) fn address(&self) -> *const c_void {
        ptr::from_ref(self).cast()
    }

    /// Whether this worker has no core any more. The first one always has.
    pub(super) fn is_revoked(&self) -> bool {
        self.index != 0 && self.index >= cores()
    }

    /// Takes the rank, if it can go on.
    fn try_take(&self, rank: &'static Rank) -> bool {
        let may = || self.index == 0 || !rank.pinned.load(Relaxed);
        rank.word.take(&WORKERS, may, || rank.goes_on())
    }

    /// The rank at a place of this worker's part.
    fn planned(part: &Part, at: usize) -> Option<&'static Rank> {
        registry::member(part.member(at)?)
    }

    /// Takes the next rank of this worker's part, but not the rank that was preempted here. The first rank of the part may have
    /// opened the episode, and may be about to leave another worker. Then this worker waits for that rank, unless
    /// it `may_skip` the rank.
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

    /// Takes a rank by the plan; or in turn among all, where ranks have turns or one has stalled: what
    /// the others wait for may be any rank, one too that was never begun.
    fn take(&self, may_help: bool) -> Option<Taken> {
        let quantum = self.part.get().quantum();
        let any = || self.take_any().map(|rank| Taken(rank, quantum));
        if quantum.is_some() || self.stalled.take() {
            return any();
        }
        self.take_own(may_help)
            .or_else(|| may_help.then(any).flatten())
    }

    /// Takes any rank that can go on.
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

    /// The rank that this worker executes lets another go on, if one can, and if it may leave. Returns whether it did. The
    /// rank itself looks: what does not help another is no reason to leave, or to ask the kernel whether it may.
    pub(super) fn pass(&self, rank: &Rank) -> bool {
        let Some(next) = self.take_any() else {
            // This look may have kept another worker from such a rank.
            WORKERS.ring();
            return false;
        };
        if !rank.state.is_as_noted() {
            next.word.put_back();
            WORKERS.ring();
            return false;
        }
        self.next.set(Some(next));
        rank.wait_once(None);
        true
    }

    /// The rank that this worker executes is about to leave, and can go on soon: the next one comes first, in the order
    /// of all. By its own share alone, the worker would execute the same few ranks again and again.
    pub(super) fn let_others_first(&self) {
        self.stalled.set(true);
    }

    /// A rank of this worker's has let another go on. Returns whether a round of these is full.
    pub(super) fn count_yield(&self, round: usize) -> bool {
        let yields = self.yields.get() + 1;
        let is_last = yields >= round;
        self.yields.set(if is_last { 0 } else { yields });
        is_last
    }

    /// Executes the rank until it waits, or is made to leave. Returns when that was. While ranks are at home, the rank goes
    /// on there: the leader's at worker 0, which is its own kernel thread.
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
        self.execute(rank, budget);
        self.has_left(rank)
    }

    /// Executes the rank until it goes back to this worker, which has it still.
    fn execute(&'static self, rank: &'static Rank, budget: Option<u64>) {
        self.switches.fetch_add(1, Relaxed);
        rank.set_worker(self);
        let now = Native::now();
        rank.since.store(now, Relaxed);
        self.current.store(ptr::from_ref(rank).cast_mut(), Relaxed);
        rank.state.put_on(&self.mask);
        self.mask.runs();
        self.alarm.begin(self.address(), self.mask.get());
        if let Some(budget) = budget {
            let took = self.alarm.set(self.address(), now, budget);
            rank.lost.set(rank.lost.get() + took);
        }
        // SAFETY: only this worker has the rank, whose stack was saved.
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

    /// The rank waits. Returns when it has left.
    fn has_left(&self, rank: &Rank) -> u64 {
        self.current.store(ptr::null_mut(), Relaxed);
        let was_preempted = self.alarm.rank_has_left();
        rank.was_preempted.set(was_preempted);
        if was_preempted {
            // The rank's, as its frame has it: the alarm's signal is open again.
            self.mask.set(rank.state.mask());
            set_mask(self.mask.get());
        }
        self.last.set(rank.state.mask());
        // Before another worker may take the rank.
        rank.state.take_off(&self.mask, was_preempted);
        self.mask.looks();
        if self.index >= home::FIRST {
            // No handler of the program's runs with the rank's thread-locals here while others have the rank.
            thread_state::rest(&self.mask);
        }
        let now = Native::now();
        rank.used
            .set(rank.used.get() + (now - rank.since.load(Relaxed)));
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
            // It stays taken, for its home.
            Some(home) => home.call(),
            None => rank.word.leave(&WORKERS),
        }
        now
    }

    /// Looks whether another episode has begun. Returns whether it has.
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
            // The leader comes here when it waits for the first time.
            self.flags.set(switch::flags());
            registry::lead().inspect(|lead| _ = self.has_left(lead.rank));
        } else {
            kernel_threads::enter(self.address(), self.thread_pointer);
            self.alarm.make(self.address());
        }
        let politeness = Native::duration_to_ticks(POLITENESS);
        let patience = Native::duration_to_ticks(PATIENCE);
        // Since when the worker has found nothing, and for how long: the clock is not asked again after a rank.
        let (mut since, mut waited) = (Native::now(), 0);
        // The wait that this is of, and when the worker yields in it: another worker may be on this core.
        let (mut wait, mut next_yield) = (0, 0);
        loop {
            if let Some(rank) = self.next.take() {
                (since, waited) = (self.run(rank, self.part.get().quantum()), 0);
                continue;
            }
            if self.is_revoked() {
                WORKERS.ring();
                thread_state::rest(&self.mask);
                // Not among the idle ones: nothing that rings for them concerns it. It holds no rank, and
                // the first worker always has a core. The allotment wakes it when it has one: that no such
                // wake-up is lost is `Allotment::await_turn`'s, and checked there.
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
                    // It was let go after this worker has looked at the episode. Now its plan may be another.
                    rank.word.put_back();
                }
                continue;
            }
            if self.mask.is_stale(&CHANGES) {
                thread_state::rest(&self.mask);
            }
            if waited <= patience {
                if wait != since {
                    wait = since;
                    next_yield = since.saturating_add(spin::begin_wait());
                }
                if since + waited < next_yield {
                    Native::relax();
                } else {
                    next_yield = spin::yield_core();
                }
            } else if is_any_polled() {
                // It may go on at any time, and no bell rings. Others may have the core until then,
                // first the worker of the rank for which it waits.
                std::thread::yield_now();
            } else {
                self.sleep();
                since = Native::now();
            }
            waited = Native::now().saturating_sub(since);
        }
    }

    /// Sleeps until something may have changed.
    fn sleep(&'static self) {
        // Whoever has no core sleeps elsewhere.
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
            // Otherwise nothing is to be done before the next region rings.
            let looks = registry::is_in_region() || pending::may_come();
            looks.then_some(until.min(Duration::from_millis(10)))
        };
        if let Some(Some(rank)) = WORKERS.sleep(look, timeout) {
            self.run(rank, None);
        }
    }
}
