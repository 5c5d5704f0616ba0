//! A rank: a POSIX thread of a team. Any worker (a kernel thread) can execute a rank, on its stack and with its
//! thread-locals ([parent module](super)). An *episode* is the time from one barrier to the next.

use super::home::{self, Home};
use super::ownership::{Polled, RankWord};
use super::questions::Questions;
use super::thread_state::State;
use super::worker::Worker;
use super::{registry, switch};
use crate::system::cpus::Cpus;
use crate::words::Waiter;
use crate::words::bell::WORKERS;
use manycore_platform::{Native, Platform};
use std::cell::{Cell, UnsafeCell};
use std::ptr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, compiler_fence};

/// See the module. A rank lives for ever. Its *owner* is the worker that has taken the rank, or the rank itself while
/// it runs.
#[repr(align(128))]
pub(crate) struct Rank {
    pub(super) word: RankWord<Native>,
    /// The stack pointer when the rank left. Only the owner uses this.
    pub(super) stack: UnsafeCell<usize>,
    pub(super) thread_pointer: Cell<usize>,
    /// The rank's state in the kernel. Only the owner uses this.
    pub(super) state: State,
    /// The rank can continue when this condition, on its stack, holds. Only the owner uses this.
    pub(super) condition: Cell<Option<*const dyn Fn() -> bool>>,
    /// The worker that executes the rank. Null at first.
    worker: AtomicPtr<Worker>,
    /// The rank's own kernel thread, for use when no worker is free. Null until it is made.
    pub(super) home: AtomicPtr<Home>,
    /// Whether the rank leaves in order to continue at its home. Only the owner uses this.
    pub(super) goes_home: Cell<bool>,
    /// The rank's thread, for `pthread_kill`.
    thread: libc::pthread_t,
    /// Whether the rank is to continue at its home, since a signal was sent there: see [`Rank::summon`].
    summoned: AtomicBool,
    /// Whether the rank was cut (made to leave by an alarm) when it last left. Only the owner uses this.
    pub(super) was_preempted: Cell<bool>,
    /// An address in the frame of the function in which the rank is about to leave, or has just come back. 0 stands for
    /// no function. If a signal handler of the program interrupts this function, the handler does not leave. So
    /// [`wait_once`](Self::wait_once) is still on the worker that it has read. Relaxed is enough: only the rank and its
    /// own handlers use the address, so only the compiler must keep the order.
    pub(super) leaves: AtomicUsize,
    /// The rank's number in its team.
    pub(super) id: AtomicU32,
    /// Whether only worker 0 may run the rank. This holds for the leader's rank at the end of a region.
    pub(super) pinned: AtomicBool,
    /// The time from which workers must look at the rank although no [bell](crate::words::bell) rings for the rank.
    pub(super) polled: Polled<Native>,
    /// The number of locks that the rank holds. While the rank holds a lock, no alarm makes it leave. The number is an
    /// estimate: another rank may unlock a lock.
    pub(super) held: Cell<u32>,
    /// How often the rank asked for the time or for a lock. Only the rank uses this.
    pub(super) questions: Questions,
    /// The time up to which `used` counts, while the rank runs.
    pub(super) since: AtomicU64,
    /// The ticks that the rank ran in this episode before `since`.
    pub(super) used: Cell<u64>,
    /// The part of `used` that cuts cost, in ticks.
    pub(super) lost: Cell<u64>,
    /// The ticks of the rank's own work in the last episode.
    pub(super) took: AtomicU64,
}

// SAFETY: these fields are not `Sync`: `stack`, `thread_pointer`, `state`, `condition`, `goes_home`, `was_preempted`,
// `held`, `questions`, `used` and `lost`. Only the worker that has taken `word` and the rank itself touch them, and both run
// on the same kernel thread. `RankWord` passes them to the next owner by a release and an acquire. The first owner is
// the thread that makes the rank. A leader also writes `thread_pointer` and `state` of its rank when it claims a team
// and when a region begins. Between regions that rank waits for nothing, its word stays taken, and no worker executes
// it. All other threads read only atomics.
unsafe impl Sync for Rank {}

