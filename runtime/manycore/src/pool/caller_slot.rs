//! The caller slot: the way by which a thread from outside takes part.
//!
//! A pool of n threads has n permits (`permits/mod.rs`), and starts n - 1 threads. Permit 0 is for callers:
//! a thread that calls the pool from outside enters as worker 0 and runs the call itself, so that no call
//! is handed over and no thread is woken. If the slot is taken, the caller borrows the permit of a worker
//! that sleeps (`visit.rs`). If none sleeps, the call goes to the pool's queue, in order of arrival, and
//! the caller blocks.
//!
//! `permits/word.rs` has the states of the slot and its transitions. A *detached task* is a spawned
//! job, a call from the queue, or a call with a borrowed permit, that has not ended.
//! `Registry::detached` counts them.
//!
//! * A detached task is posted: an empty slot becomes vacant, or the caller that is there is
//!   needed.
//! * A caller that finds the slot vacant enters it, and is needed.
//! * A vacant slot is filled (`Registry::fill_caller_slot`) with a thread of the pool, which may be started
//!   for it. A thread that pushes a job and finds no sleeper fills it; the sleep policy brings it here
//!   (`Sleep::set_vacant`).
//! * The last detached task ends: a vacant slot becomes empty. A thread of the pool that holds the
//!   slot gives it back when it finds no work.
//! * A caller that is needed leaves (`Registry::leave_slowly`): the slot is empty if there is no detached
//!   task any more, otherwise vacant, or held if a job waits.

use super::context::Context;
use super::job::Job;
use super::permits::Left;
use super::registry::Registry;
#[cfg(test)]
use crate::conserving::fault;
use manycore_platform::{Ordering, Platform};
use std::sync::OnceLock;

/// The context of the thread that holds the caller slot, made with the pool.
pub(super) struct CallerContext<P: Platform>(OnceLock<Context<P>>);

// SAFETY: used by the thread that has taken the caller slot, and by no other until it has given
// it back: the caller slot's word hands it over.
unsafe impl<P: Platform> Sync for CallerContext<P> {}
// SAFETY: its pointers are to the registry that holds it.
unsafe impl<P: Platform> Send for CallerContext<P> {}

impl<P: Platform> CallerContext<P> {
    pub(super) fn new() -> Self {
        Self(OnceLock::new())
    }

    /// Called before any other thread knows the pool.
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
    /// Puts a job into the pool's queue that no caller's call waits for; its
    /// end calls `end_detached`.
    pub(super) fn post_detached(&self, job: Job) {
        self.begin_detached();
        let was_empty = self.injector().push(job);
        self.call_for(0, was_empty);
    }

    /// As `post_detached`, for a job of a scope, which a thread that is no worker has spawned
    /// into it.
    #[inline(never)]
    pub(super) fn post_scoped(&self, job: Job) {
        let registry: *const Self = self;
        let group = job.group();
        // SAFETY: the scope's own job, which does not unwind and may run on any thread,
        // and the registry, which outlives its jobs.
        let job = unsafe {
            Job::new(move |migrated| {
                job.run(migrated);
                (*registry).end_detached();
            })
        };
        self.post_detached(job.in_group(group));
    }

    /// A detached task is about to be posted: a thread must be ready to take permit 0 when no thread has
    /// it. Called before the push, so that a thread that pushes jobs within the detached task sees the
    /// vacancy.
    ///
    /// # Panics
    ///
    /// If no thread could ever run it: the pool has no thread and the system refuses one, or this process
    /// is a child of `fork`.
    #[inline(never)]
    pub(super) fn begin_detached(&self) {
        self.shared().check_fork();
        if self.is_within_detached() {
            return self.count_detached();
        }
        self.count_detached_for_threads();
        self.need_caller_slot();
    }

