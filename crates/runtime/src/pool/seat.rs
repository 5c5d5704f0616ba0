//! The seat of worker 0: how a thread that is none of the pool's takes part.
//!
//! A pool of n threads has n - 1 workers of its own. Whoever calls
//! [`install`](crate::Pool::install), `join`, `scope` from outside sits down as
//! worker 0 and runs the call itself: nothing is handed over, and nobody is
//! woken for it. One can sit at a time, so that no more than n threads work and
//! indices are unique; others hand their call to the workers and wait.
//!
//! Where there must be a thread whether anybody calls or not (a job spawned on a
//! pool of one thread; a pool that is `dedicated`), the pool starts one of its
//! own for the seat, which keeps it.
//!
//! A thread that a pool has adopted never gets up. What is for worker 0 waits for
//! that thread, and at the pool's end for whoever is there (`Worker::find_left`).

use super::crew::{Crew, Worker};
use super::lock::Lock;
use super::queue::Job;
use super::worker::Context;
use crate::sleep::Sleep;
use manycore_platform::{Atomic, CachePadded, Futex, Ordering, Platform};
use std::io;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

const FREE: u32 = 0;
const TAKEN: u32 = 1;
/// Taken, and the pool's own thread waits for it.
const AWAITED: u32 = 2;

/// How long a thread sleeps at a time that somebody may need whom nobody here
/// knows.
pub(super) const NAP: Duration = Duration::from_millis(1);

/// Who is worker 0.
pub(super) struct Seat<P: Platform> {
    state: CachePadded<P::Futex>,
    /// The pool's own thread for it.
    pub(super) own: Lock<P, Option<P::Thread>>,
}

impl<P: Platform> Seat<P> {
    pub(super) fn new() -> Self {
        Self {
            state: CachePadded::new(<P::Futex as Atomic<u32>>::new(FREE)),
            own: Lock::new(None),
        }
    }

    /// Sits down if nobody does. Cost: one locked instruction.
    pub(super) fn take(&self) -> bool {
        // Acquire pairs with `leave`: what the last one did to the worker's cells
        // is visible. Relaxed if somebody sits: that one is left alone.
        let take = (self.state).compare_exchange(FREE, TAKEN, Ordering::Acquire, Ordering::Relaxed);
        take.is_ok()
    }

    /// Sits down when whoever sits gets up.
    fn take_in_turn(&self) {
        // Acquire as in `take`. A swap that finds it taken has left AWAITED there:
        // whoever sits reads that on leaving, and wakes. Comparing and sleeping are
        // one step of the futex, so a leaving in between is not slept through.
        while self.state.swap(AWAITED, Ordering::Acquire) != FREE {
            self.state.wait(AWAITED, None);
        }
    }

    /// Whether somebody sits.
    ///
    /// Relaxed: nothing of that one's is read. It is asked after a fence, by who has
    /// left something for worker 0. If it says that somebody sits who has left by
    /// now, then that fence came before the one in `leave`, and who left has found
    /// it on looking afterwards (`Sitting`).
    pub(super) fn is_taken(&self) -> bool {
        self.state.load(Ordering::Relaxed) != FREE
    }

    /// Whether the pool's own thread was started.
    pub(super) fn has_own(&self) -> bool {
        self.own.with(|own| own.is_some())
    }

    fn leave(&self) {
        // Release publishes the worker's cells to who takes the seat next.
        if self.state.swap(FREE, Ordering::Release) == AWAITED {
            self.state.wake(1);
        }
        // Before the look at the mailbox in `read_mail`, against the fence of who
        // sent: one of the two sees the other's write.
        P::fence_after_rmw();
    }
}

/// Gets up, also when the call unwinds.
struct Sitting<'a, P: Platform, S: Sleep<P>>(&'a Crew<P, S>);

impl<P: Platform, S: Sleep<P>> Drop for Sitting<'_, P, S> {
    fn drop(&mut self) {
        self.0.seat.leave();
        self.0.read_mail();
        // Jobs that stay behind. Other workers were told of them; if there is none that
        // may run, and nobody sits here by now, who will come by this on leaving, the
        // pool needs a thread. The fence in `leave` is O1 of `aside.rs`.
        let alone = self.0.has_one_worker();
        if alone && !self.0.workers[0].spawned.is_empty() && !self.0.seat.is_taken() {
            self.0.need_own();
        }
        // Who has handed in a call may run it now. The fence in `leave` is against
        // that one's: either its call is seen here, or the free seat there.
        if !self.0.handed_in.is_empty() {
            self.0.shared.idle.events.post();
            self.0.shared.idle.events.wake(u32::MAX);
        }
    }
}