impl Rank {
    /// Makes a rank of the calling thread.
    pub(super) fn new() -> Self {
        Self {
            word: RankWord::running(),
            stack: UnsafeCell::new(0),
            thread_pointer: Cell::new(switch::thread_pointer()),
            state: State::of_thread(),
            condition: Cell::new(None),
            worker: AtomicPtr::new(ptr::null_mut()),
            home: AtomicPtr::new(ptr::null_mut()),
            goes_home: Cell::new(false),
            // SAFETY: the call has no arguments.
            thread: unsafe { libc::pthread_self() },
            summoned: AtomicBool::new(false),
            was_preempted: Cell::new(false),
            leaves: AtomicUsize::new(0),
            id: AtomicU32::new(0),
            pinned: AtomicBool::new(false),
            polled: Polled::new(),
            held: Cell::new(0),
            questions: Questions::new(),
            since: AtomicU64::new(0),
            used: Cell::new(0),
            lost: Cell::new(0),
            took: AtomicU64::new(0),
        }
    }

    /// The worker that executes this rank. Only the rank itself or that worker may ask.
    pub(super) fn worker(&self) -> &'static Worker {
        // Relaxed: the caller runs on the worker's kernel thread, which has written this pointer.
        let worker = self.worker.load(Relaxed);
        debug_assert!(!worker.is_null(), "a rank that no worker has");
        // SAFETY: each worker calls `set_worker` before it executes a rank, and workers live for ever.
        unsafe { &*worker }
    }

    /// Notes the worker that is about to execute the rank.
    pub(super) fn set_worker(&self, worker: &'static Worker) {
        self.worker.store(ptr::from_ref(worker).cast_mut(), Relaxed);
    }

    /// Leaves the worker to other ranks, and continues after the condition has held.
    pub(super) fn leave_until(&self, condition: &dyn Fn() -> bool) {
        // SAFETY: the reference is used only before `wait_once` returns.
        let condition = unsafe {
            std::mem::transmute::<&dyn Fn() -> bool, &'static (dyn Fn() -> bool + 'static)>(
                condition,
            )
        };
        while self.wait_once(Some(condition)) && !condition() {}
    }

    /// Leaves the worker until the condition holds. Returns `true` if the rank had to handle a signal before that.
    pub(super) fn wait_once(&self, condition: Option<*const dyn Fn() -> bool>) -> bool {
        let leaves = self.leaves.load(Relaxed);
        let here = 0_u8;
        self.leaves.store((&raw const here).addr(), Relaxed);
        // `leaves` is stored first. Otherwise a handler of the program that interrupts here could leave, and clear the
        // condition.
        compiler_fence(SeqCst);
        self.condition.set(condition);
        let worker = self.worker();
        // SAFETY: the worker executes this rank. The worker's own stack was saved when it switched to the rank.
        unsafe {
            switch::leave(self.stack.get(), *worker.stack.get(), worker.thread_pointer);
        }
        compiler_fence(SeqCst);
        self.leaves.store(leaves, Relaxed);
        self.condition.set(None);
        let is_summoned = self.is_summoned();
        if is_summoned {
            self.handle_signals();
        }
        is_summoned
    }

    /// Whether a signal waits for the rank. Relaxed: a worker that reads an old value is woken by
    /// [`summon`](Self::summon), or runs a rank that goes home at its next wait.
    pub(super) fn is_summoned(&self) -> bool {
        self.summoned.load(Relaxed)
    }

    /// Continues at the rank's home, and unblocks the signals there. Their handlers run on the rank's stack.
    #[cold]
    pub(super) fn handle_signals(&self) {
        while self.worker().index < home::FIRST && self.home().is_some() {
            self.goes_home.set(true);
            self.wait_once(None);
            if !self.is_summoned() {
                return;
            }
        }
        // This store precedes the handlers, so that a later signal summons the rank again.
        self.summoned.store(false, SeqCst);
        self.state.put_on(&self.worker().mask);
    }

    /// Called when a signal was sent to `thread`, and waits at the kernel thread that made the rank. Makes the rank
    /// continue there, whatever the rank waits for. The leader's own kernel thread runs ranks, and handles the signal
    /// itself.
    pub(super) fn summon(thread: libc::pthread_t) {
        let leads = |rank: &Self| registry::lead().is_some_and(|lead| ptr::eq(lead.rank, rank));
        let mut all = registry::ranks().filter(|rank| rank.thread == thread && !leads(rank));
        let Some((rank, home)) = all.find_map(|rank| Some((rank, rank.home()?))) else {
            return;
        };
        // SeqCst orders this store after the sending of the signal.
        rank.summoned.store(true, SeqCst);
        if rank.word.claim() {
            return home.call();
        }
        rank.ring();
        // A worker may have looked at the rank before the store, and sleep now.
        WORKERS.ring();
    }

    /// If the rank is summoned and runs on a worker, makes it leave.
    pub(super) fn ring(&self) {
        // SAFETY: null, or a worker, which lives for ever. If the worker executes another rank by now, that rank
        // leaves.
        let worker = unsafe { self.worker.load(Acquire).as_ref() };
        if let Some(worker) = worker.filter(|it| self.is_summoned() && it.index < home::FIRST) {
            worker.alarm.ring(worker.address());
        }
    }

    /// Whether the caller is a signal handler that has interrupted a function in which the rank is about to leave.
    /// `here` is an address in the caller's frame. Returns `false` if a handler has jumped out of such a function: that
    /// function's frame is not above the caller's frame, or is so near that no signal's frame fits between them.
    pub(super) fn is_leaving(&self, here: usize) -> bool {
        /// Every signal's frame is larger than this.
        const FRAME: usize = 512;
        here + FRAME < self.leaves.load(Relaxed)
    }

    /// Called when the rank is in no function in which it leaves. If a handler has jumped out of such a function,
    /// clears what the function has noted.
    fn leaves_nowhere(&self) {
        if self.leaves.load(Relaxed) != 0 {
            self.leaves.store(0, Relaxed);
            self.polled.set(false);
        }
    }

    /// The rank's own kernel thread, if that thread can execute the rank now.
    pub(super) fn home(&self) -> Option<&'static Home> {
        // SAFETY: homes live for ever. Acquire makes the home's contents visible.
        unsafe { self.home.load(Acquire).as_ref() }
    }

    /// Whether the calling rank runs on its own kernel thread, where it waits as any POSIX thread does. The leader's
    /// own kernel thread is worker 0.
    pub(super) fn is_at_home(&self) -> bool {
        let worker = self.worker().index;
        let leads = || registry::lead().is_some_and(|lead| ptr::eq(lead.rank, self));
        worker >= home::FIRST || (worker == 0 && leads())
    }

    /// The rank begins an episode.
    pub(super) fn begin(&self, now: u64) {
        self.used.set(0);
        self.lost.set(0);
        self.since.store(now, Relaxed);
    }

    /// Notes that the rank has run from `since` to `now`. A kernel thread that moves to another CPU may find an earlier
    /// time there.
    pub(super) fn runs_until(&self, now: u64) {
        let ran = now.saturating_sub(self.since.load(Relaxed));
        self.used.set(self.used.get().saturating_add(ran));
    }

    /// Whether the rank can continue. The caller has taken the rank.
    pub(super) fn goes_on(&self) -> bool {
        // SAFETY: the rank waits in the frame that holds the condition.
        let holds = |condition: *const dyn Fn() -> bool| unsafe { (*condition)() };
        (self.condition.get()).is_none_or(|condition| holds(condition) || self.is_summoned())
    }
}

