//! A rank: the stack and thread-locals of a POSIX thread, which workers execute.

use super::home::Home;
use super::state::State;
use super::words::{RankWord, Unrung};
use super::worker::Worker;
use super::{division, switch};
use manycore_platform::{Native, Platform};
use std::cell::{Cell, UnsafeCell};
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, compiler_fence};

/// See the module; it lives for ever.
#[repr(align(128))]
pub(crate) struct Rank {
    pub(super) word: RankWord<Native>,
    /// Where its stack was left; its owner's.
    pub(super) stack: UnsafeCell<usize>,
    pub(super) thread_pointer: Cell<usize>,
    /// What the kernel has for it, its owner's.
    pub(super) state: State,
    /// What it waits for; its owner's. On its stack.
    pub(super) condition: Cell<Option<*const dyn Fn() -> bool>>,
    /// The worker that executes it.
    pub(super) worker: Cell<*const Worker>,
    /// Its own kernel thread, where no worker is left; null: not there yet.
    pub(super) home: AtomicPtr<Home>,
    /// It has left in the handler of an alarm; its owner's.
    pub(super) was_cut: Cell<bool>,
    /// It is about to leave, or has just come back: a signal's handler that would leave then does not, so that
    /// [`wait_once`](Self::wait_once) is on the worker that it has read. The owner's. Relaxed: only its own handlers
    /// read it, so that the compiler alone must keep the order.
    pub(super) leaves: AtomicBool,
    /// Its number in its team.
    pub(super) id: AtomicU32,
    /// Only worker 0 may run it: it is the leader, at the end of a region.
    pub(super) homeward: AtomicBool,
    /// It waits for memory that others write, who ring no bell.
    pub(super) unrung: Unrung<Native>,
    /// Locks that it has; it is not cut then. An estimate, since a lock may be given on.
    pub(super) held: Cell<u32>,
    /// Since when it is executed.
    pub(super) since: AtomicU64,
    /// Ticks that it had in this episode before.
    pub(super) used: Cell<u64>,
    /// Those of them that cuts took.
    pub(super) lost: Cell<u64>,
    /// Ticks that its own work took in the last one.
    pub(super) took: AtomicU64,
}

// SAFETY: the cells belong to who has taken the word.
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
            worker: Cell::new(std::ptr::null()),
            home: AtomicPtr::new(std::ptr::null_mut()),
            was_cut: Cell::new(false),
            leaves: AtomicBool::new(false),
            id: AtomicU32::new(0),
            homeward: AtomicBool::new(false),
            unrung: Unrung::new(),
            held: Cell::new(0),
            since: AtomicU64::new(0),
            used: Cell::new(0),
            lost: Cell::new(0),
            took: AtomicU64::new(0),
        }
    }

    /// It is member `id` of its team.
    pub(crate) fn is_member(&'static self, id: u32) {
        self.id.store(id, Relaxed);
        super::HALL.members[id as usize].store(std::ptr::from_ref(self).cast_mut(), Relaxed);
    }

    /// It has taken a lock.
    pub(crate) fn holds(&self) {
        self.held.set(self.held.get() + 1);
    }

    /// It has let a lock go.
    pub(crate) fn holds_no_more(&self) {
        self.held.set(self.held.get().saturating_sub(1));
    }

    /// Lets others run until the condition holds.
    pub(crate) fn wait_until(&self, condition: &dyn Fn() -> bool) {
        while !condition() {
            self.leave_until(condition);
        }
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
        self.condition.set(condition);
        let leaves = self.leaves.load(Relaxed);
        self.leaves.store(true, Relaxed);
        compiler_fence(SeqCst);
        // SAFETY: the worker executes this rank, and waits where it went here.
        unsafe {
            let worker = &*self.worker.get();
            switch::leave(self.stack.get(), *worker.stack.get(), worker.thread_pointer);
        }
        compiler_fence(SeqCst);
        self.leaves.store(leaves, Relaxed);
        self.condition.set(None);
    }

    /// Its part of the episode is done: what it took is known.
    pub(super) fn arrive(&self) {
        let now = Native::now();
        let used = self.used.get() + (now - self.since.load(Relaxed));
        self.took
            .store(used.saturating_sub(self.lost.get()), Relaxed);
        self.begin(now);
        // SAFETY: workers live for ever; one executes this rank.
        let worker = unsafe { &*self.worker.get() }.index;
        division::of_hall().inspect(|it| it.arrived(worker, now));
        // Locks are rarely held across a barrier; one that was given on is forgotten.
        self.held.set(0);
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
