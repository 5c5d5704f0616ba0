//! Entering a pool: as one of its workers, as a caller that takes the caller slot (the right to be worker 0), or by
//! handing the call to a worker.

use super::call_back::Call;
use super::context::Context;
use super::job::Job;
use super::oneshot::Oneshot;
use super::registry::Registry;
use super::worker::Worker;
use manycore_platform::Platform;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

/// A thread in the caller slot. When this value is dropped, also by a panic, the thread leaves the slot.
struct EnteredCaller<'a, P: Platform>(&'a Registry<P>);

impl<P: Platform> Drop for EnteredCaller<'_, P> {
    #[inline]
    fn drop(&mut self) {
        if !self.0.shared().caller_slot().leave() {
            self.0.leave_slowly();
        }
        Context::<P>::come_back();
    }
}

/// A caller that is counted as waiting until this value is dropped. The count must end by a drop, because a post may
/// panic if the system refuses a thread.
struct WaitingCaller<'a, P: Platform>(&'a Registry<P>);

impl<'a, P: Platform> WaitingCaller<'a, P> {
    fn new(registry: &'a Registry<P>) -> Self {
        registry.shared().idle().caller_waits();
        Self(registry)
    }
}

impl<P: Platform> Drop for WaitingCaller<'_, P> {
    fn drop(&mut self) {
        self.0.shared().idle().caller_runs();
    }
}

impl<P: Platform> Registry<P> {
    /// Runs `op`, which is a loop, as a worker of this pool. If the caller slot is taken, `op` runs on a thread of the
    /// pool, and otherwise on this thread.
    #[inline(always)]
    pub(crate) fn inside(&self, op: impl FnOnce() + Send) {
        if Context::is_inside(self.shared()) {
            op();
            return;
        }
        self.shared().check_fork();
        if !Context::<P>::is_taken() && self.shared().caller_slot().take() {
            let _entered = EnteredCaller(self);
            self.shared().caller_context().get().enter(op);
        } else {
            let mut op = Some(op);
            let mut once = || op.take().expect("a loop is run once")();
            self.run_elsewhere(&mut once);
        }
    }

    /// Runs `op` as a worker of the pool. If the current thread is a worker, or the caller slot is free, `op` runs on
    /// the current thread. Otherwise another worker may run it. The second argument of `op` says whether `op` was
    /// moved to another thread.
    #[inline]
    pub(crate) fn enter<R: Send>(&self, op: impl FnOnce(&Worker<P>, bool) -> R + Send) -> R {
        match Context::worker_of(self) {
            Some(worker) => op(worker, false),
            None => self.enter_from_outside(op),
        }
    }

    /// Runs `op` as `worker`. This thread must be that worker, but its newest call may be in another pool.
    pub(super) fn be<R>(worker: &Worker<P>, op: impl FnOnce(&Worker<P>) -> R) -> R {
        // The thread may have given this worker's permit (its right to run jobs) away while the thread was blocked in
        // the other pool.
        worker.regain_permit();
        /// Returns to the pool of the previous context, even if `op` panics.
        struct Back<P: Platform>(std::marker::PhantomData<P>);
        impl<P: Platform> Drop for Back<P> {
            fn drop(&mut self) {
                Context::<P>::come_back();
            }
        }
        let _back = Back::<P>(std::marker::PhantomData);
        Context::of_worker(worker).enter(|| op(worker))
    }

    /// Runs `op` on this thread, with its worker if the thread is or can become a worker of the pool.
    pub(super) fn in_place<R>(&self, op: impl FnOnce(Option<&Worker<P>>) -> R) -> R {
        if let Some(worker) = Context::worker_of(self) {
            return op(Some(worker));
        }
        self.shared().check_fork();
        if let Some(worker) = Context::worker_below(self) {
            Self::be(worker, |worker| op(Some(worker)))
        } else if self.shared().caller_slot().take() {
            self.enter_as_caller(|worker| op(Some(worker)))
        } else {
            self.with_registration(op)
        }
    }

    /// As `in_place`, for the body of a scope, which may block until jobs that it has spawned have run. If only one
    /// permit may run, a caller from outside does not take it, so that a thread of the pool can run the jobs.
    pub(super) fn scope_in_place<R>(&self, op: impl FnOnce(Option<&Worker<P>>) -> R) -> R {
        let shared = self.shared();
        if shared.allowed() > 1
            || Context::worker_below(self).is_some()
            || shared.threads() > 1 && !self.has_thread_beside_caller()
        {
            return self.in_place(op);
        }
        self.shared().check_fork();
        self.with_registration(op)
    }

    /// Whether a thread of the pool can run jobs with permit 0 while a caller waits outside. Starts a thread if
    /// necessary. If the system refuses the thread, or the pool has no reserve, the caller runs the jobs itself.
    #[cold]
    #[inline(never)]
    pub(super) fn has_thread_beside_caller(&self) -> bool {
        self.shared().check_fork();
        // If the slot has another holder, the caller stays outside in any case.
        let successor = self.change_permits(|permits| match permits.has_idle() {
            true => None,
            false => permits.summon(),
        });
        successor.is_none_or(|successor| self.pass_on_or_lose(0, &successor))
    }

    fn enter_from_outside<R: Send>(&self, op: impl FnOnce(&Worker<P>, bool) -> R + Send) -> R {
        self.shared().check_fork();
        if Context::worker_below(self).is_none() && self.shared().caller_slot().take() {
            return self.enter_as_caller(|worker| op(worker, false));
        }
        let (mut op, mut result) = (Some(op), None);
        let mut once = |worker: &Worker<P>, moved: bool| {
            let op = op.take().expect("a call is run once");
            result = Some(op(worker, moved));
        };
        self.enter_slowly(&mut once);
        result.expect("the call has run")
    }