    /// Whether this thread runs a spawned job of the pool, and a thread is ready to take permit 0. That job
    /// is a detached task until it ends. Until then the threads stay, and the word keeps its bit, since the
    /// bit is cleared with the last detached task. So counting another task needs no lock.
    fn is_within_detached(&self) -> bool {
        Context::worker_of(self).is_some_and(|worker| worker.is_detached())
            && self.shared().caller_slot().word().is_attended()
    }

    fn need_caller_slot(&self) {
        // If the slot is vacant since, no caller was there, and no detached task was at work: no
        // worker has pushed a job without seeing this, so that it takes no fence here.
        if self.change_permits(|permits| permits.post()) && !self.tells_of_vacancies() {
            self.fill_caller_slot();
        }
    }

    /// A detached task has ended.
    #[inline(never)]
    pub(super) fn end_detached(&self) {
        if !self.uncount_detached() {
            return;
        }
        self.change_permits(|permits| {
            // Under the lock a detached task that was posted since is seen, or its
            // `need_caller_slot` comes later.
            if !self.has_detached() {
                permits.end_posts();
            }
        });
        // A thread that holds the caller slot and is parked wakes up to give it back. The fence is
        // against its own between lying down and its last look, which is at `detached`, too.
        P::fence(Ordering::SeqCst);
        if self.shared().caller_slot().word().is_held() {
            self.sleep().notify(0);
        }
        if self.shared().is_terminating() {
            self.end_if_over();
        }
    }

    /// Finds a thread for the vacant caller slot, and starts lacking threads.
    #[cold]
    #[inline(never)]
    pub(crate) fn fill_caller_slot(&self) {
        #[cfg(test)]
        if fault::is(fault::Fault::EmptyCallerSlot) {
            return;
        }
        if self.thread_set().is_lacking() {
            // If the system refuses them, the poster does by itself what it has posted.
            let _ = self.start_threads();
        }
        if let Some(successor) = self.change_permits(|permits| permits.fill()) {
            // If none can be had, it is as if no thread had asked: others are at work.
            self.pass_on_or_lose(0, &successor);
        }
    }

    /// Has a thread take permit 0 whatever else there is to do, for mail.
    ///
    /// If none can be had, the next caller reads it.
    #[inline(never)]
    pub(super) fn summon(&self) {
        if let Some(successor) = self.change_permits(|permits| permits.summon()) {
            self.pass_on_or_lose(0, &successor);
        }
    }

    /// A caller leaves, and there is more to do than to say so.
    #[cold]
    #[inline(never)]
    pub(super) fn leave_slowly(&self) {
        // In a child of `fork` no thread needs the permit, and a thread of the parent may hold the lock. No
        // caller enters again.
        if self.shared().is_forked() {
            return;
        }
        // From here on worker 0 is the next caller.
        let permit = self.worker(0).exchange_permit(0);
        let left = self.change_permits(|permits| {
            let waits = || !self.mailboxes()[0].is_empty() || !self.injector().is_empty();
            permits.leave(permit, waits, || self.has_detached())
        });
        match left {
            Left::Nothing => {}
            Left::Vacancy => {
                // Against pushes and posts that have not seen the vacancy: theirs are seen
                // below.
                P::heavy_fence();
                let told = self.tells_of_vacancies();
                if !told || self.has_jobs() || self.shared().invites_rank(0) {
                    self.fill_caller_slot();
                }
            }
            Left::Permit(permit, successor) => {
                #[cfg(test)]
                let unheard = fault::is(fault::Fault::UntoldHolder);
                #[cfg(not(test))]
                let unheard = false;
                if permit != 0 && !unheard {
                    // The holder of permit 0 may have gone to sleep while this caller was there,
                    // and must give the slot back now. The fence stands between the change of the
                    // word and the look at the parking slot; the holder's stands between lying down
                    // and its look at the word (`overstays`). So the caller finds the holder
                    // parked, or the holder sees the new word.
                    P::fence(Ordering::SeqCst);
                    self.sleep().notify(0);
                }
                self.pass_on_or_lose(permit, &successor);
            }
        }
    }
}
