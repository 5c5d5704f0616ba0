//! What a thread is to a pool: a worker with a rank, or a visitor that posts
//! loops; and the loop in which a worker spends its life.

use super::Shared;
use super::board::Part;
use super::crew::{Crew, Worker};
use super::gate::Left;
use super::leapfrog::PATIENCE;
use super::search::{Look, Waits};
use crate::sleep::policy::Policy;
use crate::sleep::{Latch, Nearest, Sleep, Woken};
use manycore_platform::{Atomic, Ordering, Platform};
use std::cell::Cell;

/// The rank of a thread that is none of the pool's workers. Workers have the
/// ranks from 1.
pub(crate) const VISITOR: usize = 0;

/// What this thread is doing for a pool, kept in the platform's thread slot
/// and on the thread's own stack.
pub(crate) struct Context<P: Platform> {
    pool: *const Shared<P>,
    pub(crate) rank: usize,
    /// The slot of the loop whose body the thread is running.
    pub(crate) running: Option<usize>,
    /// The worker that the thread is, if the pool has the default policy; else
    /// null. What the crate's free functions look up: one load, one test.
    default: *const Worker<P, Nearest<P>>,
    /// The `Worker<P, S>` that the thread is; none: a visitor that has not taken
    /// the seat.
    worker: Option<Identity>,
    /// What the thread was before, to this pool or another: it still is.
    outer: Cell<*const Self>,
}

#[derive(Clone, Copy)]
struct Identity {
    worker: *const (),
    /// Has the worker run a call that was handed in, if there is one.
    serve: unsafe fn(*const ()) -> bool,
}

impl<P: Platform> Context<P> {
    fn visitor(pool: &Shared<P>) -> Self {
        Self {
            pool,
            rank: VISITOR,
            running: None,
            default: std::ptr::null(),
            worker: None,
            outer: Cell::new(std::ptr::null()),
        }
    }

    /// The context of a thread that is `worker`.
    pub(super) fn of_worker<S: Sleep<P>>(worker: &Worker<P, S>) -> Self {
        unsafe fn serve<P: Platform, S: Sleep<P>>(worker: *const ()) -> bool {
            // SAFETY: the worker below, whose thread this is.
            unsafe { (*worker.cast::<Worker<P, S>>()).serve() }
        }
        Self {
            pool: &raw const worker.crew().shared,
            rank: worker.known.index,
            running: None,
            default: if S::ID == Nearest::<P>::ID {
                std::ptr::from_ref(worker).cast()
            } else {
                std::ptr::null()
            },
            worker: Some(Identity {
                worker: std::ptr::from_ref(worker).cast(),
                serve: serve::<P, S>,
            }),
            outer: Cell::new(std::ptr::null()),
        }
    }

    #[inline(always)]
    fn slot<'a>() -> Option<&'a Self> {
        // SAFETY: the slot is null or was set by `enter` to a context on this
        // thread's stack that lives until `enter` resets the slot (or by
        // `adopt`, for ever). One platform's slots only ever hold that
        // platform's contexts. Callers drop it before they return to `enter`.
        unsafe { P::slot().cast::<Self>().as_ref() }
    }

    /// What the current thread is to `pool`: a visitor, unless it is one of
    /// its workers or runs one of its loops.
    pub(crate) fn current(pool: &Shared<P>) -> Self {
        match Self::slot() {
            Some(context) if std::ptr::eq(context.pool, pool) => context.copy(),
            _ => Self::visitor(pool),
        }
    }

    fn copy(&self) -> Self {
        Self {
            outer: Cell::new(std::ptr::null()),
            ..*self
        }
    }

    /// This context, inside the body of the loop in `slot`.
    pub(crate) fn inside(&self, slot: usize) -> Self {
        Self {
            running: Some(slot),
            ..self.copy()
        }
    }

    /// The worker of `crew` that the current thread is, and is busy as.
    #[inline(always)]
    pub(super) fn worker_of<S: Sleep<P>>(crew: &Crew<P, S>) -> Option<&Worker<P, S>> {
        Self::slot()?.as_worker_of(crew)
    }

