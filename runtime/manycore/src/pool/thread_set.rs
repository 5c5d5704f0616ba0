//! The pool's threads as a whole: when they start, and how they end in a pool that stays usable.
//!
//! # States
//!
//! | state | threads | the poster of a detached task |
//! |---|---|---|
//! | absent | none, or not yet all | starts the threads |
//! | present | all | posts the task |
//! | leaving | all are ending | waits until they have ended, then starts the threads |
//!
//! A [lazy](super::BuilderExt::lazy) pool begins absent. So does a pool of one thread, which has no thread of
//! its own until there are detached tasks (`caller_slot.rs`). All other pools begin present.
//!
//! # From absent to present
//!
//! A thread that posts work for other threads starts the threads, under the lock `starting`:
//!
//! * For a detached task, or a job that is sent to one thread, the threads start before the push. If the system refuses
//!   a thread, the poster panics.
//! * For a half of a join, a job in a scope, or a loop, they start after the push. While threads are *lacking*, the
//!   sleep policy reports to posters that a permit is vacant, as if the caller slot (the right to be worker 0) were
//!   vacant. The poster that gets this report starts the threads (`Registry::fill_caller_slot`). If the system refuses
//!   a thread, the poster does the work itself.
//!
//! # From present to leaving
//!
//! [`Registry::end_threads`] waits for a moment at which the pool is quiet. The lock of `Permits` guards the counts of
//! detached tasks and registrations, and the exits of callers that leave by the slow path (`permits/word.rs`). Under
//! this lock three conditions must hold:
//!
//! 1. There is no detached task: no spawned job, and no call from the queue.
//! 2. There is no registration: no thread that is not a worker is in a scope, and no thread is being started
//!    for a permit that a caller has left.
//! 3. The caller slot is empty. `end_threads` takes the slot, so that no caller can take it.
//!
//! So no thread is at work in the pool. A caller from outside finds the slot taken, posts a detached task, and waits
//! for `starting`. Then the pool ends as in a drop, and the threads are joined. The calling thread, which alone is
//! left in the pool, resets the state that the end has set. Exit handlers of ending threads may still spawn jobs. In
//! this case the threads are started again.

use super::call_back::Call;
use super::context::Context;
use super::permits::{Successor, ThreadState};
use super::registry::Registry;
use super::worker::Worker;
use crate::times::QUIET_LOOK;
use manycore_cores::sync::{Lock, Parker};
use manycore_platform::{Atomic, Ordering, Platform};
use std::io;

/// One registration. While it lives, the pool's threads do not end.
pub(super) struct Stay<'a, P: Platform> {
    registry: &'a Registry<P>,
    /// The id of the thread, if it is in a scope.
    in_scope: Option<u64>,
}

impl<'a, P: Platform> Stay<'a, P> {
    /// The registration of a thread that is being started. The registration lives until the pool can join that thread,
    /// or until the thread's permit has another holder.
    pub(super) fn of(registry: &'a Registry<P>, successor: &Successor) -> Option<Self> {
        (successor.is_counted()).then(|| Self::counted(registry))
    }

    /// A registration that is counted already.
    pub(super) fn counted(registry: &'a Registry<P>) -> Self {
        Self {
            registry,
            in_scope: None,
        }
    }
}

impl<P: Platform> Drop for Stay<'_, P> {
    fn drop(&mut self) {
        // In a child of `fork`, a thread that does not exist there may hold the lock.
        if !self.registry.shared().is_forked() {
            self.registry.change_permits(|permits| match self.in_scope {
                Some(thread) => permits.leave_scope(thread),
                None => permits.deregister(),
            });
        }
    }
}

/// The state of a pool's threads as a whole.
pub(super) struct ThreadSet<P: Platform> {
    /// The lowest permit for which the pool starts a thread.
    first: usize,
    /// Whether the pool can start its threads again.
    returns: bool,
    /// Held while threads are started or end. It guards the number of the next permit that gets a thread.
    starting: Lock<P, usize>,
    /// Whether threads that could take posted work are absent. A hint, written under the lock of `Permits`.
    lacking: P::AtomicBool,
}

impl<P: Platform> ThreadSet<P> {
    pub(super) fn new(first: usize, returns: bool) -> Self {
        Self {
            first,
            returns,
            starting: Lock::new(first),
            lacking: P::AtomicBool::new(false),
        }
    }

    /// The lowest permit for which the pool starts a thread.
    pub(super) fn first(&self) -> usize {
        self.first
    }

    /// Called under the lock of `Permits` when `lacking` has changed.
    pub(super) fn set_lacking(&self, lacking: bool) {
        self.lacking.store(lacking, Ordering::Relaxed);
    }