impl Waiter for Rank {
    fn is_thread(&self) -> bool {
        registry::division().is_some_and(|it| it.is_at_home()) && self.is_at_home()
    }

    fn wait_until(&self, condition: &dyn Fn() -> bool) {
        self.leave_until(condition);
    }

    fn held(&'static self) -> &'static Cell<u32> {
        &self.held
    }

    fn is_member(&'static self, id: u32) {
        self.id.store(id, Relaxed);
        registry::set_member(id as usize, self);
    }

    fn bind(&self, cpus: &Cpus) {
        // SAFETY: null, or a home, which lives for ever. Acquire makes the home's contents visible.
        let home = unsafe { self.home.load(Acquire).as_ref() };
        home.inspect(|home| _ = cpus.put_on(home.thread));
    }

    /// Ends the rank's episode, and notes how long it took.
    fn arrive(&self) {
        let now = Native::now();
        self.runs_until(now);
        let own = self.used.get().saturating_sub(self.lost.get());
        self.took.store(own, Relaxed);
        self.begin(now);
        let worker = self.worker().index;
        registry::division().inspect(|it| it.arrived(worker, now));
        self.leaves_nowhere();
        // Ranks rarely hold a lock across a barrier. Locks that another rank unlocked are forgotten here.
        self.held.set(0);
    }

    fn make_room(&self) {
        if self.is_thread() {
            return;
        }
        if let Some(division) = registry::division() {
            let (worker, id) = (self.worker().index, self.id.load(Relaxed) as usize);
            if !division.goes_on_with(worker, id) {
                self.wait_once(None);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_steps_back_adds_no_time() {
        let rank = Rank::new();
        rank.begin(5_000);
        rank.runs_until(6_000);
        rank.since.store(7_000, Relaxed);
        rank.runs_until(6_500);
        assert_eq!(rank.used.get(), 1_000);
    }
}
