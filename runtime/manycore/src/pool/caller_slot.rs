//! The caller slot: the role of worker 0, which a thread from outside can take during a call.
//!
//! A pool of n threads has n permits (`permits/mod.rs`), and starts n - 1 threads. Permit 0 is for callers:
//! a thread that calls the pool from outside enters as worker 0 and runs the call itself, so that no call
//! is handed over and no thread is woken. If the slot is taken, the caller borrows the permit of a worker
//! that sleeps (`visit.rs`). If no worker sleeps, the call goes to the pool's queue, in order of arrival, and
//! the caller blocks.
//!
//! `permits/word.rs` defines the states of the slot and its transitions. A *detached task* is a spawned job, a call
//! from the queue, or a call with a borrowed permit, until it ends. `Registry::detached` counts them. An *empty* slot
//! has no holder and needs none. A *vacant* slot has no holder, while there are detached tasks.
//!
//! * When a detached task is posted, an empty slot becomes vacant. If a caller has the slot, that caller becomes
//!   *needed*: when it leaves, it must decide who fills the slot.
//! * When a caller finds the slot vacant, it enters the slot and is needed.
//! * `Registry::fill_caller_slot` gives a vacant slot to a thread of the pool, which may be started for this. A thread
//!   that pushes a job and finds no sleeper calls this function, as the sleep policy demands (`Sleep::set_vacant`).
//! * When the last detached task ends, a vacant slot becomes empty. If a thread of the pool holds the slot, it
//!   gives the slot back when it finds no work.
//! * When a needed caller leaves (`Registry::leave_slowly`) and no detached task is left, the slot becomes empty.
//!   Otherwise the slot becomes vacant, or, if a job waits, held by a thread of the pool.

use super::context::Context;
use super::job::Job;
use super::permits::Left;
use super::registry::Registry;
#[cfg(test)]
use crate::conserving::fault;
use manycore_platform::{Ordering, Platform};
use std::sync::OnceLock;

/// The context of the thread that holds the caller slot. The context is made when the pool is made.
pub(super) struct CallerContext<P: Platform>(OnceLock<Context<P>>);

// SAFETY: only the thread that has taken the caller slot uses the context, until it gives the slot back. The slot's
// word orders one holder's use before the next holder's use.
unsafe impl<P: Platform> Sync for CallerContext<P> {}
// SAFETY: the context points into the registry that owns it.
unsafe impl<P: Platform> Send for CallerContext<P> {}

impl<P: Platform> CallerContext<P> {
    pub(super) fn new() -> Self {
        Self(OnceLock::new())
    }

    /// Sets the context. Called before any other thread knows the pool.
    pub(super) fn set(&self, context: Context<P>) {
        let fresh = self.0.set(context).is_ok();
        debug_assert!(fresh, "set once, by who makes the pool");
    }

    #[inline]
    pub(super) fn get(&self) -> &Context<P> {
        self.0.get().expect("set before the pool is used")
    }
}

impl<P: Platform> Registry<P> {
    /// Puts a job into the pool's queue, as a detached task. When the job ends, it must call `end_detached`.
    pub(super) fn post_detached(&self, job: Job) {
        self.begin_detached();
        let was_empty = self.injector().push(job);
        self.call_for(0, was_empty);
    }

    /// As `post_detached`, for a job in a scope that was spawned by a thread that is not a worker. If the system
    /// refuses a thread, this panics before the job is made.
    pub(super) fn post_scoped(&self, job: impl FnOnce() -> Job) {
        self.begin_detached();
        self.post_begun(job());
    }

    #[inline(never)]
    pub(super) fn post_begun(&self, job: Job) {
        let registry: *const Self = self;
        let group = job.group();
        // SAFETY: the closure holds a job of a scope, which does not unwind and may run on any thread, and the
        // registry, which outlives its jobs.
        let job = unsafe {
            Job::new(move |migrated| {
                job.run(migrated);
                (*registry).end_detached();
            })
        };
        let was_empty = self.injector().push(job.in_group(group));
        self.call_for(0, was_empty);
    }

    /// Counts a detached task that is about to be posted, and ensures that a thread can take permit 0 while the permit
    /// has no holder. Called before the push, so that a thread that pushes jobs within the detached task sees the
    /// vacancy.
    ///
    /// # Panics
    ///
    /// If no thread could ever run the task, because the pool has no thread and the system refuses to start one, or
    /// because this process is a child of `fork`.
    #[inline(never)]
    pub(super) fn begin_detached(&self) {
        self.shared().check_fork();
        if self.is_within_detached() {
            return self.count_detached();
        }
        self.count_detached_for_threads();
        self.need_caller_slot();
    }