    /// Relaxed: a thread that sees an old value learns the new value under the lock, or threads that were started
    /// meanwhile find its work.
    #[inline]
    pub(super) fn is_lacking(&self) -> bool {
        self.lacking.load(Ordering::Relaxed)
    }
}

impl<P: Platform> Registry<P> {
    /// Makes the pool start its threads when they are needed. Called before any other thread knows the pool.
    pub(super) fn begin_absent(&self) {
        self.change_permits(|permits| {
            permits.be_absent(self.thread_set().first < self.mailboxes().len())
        });
    }

    /// Whether threads that could take posted work are absent, as a hint.
    pub(crate) fn is_lacking(&self) -> bool {
        self.thread_set().is_lacking()
    }

    /// Starts the threads of the pool, if they are absent.
    ///
    /// The calling thread may be a thread of the pool that runs a start or exit handler or a destructor. Such a thread
    /// does not wait for the lock: the lock's holder starts the threads, or waits for this thread's end.
    pub(super) fn start_threads(&self) -> io::Result<()> {
        let starting = &self.thread_set().starting;
        if self.is_own_thread() || self.is_ending_thread() {
            let started = starting.try_with(|next| self.start_from(next));
            return started.unwrap_or(Ok(()));
        }
        let started = starting.with(|next| self.start_from(next));
        if started.is_err() {
            // `have_a_thread` may have lost permit 0. Mail is not read under the lock: its jobs may need threads.
            self.read_mail_of(0);
        }
        started
    }

    /// Whether this thread is one that the pool has started.
    fn is_own_thread(&self) -> bool {
        Context::worker_below(self).is_some_and(Worker::is_own)
    }

    /// Whether this thread is one that the pool has started, and runs destructors of thread-locals: it has no context
    /// any more.
    pub(super) fn is_ending_thread(&self) -> bool {
        self.threads().is_ending(P::thread_id())
    }

    fn start_from(&self, next: &mut usize) -> io::Result<()> {
        if self.change_permits(|permits| permits.thread_state()) != ThreadState::Absent {
            return Ok(());
        }
        while *next < self.mailboxes().len() {
            self.start_worker(*next, *next, None)?;
            *next += 1;
        }
        if self.mailboxes().len() == 1 {
            self.have_a_thread()?;
        }
        self.change_permits(|permits| permits.be_present());
        Ok(())
    }

    /// Makes sure that there are threads to run a detached task, and then counts the task.
    ///
    /// # Panics
    ///
    /// If the system refuses a thread.
    pub(super) fn count_detached_for_threads(&self) {
        loop {
            let state = self.change_permits(|permits| {
                let state = permits.thread_state();
                // If a handler of a thread of the pool posts the task, at least that thread can run the task. If a
                // destructor posts the task while the threads end, they are started again.
                let is_own = || {
                    self.is_own_thread() || state == ThreadState::Leaving && self.is_ending_thread()
                };
                if state == ThreadState::Present || is_own() {
                    self.count_detached();
                    return ThreadState::Present;
                }
                state
            });
            match state {
                ThreadState::Present => return,
                ThreadState::Leaving => self.await_end(),
                ThreadState::Absent => self.need_threads(),
            }
        }
    }

    /// As `start_threads`, for work that only the pool's threads can do.
    ///
    /// # Panics
    ///
    /// If the system refuses a thread.
    #[inline(never)]
    pub(super) fn need_threads(&self) {
        if let Err(error) = self.start_threads() {
            panic!("cannot start a thread for detached jobs: {error}");
        }
    }

    /// Waits until the leaving threads have ended.
    fn await_end(&self) {
        self.thread_set().starting.with(|_| ());
    }

    /// Runs `scope` on this thread, which is not a worker. The pool's threads do not end meanwhile.
    ///
    /// If they are ending, and this thread is one of them, it becomes a worker again: a thread that waits for this
    /// thread's end starts no others for the call.
    pub(super) fn with_registration<R>(&self, scope: impl FnOnce(Option<&Worker<P>>) -> R) -> R {
        let here = P::thread_id();
        let enter = || {
            self.change_permits(|permits| {
                let enters = permits.thread_state() != ThreadState::Leaving;
                let stay = || {
                    permits.enter_scope(here);
                    Stay {
                        registry: self,
                        in_scope: Some(here),
                    }
                };
                enters.then(stay)
            })
        };
        let _stay = loop {
            match enter() {
                Some(stay) => break stay,
                None if self.is_ending_thread() => {
                    return self.come_again(|worker| scope(Some(worker)));
                }
                None => self.await_end(),
            }
        };
        scope(None)
    }