    #[inline(always)]
    fn as_worker_of<'a, S: Sleep<P>>(&self, crew: &'a Crew<P, S>) -> Option<&'a Worker<P, S>> {
        if !std::ptr::eq(self.pool, &raw const crew.shared) {
            return None;
        }
        // SAFETY: `of_worker` of a worker of this very crew, so of its type.
        self.worker
            .map(|identity| unsafe { &*identity.worker.cast::<Worker<P, S>>() })
    }

    /// The worker of `crew` that the current thread is, even if it is in the midst
    /// of another pool's work that it came to by way of this one's.
    pub(super) fn worker_below<S: Sleep<P>>(crew: &Crew<P, S>) -> Option<&Worker<P, S>> {
        Self::chain().find_map(|context| context.as_worker_of(crew))
    }

    /// This thread's contexts, from the newest.
    fn chain<'a>() -> impl Iterator<Item = &'a Self> {
        // SAFETY: an outer context is on the same stack, further down, and `enter`
        // has not returned to it.
        std::iter::successors(Self::slot(), |context| unsafe {
            context.outer.get().as_ref()
        })
    }

    /// The worker that the current thread is, of whatever pool with the default
    /// policy.
    #[inline(always)]
    pub(super) fn own_worker<'a>() -> Option<&'a Worker<P, Nearest<P>>> {
        // SAFETY: null, or `of_worker` of a worker of that type: policies have
        // different numbers. It lives as long as this thread is it.
        unsafe { Self::slot()?.default.as_ref() }
    }

    /// Runs a call that was handed in to a pool of which the current thread is a
    /// worker, or sent to it, whatever it is doing now; `false`: there was none.
    ///
    /// Every wait does this. Who hands in a call, or broadcasts, blocks on it, and
    /// what is waited for here may have come to depend on that one: through pools
    /// that call each other, or in a loop whose helper broadcasts.
    pub(super) fn serve_any() -> bool {
        Self::chain()
            .filter_map(|context| context.worker)
            // SAFETY: they belong together, and the thread is the worker.
            .any(|identity| unsafe { (identity.serve)(identity.worker) })
    }

    /// Whether this thread is a worker of another pool than `pool` as well: then
    /// not all that it may have to do is announced in `pool`.
    pub(super) fn is_elsewhere(pool: &Shared<P>) -> bool {
        Self::chain().any(|context| context.worker.is_some() && !std::ptr::eq(context.pool, pool))
    }

    /// Runs `body` with `self` as the thread's context.
    pub(crate) fn enter<R>(&self, body: impl FnOnce() -> R) -> R {
        /// Resets the slot, also when `body` panics.
        struct Reset<P: Platform>(*const (), std::marker::PhantomData<P>);
        impl<P: Platform> Drop for Reset<P> {
            fn drop(&mut self) {
                P::set_slot(self.0);
            }
        }
        let _reset = Reset::<P>(P::slot(), std::marker::PhantomData);
        self.outer.set(P::slot().cast());
        P::set_slot(std::ptr::from_ref(self).cast());
        body()
    }

    /// Makes `self` the thread's context for as long as the thread lives.
    pub(super) fn adopt(self) {
        P::set_slot(Box::into_raw(Box::new(self)).cast_const().cast());
    }

    /// Whether the current thread is a worker, or in a call, of any pool.
    pub(super) fn is_taken() -> bool {
        Self::slot().is_some()
    }
}

impl<P: Platform, S: Sleep<P>> Worker<P, S> {
    /// The life of a worker: look for work, do it, wait for more.
    pub(super) fn work(&self) {
        let (crew, sleep, me) = (self.crew(), self.sleep(), self.known.index);
        let shared = &crew.shared;
        let latch = &self.state.end;
        let scan = Look {
            worker: self,
            waits: Waits::Idle,
        };
        let mut last = me;
        let mut misses = 0;
        let mut idle = sleep.start_looking(me);
        loop {
            if self.must_stand_aside() {
                sleep.work_found(me, idle);
                self.stand_aside();
                idle = sleep.start_looking(me);
                misses = 0;
            }
            // Read before looking: a post after this cannot be slept through.
            self.state.seen.set(shared.idle.events.seen());
            // Worker 0 has the rank of the callers of loops.
            let helped = if me == VISITOR {
                None
            } else {
                shared.help_any(me, last, S::woken(&idle))
            };
            if let Some(slot) = helped {
                last = slot;
                S::helped(&mut idle);
                sleep.work_found(me, idle);
                idle = sleep.start_looking(me);
                S::helped(&mut idle);
                misses = 0;
                continue;
            }
            if let Some(found) = self.find_any(misses < PATIENCE) {
                shared.set_busy(me, true);
                sleep.work_found(me, idle);
                self.run(found);
                idle = sleep.start_looking(me);
                misses = 0;
                continue;
            }
            // Jobs that are left may spawn more. Acquire pairs with the release in
            // `one_less_pending`: they are over before the pool is.
            if shared.is_terminating() {
                if crew.pending.load(Ordering::Acquire) == 0 && self.mailbox.leave() {
                    sleep.work_found(me, idle);
                    return;
                }
                P::yield_now();
            }
            misses += 1;
            shared.set_busy(me, false);
            sleep.no_work_found(me, &mut idle, latch, &scan);
        }
    }