impl<P: Platform, S: Sleep<P>> Crew<P, S> {
    /// Runs `op` in the crew: as the worker that the current thread is, as worker
    /// 0 if the seat is free, or else on some worker. `op` learns whether it was
    /// moved to another thread.
    #[inline]
    pub(super) fn enter<R: Send>(&self, op: impl FnOnce(&Worker<P, S>, bool) -> R + Send) -> R {
        match Context::worker_of(self) {
            Some(worker) => op(worker, false),
            None => self.enter_from_outside(op),
        }
    }

    /// Runs `op` as `worker`, which this thread is.
    pub(super) fn be<R>(worker: &Worker<P, S>, op: impl FnOnce(&Worker<P, S>) -> R) -> R {
        Context::of_worker(worker).enter(|| op(worker))
    }

    /// Runs `op` on this thread, as the worker that it is or can be.
    pub(super) fn in_place<R>(&self, op: impl FnOnce(Option<&Worker<P, S>>) -> R) -> R {
        if let Some(worker) = Context::worker_of(self) {
            op(Some(worker))
        } else if let Some(worker) = Context::worker_below(self) {
            Self::be(worker, |worker| op(Some(worker)))
        } else if self.seat.take() {
            self.sit(|worker| op(Some(worker)))
        } else {
            op(None)
        }
    }

    fn enter_from_outside<R: Send>(&self, op: impl FnOnce(&Worker<P, S>, bool) -> R + Send) -> R {
        if let Some(worker) = Context::worker_below(self) {
            Self::be(worker, |worker| op(worker, false))
        } else if self.seat.take() {
            self.sit(|worker| op(worker, false))
        } else {
            self.hand_in(op)
        }
    }

    /// Runs `op` as worker 0, whose seat this thread has taken.
    pub(super) fn sit<R>(&self, op: impl FnOnce(&Worker<P, S>) -> R) -> R {
        let _sitting = Sitting(self);
        Self::be(&self.workers[0], op)
    }

    /// Has a worker run `op`, and waits for it.
    #[cold]
    fn hand_in<R: Send>(&self, op: impl FnOnce(&Worker<P, S>, bool) -> R + Send) -> R {
        let mut result = MaybeUninit::uninit();
        let place = &raw mut result;
        let done = P::AtomicBool::new(false);
        let body = || {
            let run = || {
                let worker = Context::worker_of(self).expect("jobs are run by workers");
                op(worker, true)
            };
            let returned = catch_unwind(AssertUnwindSafe(run));
            // SAFETY: the caller's own, which waits for `done`.
            unsafe { (*place).write(returned) };
        };
        // SAFETY: what `body` has of `op` and its result is `Send`, `place` is
        // this thread's, which waits, and what `op` throws is caught.
        unsafe { self.hand_in_and_wait(body, &done) };
        // SAFETY: written before `done` was set.
        match unsafe { result.assume_init() } {
            Ok(result) => result,
            Err(payload) => resume_unwind(payload),
        }
    }

    /// # Safety
    ///
    /// `body` may be run by another thread while this one waits, and does not
    /// unwind.
    unsafe fn hand_in_and_wait(&self, body: impl FnOnce(), done: &P::AtomicBool) {
        let crew: *const Self = self;
        let flag: *const P::AtomicBool = done;
        // SAFETY: this thread, which owns what `body` borrows, waits for `done`; the
        // rest is the caller's promise.
        let job = unsafe {
            Job::before(body, move || {
                // Release publishes the result. The last touch of what the waiting
                // thread owns; the event count is the pool's.
                (*flag).store(true, Ordering::Release);
                let crew = &*crew;
                crew.shared.idle.events.post();
                crew.shared.idle.events.wake(u32::MAX);
            })
        };
        self.hand_in_job(job);
        // Acquire pairs with the release above.
        self.block_on_others(|| done.load(Ordering::Acquire));
    }