    /// Runs `op` as a worker that has no thread, with a permit that another thread has left.
    fn come_again<R>(&self, op: impl FnOnce(&Worker<P>) -> R) -> R {
        /// Leaves the pool again, even if `op` panics.
        struct Again<'a, P: Platform>(&'a Worker<P>);
        impl<P: Platform> Drop for Again<'_, P> {
            fn drop(&mut self) {
                self.0.registry().leave_again(self.0);
            }
        }
        let worker = self.become_spare_worker();
        let _again = Again(worker);
        Context::of_worker(worker).enter(|| {
            worker.regain_permit();
            op(worker)
        })
    }

    /// Takes a worker that has no thread, for this thread.
    #[cold]
    #[inline(never)]
    pub(super) fn become_spare_worker(&self) -> &Worker<P> {
        let id = self.spare_worker().expect("memory for a worker");
        let worker = self.worker(id);
        // If the system refused a thread for this worker, the worker may still have a permit's number.
        worker.holding().clear();
        worker
    }

    /// Ends what [`become_spare_worker`](Self::become_spare_worker) began.
    #[cold]
    #[inline(never)]
    pub(super) fn leave_again(&self, worker: &Worker<P>) {
        Context::of_worker(worker).enter(|| worker.leave_for_good());
        self.change_permits(|permits| permits.keep_spare(worker.id()));
        Context::<P>::come_back();
    }

    /// Whether the thread with this id is in a scope of the pool without being a worker.
    pub(super) fn is_in_scope(&self, thread: u64) -> bool {
        self.change_permits(|permits| permits.is_in_scope(thread))
    }

    /// Ends the threads of this pool, which stays usable; see [`Pool::end_threads`](super::Pool).
    #[inline(never)]
    pub(super) fn end_threads(&self) -> bool {
        self.shared().check_fork();
        if !self.thread_set().returns
            || !self.tells_of_vacancies()
            || Context::worker_below(self).is_some()
            || self.is_in_scope(P::thread_id())
            || self.is_ending_thread()
            || Call::is_inside(self)
        {
            return false;
        }
        let end = || {
            while !self.end_if_quiet() {
                P::yield_now();
                let nobody = Parker::<P>::asleep();
                nobody.sleep(Parker::<P>::ASLEEP, Some(QUIET_LOOK));
            }
        };
        if Context::<P>::is_taken() {
            // Jobs that run here may need this thread's permit in another pool in order to end.
            Context::<P>::without_permits(end);
        } else {
            end();
        }
        true
    }

    /// Ends the threads if the pool is quiet. Returns `false` if it is not quiet.
    fn end_if_quiet(&self) -> bool {
        self.thread_set().starting.with(|next| {
            // A caller that runs a loop alone starts the monitor, even in a pool without other threads.
            if self.threads().are_none() && !self.monitor().has_thread() {
                return true;
            }
            let quiet = self.change_permits(|permits| {
                permits.end_if_quiet(self.keeps_caller_slot(), self.has_detached())
            });
            if !quiet {
                return false;
            }
            // Handlers and destructors may broadcast. Threads that were never started read no mail (jobs that were
            // sent), nor does the thread that has closed the caller slot. So other workers may take their mail.
            for mailbox in &self.mailboxes()[*next..] {
                mailbox.desert();
            }
            self.end(!self.keeps_caller_slot());
            self.join_threads();
            self.revive(next);
            true
        })
    }

    /// Returns the pool to its state before its threads were started. Called when all of them have ended.
    fn revive(&self, next: &mut usize) {
        let threads = self.mailboxes().len();
        for worker in self.workers().iter() {
            worker.end().reset();
            match worker.id() {
                id if id < threads => worker.set_permit(id),
                _ => worker.holding().clear(),
            }
        }
        self.mailboxes()
            .iter()
            .for_each(|mailbox| mailbox.come_back());
        self.shared().clear_terminating();
        self.monitor().reopen();
        *next = self.thread_set().first;
        let spawned = self.change_permits(|permits| {
            let spawned = self.has_detached();
            permits.reopen(
                threads..self.workers().len(),
                *next < threads,
                self.keeps_caller_slot(),
                spawned,
            );
            spawned
        });
        if spawned && self.start_from(next).is_ok() {
            self.fill_caller_slot();
        }
    }

    /// Makes sure that no more threads of the pool are started, since it is about to end. Every worker may take
    /// the mail of a thread that was not started.
    pub(super) fn start_no_more(&self) {
        self.thread_set().starting.with(|next| {
            self.change_permits(|permits| {
                if permits.thread_state() == ThreadState::Absent {
                    let permits_left = *next..self.mailboxes().len();
                    (permits_left.clone()).for_each(|permit| self.mailboxes()[permit].desert());
                    permits.start_no_more(permits_left);
                }
            });
        });
    }
}