    /// Whether this thread runs a spawned job of the pool, and the slot's word is attended, which means that a thread
    /// is ready to take permit 0. The spawned job is itself a detached task, and until the last detached task ends,
    /// the threads stay and the word stays attended. So counting another task needs no lock.
    fn is_within_detached(&self) -> bool {
        Context::worker_of(self).is_some_and(|worker| worker.is_detached())
            && self.shared().caller_slot().word().is_attended()
    }

    fn need_caller_slot(&self) {
        // If this makes the slot vacant, there was no caller and no detached task at work. So no worker has
        // pushed a job without seeing the vacancy, and this path needs no fence.
        if self.change_permits(|permits| permits.post()) && !self.tells_of_vacancies() {
            self.fill_caller_slot();
        }
    }

    /// Counts the end of a detached task.
    #[inline(never)]
    pub(super) fn end_detached(&self) {
        if !self.uncount_detached() {
            return;
        }
        self.change_permits(|permits| {
            // If a detached task was posted since the count became 0, this look under the lock sees it, or the task's
            // `need_caller_slot` gets the lock later.
            if !self.has_detached() {
                permits.end_posts();
            }
        });
        // If a parked thread holds the caller slot, it wakes up to give the slot back. This fence pairs with that
        // thread's fence between lying down and its last look, which includes the count of detached tasks.
        P::fence(Ordering::SeqCst);
        if self.shared().caller_slot().word().is_held() {
            self.sleep().notify(0);
        }
        if self.shared().is_terminating() {
            self.end_if_over();
        }
    }

    /// Finds a thread for the caller slot if it is vacant, and starts the threads that the pool lacks.
    #[cold]
    #[inline(never)]
    pub(crate) fn fill_caller_slot(&self) {
        #[cfg(test)]
        if fault::is(fault::Fault::EmptyCallerSlot) {
            return;
        }
        if self.thread_set().is_lacking() {
            // If the system refuses the threads, the thread that posted the work does that work itself.
            let _ = self.start_threads();
        }
        if let Some(successor) = self.change_permits(|permits| permits.fill()) {
            // If no thread is available, other threads are at work, and this thread reads the permit's mail.
            self.pass_on_or_lose(0, &successor);
        }
    }

    /// Makes a thread take permit 0 to read its mail (jobs that were sent to that permit), even if there is no other
    /// work. If no thread is available, this thread reads the mail.
    #[inline(never)]
    pub(super) fn summon(&self) {
        // The loop ends when a thread has the permit, or the caller that has the slot knows that it must look for
        // mail.
        while let Some(successor) = self.change_permits(|permits| permits.summon()) {
            if self.passes_on(0, &successor) {
                return;
            }
            if self.shared().caller_slot().take() {
                return self.enter_as_caller(|worker| worker.read_mail());
            }
        }
    }

    /// Takes a caller out of the slot if changing the slot's word is not enough.
    #[cold]
    #[inline(never)]
    pub(super) fn leave_slowly(&self) {
        // In a child of `fork` no thread needs the permit, and no caller enters again. A thread of the parent may
        // have held the lock at the fork.
        if self.shared().is_forked() {
            return;
        }
        // After this change the next caller can be worker 0.
        let permit = self.worker(0).exchange_permit(0);
        let left = self.change_permits(|permits| {
            let waits = || !self.mailboxes()[0].is_empty() || !self.injector().is_empty();
            permits.leave(permit, waits, || self.has_detached())
        });
        match left {
            Left::Nothing => {}
            Left::Vacancy => {
                // Because of this fence, the code below sees each push or post by a thread that has not seen the
                // vacancy.
                P::heavy_fence();
                let told = self.tells_of_vacancies();
                if !told || self.has_jobs() || self.shared().has_invitation(0) {
                    self.fill_caller_slot();
                }
            }
            Left::Permit(permit, successor) => {
                #[cfg(test)]
                let unheard = fault::is(fault::Fault::UntoldHolder);
                #[cfg(not(test))]
                let unheard = false;
                if permit != 0 && !unheard {
                    // The holder of permit 0 may have gone to sleep while this caller was in the slot,
                    // and must give the slot back now. This fence is between the change of the word
                    // and the look at the parking slot. The holder's fence is between lying down and
                    // its look at the word (`overstays`). So the caller finds the holder parked, or
                    // the holder sees the new word.
                    P::fence(Ordering::SeqCst);
                    self.sleep().notify(0);
                }
                self.pass_on_or_lose(permit, &successor);
            }
        }
    }
}