    /// Puts a job where everybody looks who waits in this pool, in whatever way:
    /// this thread, which is no worker, blocks until it has run.
    pub(super) fn hand_in_job(&self, job: Job) {
        if self.has_one_worker() {
            self.need_own();
        }
        self.handed_in.push(job);
        if self.shared.idle.events.post() > 0 {
            self.shared.idle.events.wake(u32::MAX);
        }
        self.sleep.injected(0, 1, true);
    }

    /// Blocks until what this thread, which is no worker, has handed in is `done`.
    /// If worker 0 leaves, it sees to that itself.
    pub(super) fn block_on_others(&self, done: impl Fn() -> bool) {
        self.block_until(|| done() || (self.seat.take() && self.serve_seated(&done)));
    }

    /// As worker 0, whose seat this thread has taken, runs what was handed in;
    /// whether `done` afterwards.
    fn serve_seated(&self, done: impl Fn() -> bool) -> bool {
        self.sit(|_| while !done() && Context::<P>::serve_any() {});
        done()
    }

    /// Blocks until `done`, which is followed by a post, or by somebody's leaving
    /// the seat. Serves who needs this thread as a worker meanwhile.
    fn block_until(&self, done: impl Fn() -> bool) {
        let events = &self.shared.idle.events;
        // Of calls handed in to other pools this one's events do not tell.
        let nap = Context::is_elsewhere(&self.shared).then_some(NAP);
        loop {
            // Read before looking: the post that follows `done` ends the sleep.
            let seen = events.seen();
            if done() {
                return;
            }
            if !Context::<P>::serve_any() {
                events.sleep(seen, nap);
            }
        }
    }

    /// Puts a job from this thread, which is no worker, where any worker finds it;
    /// there will be one, if only an adopted thread that yields.
    pub(super) fn inject_here(&self, job: Job) {
        if self.workers.len() == 1 {
            self.need_own();
        }
        self.inject(job);
        // After the fence in `inject`: O2 of `aside.rs`.
        if self.has_one_worker() {
            self.need_own();
        }
    }

    /// Puts a job where any worker finds it.
    fn inject(&self, job: Job) {
        let was_empty = self.injector.push(job);
        self.sleep.injected(0, 1, was_empty);
    }

    /// Puts a job where only `worker` finds it. If that is worker 0 and nobody
    /// sits there, this thread does.
    pub(super) fn send(&self, worker: usize, job: Job) {
        self.workers[worker].mailbox.push(job);
        // It may wait for a loop, on the event count. The post has a fence: against
        // a sleeper's between lying down and its last look, and against
        // `Seat::leave`.
        if self.shared.idle.events.post() > 0 {
            self.shared.idle.events.wake(u32::MAX);
        }
        self.sleep.notify(worker);
    }

    /// Has worker 0's mail read if nobody sits there to read it.
    pub(super) fn read_mail(&self) {
        let worker = &self.workers[0];
        while !worker.mailbox.is_empty() && self.seat.take() {
            Self::be(worker, |worker| {
                while let Some(job) = worker.mailbox.take_first() {
                    job.run(true);
                }
            });
            self.seat.leave();
        }
    }

    /// Starts the pool's own thread for the seat, if that was not done and the seat
    /// is not an adopted thread's.
    ///
    /// # Panics
    ///
    /// If the system refuses it: what needs it would never run.
    pub(super) fn need_own(&self) {
        if let Err(error) = self.start_own() {
            panic!("cannot start a thread for jobs that nobody waits for: {error}");
        }
    }

    /// As `need_own`, for who can do without.
    #[cold]
    pub(super) fn start_own(&self) -> io::Result<()> {
        if self.adopted {
            // Another would wait for the seat for ever.
            return Ok(());
        }
        self.seat.own.with(|own| {
            if own.is_some() {
                return Ok(());
            }
            let crew = self.keep();
            // Before any caller, if nobody sits there now.
            let seated = self.seat.take();
            let body = move || {
                if !seated {
                    crew.seat.take_in_turn();
                }
                let worker = &crew.workers[0];
                Context::of_worker(worker).enter(|| worker.work());
                crew.seat.leave();
            };
            let thread = P::spawn(self.own_thread.clone(), Box::new(body));
            if thread.is_err() && seated {
                self.seat.leave();
            }
            *own = Some(thread?);
            Ok(())
        })
    }
}
