//! A rank: the stack and thread-locals of a POSIX thread, which workers execute.

use super::home::{self, Home};
use super::ownership::{Polled, RankWord};
use super::thread_state::State;
use super::worker::Worker;
use super::{registry, switch};
use crate::system::cpus::Cpus;
use crate::words::Waiter;
use manycore_platform::{Native, Platform};
use std::cell::{Cell, UnsafeCell};
use std::ffi::c_long;
use std::ptr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, compiler_fence};

/// See [`Rank::call`].
pub(super) const NO_CALL: c_long = -1;

/// See the module; it lives for ever.
#[repr(align(128))]
pub(crate) struct Rank {
    pub(super) word: RankWord<Native>,
    /// The stack pointer when it left; its owner's.
    pub(super) stack: UnsafeCell<usize>,
    pub(super) thread_pointer: Cell<usize>,
    /// Its state in the kernel; its owner's.
    pub(super) state: State,
    /// The condition for its return; its owner's. On its stack.
    pub(super) condition: Cell<Option<*const dyn Fn() -> bool>>,
    /// The worker that executes it; null at first.
    worker: AtomicPtr<Worker>,
    /// Its own kernel thread, where no worker is left; null: not there yet.
    pub(super) home: AtomicPtr<Home>,
    /// It leaves to go on at its home; its owner's.
    pub(super) goes_home: Cell<bool>,
    /// It has left in the handler of an alarm; its owner's.
    pub(super) was_preempted: Cell<bool>,
    /// It is about to leave, or has just come back: a signal's handler that would leave then does not, so that
    /// [`wait_once`](Self::wait_once) is on the worker that it has read. The owner's. Relaxed: only its own handlers
    /// read it, so that the compiler alone must keep the order.
    pub(super) leaves: AtomicBool,
    /// The rank's position when its team's members are divided among workers.
    pub(super) id: AtomicU32,
    /// Only worker 0 may run it: it is the leader, at the end of a region.
    pub(super) pinned: AtomicBool,
    /// When workers must ask whether it goes on, since no bell rings for it.
    pub(super) polled: Polled<Native>,
    /// Locks that it has; it is not cut then. An estimate, since a lock may be given on.
    pub(super) held: Cell<u32>,
    /// The system call that it makes by `syscall`, or [`NO_CALL`].
    pub(super) call: Cell<c_long>,
    /// Since when it is executed.
    pub(super) since: AtomicU64,
    /// Ticks that it had in this episode before.
    pub(super) used: Cell<u64>,
    /// The part of them that cuts took.
    pub(super) lost: Cell<u64>,
    /// Ticks of its own work in the last one.
    pub(super) took: AtomicU64,
}

// SAFETY: these fields are not `Sync`: `stack`, `thread_pointer`, `state`, `condition`, `goes_home`, `was_preempted`, `held`, `call`, `used` and `lost`.
// The worker that has taken `word` touches them, and so does the rank itself, which runs on the same kernel
// thread. `RankWord` hands them on by a release and an acquire. The first owner is the thread that makes the
// rank. A leader also writes `thread_pointer` and `state` of its rank as it claims a team and as a region begins. Between
// regions the rank waits for nothing, its word stays taken, and no worker executes it. All other threads read atomics only.
unsafe impl Sync for Rank {}

impl Rank {
    /// The calling thread as a rank.
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
            was_preempted: Cell::new(false),
            leaves: AtomicBool::new(false),
            id: AtomicU32::new(0),
            pinned: AtomicBool::new(false),
            polled: Polled::new(),
            held: Cell::new(0),
            call: Cell::new(NO_CALL),
            since: AtomicU64::new(0),
            used: Cell::new(0),
            lost: Cell::new(0),
            took: AtomicU64::new(0),
        }
    }

    /// The worker that executes this rank. The rank itself asks, or that worker.
    pub(super) fn worker(&self) -> &'static Worker {
        // Relaxed: the worker itself has written it, or the caller is the worker.
        let worker = self.worker.load(Relaxed);
        debug_assert!(!worker.is_null(), "a rank that no worker has");
        // SAFETY: `set_worker` was called before a rank goes on at a worker, and workers live for ever.
        unsafe { &*worker }
    }

    /// This worker is to execute the rank.
    pub(super) fn set_worker(&self, worker: &'static Worker) {
        self.worker.store(ptr::from_ref(worker).cast_mut(), Relaxed);
    }

    /// Lets others run, and goes on when the condition has held.
    pub(super) fn leave_until(&self, condition: &dyn Fn() -> bool) {
        // SAFETY: the reference is used while this function has not gone on.
        let condition = unsafe {
            std::mem::transmute::<&dyn Fn() -> bool, &'static (dyn Fn() -> bool + 'static)>(
                condition,
            )
        };
        self.wait_once(Some(condition));
    }

    /// Goes back to its worker, until a worker finds that the condition holds.
    pub(super) fn wait_once(&self, condition: Option<*const dyn Fn() -> bool>) {
        let leaves = self.leaves.load(Relaxed);
        self.leaves.store(true, Relaxed);
        // Before the condition is set: a handler of the program's that interrupts here and leaves would clear it.
        compiler_fence(SeqCst);
        self.condition.set(condition);
        let worker = self.worker();
        // SAFETY: the worker executes this rank, and waits where it went here.
        unsafe {
            switch::leave(self.stack.get(), *worker.stack.get(), worker.thread_pointer);
        }
        compiler_fence(SeqCst);
        self.leaves.store(leaves, Relaxed);
        self.condition.set(None);
    }

    /// Its own kernel thread, if it can be called.
    pub(super) fn home(&self) -> Option<&'static Home> {
        // SAFETY: homes live for ever. Acquire: what is in it.
        unsafe { self.home.load(Acquire).as_ref() }
    }

    /// Whether the calling rank is where it stays while ranks are at home: at its own kernel thread, which the leader's is
    /// beside its home. There it waits as a thread of the system.
    pub(super) fn is_at_home(&self) -> bool {
        let worker = self.worker().index;
        let leads = || registry::lead().is_some_and(|lead| ptr::eq(lead.rank, self));
        worker >= home::FIRST || (worker == 0 && leads())
    }

    /// Its part of an episode begins.
    pub(super) fn begin(&self, now: u64) {
        self.used.set(0);
        self.lost.set(0);
        self.since.store(now, Relaxed);
    }

    /// Whether it can go on. The caller has taken it.
    pub(super) fn goes_on(&self) -> bool {
        // SAFETY: the rank waits in the frame where the condition lives.
        let holds = |condition: *const dyn Fn() -> bool| unsafe { (*condition)() };
        self.condition.get().is_none_or(holds)
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
        // SAFETY: null, or a home, which lives for ever. Acquire: what is in it.
        let home = unsafe { self.home.load(Acquire).as_ref() };
        home.inspect(|home| _ = cpus.put_on(home.thread));
    }

    /// Its part of the episode is done: what it took is known.
    fn arrive(&self) {
        let now = Native::now();
        let used = self.used.get() + (now - self.since.load(Relaxed));
        self.took
            .store(used.saturating_sub(self.lost.get()), Relaxed);
        self.begin(now);
        let worker = self.worker().index;
        registry::division().inspect(|it| it.arrived(worker, now));
        // Ranks rarely hold locks across a barrier; a lock that was handed on is forgotten.
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