    /// Runs `op` as worker 0. This thread has taken the caller slot.
    pub(super) fn enter_as_caller<R>(&self, op: impl FnOnce(&Worker<P>) -> R) -> R {
        let _entered = EnteredCaller(self);
        let context = self.shared().caller_context().get();
        context.enter(|| op(self.worker(0)))
    }

    /// Runs `op` once. This thread runs `op` in one of three ways: as the worker that it already is, if its newest
    /// call is in another pool; in the vacant caller slot; or with the permit of a worker that sleeps. If none of
    /// these is possible, a worker runs `op`, and this thread waits. The type of `op` is erased, so that this function
    /// and what it calls are compiled once.
    #[cold]
    #[inline(never)]
    pub(super) fn enter_slowly(&self, op: &mut (dyn FnMut(&Worker<P>, bool) + Send + '_)) {
        if let Some(worker) = Context::worker_below(self) {
            return Self::be(worker, |worker| op(worker, false));
        }
        if self.shared().caller_slot().take() || self.enters_vacant_slot() {
            return self.enter_as_caller(|worker| op(worker, false));
        }
        if self.is_ending_thread() {
            return self.with_registration(|worker| match worker {
                Some(worker) => op(worker, false),
                None => self.run_by_others(op),
            });
        }
        self.run_by_others(op);
    }

    /// Runs `op` with the permit of a worker that sleeps, or has a worker run it.
    fn run_by_others(&self, op: &mut (dyn FnMut(&Worker<P>, bool) + Send + '_)) {
        if let Some(visit) = self.visit() {
            return visit.run(|worker| op(worker, false));
        }
        let mut result = Ok(());
        let slot = &raw mut result;
        let body = || {
            let run = || {
                let worker = Context::worker_of(self).expect("jobs are run by workers");
                op(worker, true)
            };
            let returned = catch_unwind(AssertUnwindSafe(run));
            // SAFETY: the slot is on the caller's stack, and the caller waits.
            unsafe { *slot = returned };
        };
        // SAFETY: `op` is `Send`, and so is a panic. `slot` is on the stack of this thread, and this thread waits.
        // `body` catches the panics of `op`.
        unsafe { self.hand_in_and_wait(body) };
        // `body` wrote the result before the job notified the oneshot (the event for which this thread waits).
        if let Err(payload) = result {
            resume_unwind(payload);
        }
    }

    /// Enters the caller slot if it is vacant.
    #[inline(never)]
    fn enters_vacant_slot(&self) -> bool {
        self.shared().caller_slot().is_vacant() && self.change_permits(|permits| permits.enter())
    }

    /// Hands `body` to a worker, and waits until it has run.
    ///
    /// # Safety
    ///
    /// Another thread may run `body` while this thread waits. `body` does not unwind.
    unsafe fn hand_in_and_wait(&self, body: impl FnOnce()) {
        let oneshot = Arc::new(Oneshot::<P>::new());
        let notifier = Arc::clone(&oneshot);
        let call = Call::new(&oneshot);
        let (registry, of): (*const Self, _) = (self, &raw const call);
        let body = move || {
            // If another pool calls back into this pool, the context in this pool is below contexts in other pools.
            // SAFETY: the registry outlives its jobs.
            let worker = Context::worker_below(unsafe { &*registry });
            let worker = worker.expect("jobs are run by workers");
            Self::be(worker, |worker| {
                Context::within_call(worker, of).enter(body)
            });
        };
        let posted = Cell::new(true);
        let is_posted = &raw const posted;
        // SAFETY: this thread owns `posted` and all that `body` borrows, and waits until it is notified. The
        // notification comes after `body`, and after the last use of `posted`. The rest is the caller's promise.
        let mut job = unsafe {
            Job::before(body, move || {
                if (*is_posted).get() {
                    // The registry outlives its jobs, and its workers.
                    (*registry).end_detached();
                }
                notifier.notify();
            })
        };
        if let Some(outer) = Call::back_to(self) {
            posted.set(false);
            // SAFETY: this thread runs the call `outer`, or a call inside it, and waits until the job has run. So no
            // other thread calls back, and the call `outer` ends later.
            match unsafe { outer.oneshot().call_back(job) } {
                Ok(()) => return self.await_oneshot(&oneshot),
                Err(refused) => job = refused,
            }
            posted.set(true);
        }
        self.post_and_wait(job, &oneshot);
    }

    /// Posts a job, and waits until it notifies `oneshot`.
    #[inline(never)]
    pub(super) fn post_and_wait(&self, job: Job, oneshot: &Oneshot<P>) {
        let _waits = WaitingCaller::new(self);
        self.post_detached(job);
        self.await_oneshot(oneshot);
    }

    /// Blocks this thread, which is no worker of this pool, until `oneshot` is notified.
    #[inline(never)]
    pub(super) fn await_oneshot(&self, oneshot: &Oneshot<P>) {
        Context::block_on(self.shared(), oneshot, || self.has_spare_core());
    }

    /// [`inside`](Self::inside) for a thread that works for another pool, or has found the caller slot taken.
    #[cold]
    pub(super) fn run_elsewhere(&self, op: &mut (dyn FnMut() + Send + '_)) {
        self.enter_slowly(&mut |_, _| op());
    }
}