    /// Waits for the end of a scope, running whatever comes, to a bounded depth:
    /// beyond it, or if the allotment does not allow this worker, only what it has
    /// spawned itself.
    pub(super) fn wait_in_scope(&self, latch: &Latch<P>) {
        /// Strangers' jobs on top of each other on one waiting stack.
        const DEPTH: u32 = 8;
        if latch.probe() {
            return;
        }
        let depth = self.state.depth.get();
        self.state.depth.set(depth + 1);
        self.wait_for(latch, Waits::ForScope, |worker, patient| {
            if depth < DEPTH && worker.takes_anything() {
                return worker.find_any(patient);
            }
            worker.find_own().or_else(|| worker.find_left())
        });
        self.state.depth.set(depth);
    }

    /// Runs a call that was handed in, or sent to this worker; `false`: there was
    /// none.
    fn serve(&self) -> bool {
        let handed_in = || self.crew().handed_in.take_first();
        let Some(job) = self.mailbox.take_first().or_else(handed_in) else {
            return false;
        };
        // As this worker, whatever the thread has become since.
        Context::of_worker(self).enter(|| job.run(true));
        true
    }
}

impl<P: Platform> Shared<P> {
    /// Joins the first open loop found and works in it until nothing is left
    /// to claim; returns its slot.
    pub(super) fn help_any(&self, rank: usize, last: usize, woken: Option<Woken>) -> Option<usize> {
        // A spinner was told of a post, most likely where the last one was.
        // Joining without looking first makes one transfer of the gate's line
        // out of two.
        if woken == Some(Woken::Spinning) && self.help(last, rank, woken, |_| true) {
            return Some(last);
        }
        self.board
            .inviting(last)
            .find(|&slot| self.help(slot, rank, woken, |_| true))
    }

    /// Joins the loop in `slot` if it is open, wants another helper and is
    /// `wanted`; works in it until nothing is left to claim.
    pub(crate) fn help(
        &self,
        slot: usize,
        rank: usize,
        woken: Option<Woken>,
        wanted: impl Fn(usize) -> bool,
    ) -> bool {
        let gate = self.board.slot(slot).gate();
        // Three lines on the way at once instead of one after the other: the
        // gate's, and, if all is as last time, the claim word and the frame. Relaxed:
        // an address to prefetch, which nobody follows.
        self.board.slot(slot).prefetch(rank);
        P::prefetch(self.ranks[rank].last_frame.load(Ordering::Relaxed));
        let others = match gate.join() {
            Ok(others) => others,
            Err(left) => {
                self.tell(left);
                return false;
            }
        };
        // SAFETY: this thread is inside the gate until `leave` below.
        let job = unsafe { self.board.slot(slot).job() };
        let helps = others < job.helpers && wanted(slot);
        if helps {
            if woken == Some(Woken::Sleeping) {
                self.wake_more(rank, job.helpers - others - 1);
            }
            self.ranks[rank]
                .last_frame
                .store(job.frame.cast_mut(), Ordering::Relaxed);
            let context = Context::current(self).inside(slot);
            debug_assert_eq!(context.rank, rank);
            // SAFETY: inside the gate the frame is alive and ready, and `rank`
            // is ours alone in this loop: a worker's is its own, and the only
            // visitor that helps is the poster of an ancestor (`Loop::wait`).
            match context.enter(|| unsafe { (job.run)(job.frame, rank) }) {
                // Nothing is left to claim, so nobody else need come.
                Part::Done => self.tell(gate.leave_closed()),
                Part::Left => self.tell(gate.leave()),
                Part::Abandoned => {
                    // Whatever the gate says, the caller must look: `wait`. Of the
                    // frame nothing may be touched any more.
                    let _ = gate.leave();
                    self.tell(Left::LastAwaited);
                }
            }
        } else {
            self.tell(gate.leave());
        }
        helps
    }

    /// Passes a wake-up on to two more: a sleeping crowd is woken as a tree.
    fn wake_more(&self, rank: usize, wanted: u32) {
        let count = wanted.min(2).min(self.alarm.sleepers());
        if count > 0 {
            self.wake(rank, count);
        }
    }

    /// Wakes the caller that sleeps until its last helper has left.
    fn tell(&self, left: Left) {
        if left == Left::LastAwaited {
            self.idle.events.post();
            self.idle.events.wake(u32::MAX);
        }
    }
}
