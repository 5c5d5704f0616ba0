//! What a thread is to a pool: a worker with a rank, or a visitor that posts
//! loops; and the loop in which a worker spends its life.

use super::Shared;
use super::gate::Left;
use crate::sleep::{After, Woken};
use manycore_platform::{Atomic, Ordering, Platform};

/// The rank of a thread that is none of the pool's workers. Workers have the
/// ranks from 1.
pub(crate) const VISITOR: usize = 0;

/// Workers that may spin in expectation of a loop. Each burns its core for the
/// length of the window; the first to join a loop wakes the others.
const WATCHERS: usize = 2;

/// What this thread is doing for a pool, kept in the platform's thread slot
/// and on the thread's own stack.
pub(crate) struct Context<P: Platform> {
    pool: *const Shared<P>,
    pub(crate) rank: usize,
    /// The slot of the loop whose body the thread is running.
    pub(crate) running: Option<usize>,
}

impl<P: Platform> Context<P> {
    pub(crate) fn new(pool: &Shared<P>, rank: usize, running: Option<usize>) -> Self {
        Self {
            pool,
            rank,
            running,
        }
    }

    /// What the current thread is to `pool`: a visitor, unless it is one of
    /// its workers or runs one of its loops.
    pub(crate) fn current(pool: &Shared<P>) -> Self {
        let slot = P::slot().cast::<Self>();
        // SAFETY: the slot is null or was set by `enter` to a context on this
        // thread's stack that lives until `enter` resets the slot. One
        // platform's slots only ever hold that platform's contexts.
        match unsafe { slot.as_ref() } {
            Some(context) if std::ptr::eq(context.pool, pool) => Self {
                pool,
                rank: context.rank,
                running: context.running,
            },
            _ => Self::new(pool, VISITOR, None),
        }
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
        P::set_slot(std::ptr::from_ref(self).cast());
        body()
    }
}

impl<P: Platform> Shared<P> {
    /// The life of worker `rank`: look for work, do it, wait for more.
    pub(crate) fn work(&self, rank: usize) {
        let mut last = rank;
        let mut woken = None;
        let mut after = After::Looking;
        loop {
            // Read before looking: a post after this cannot be slept through.
            let seen = self.idle.events.seen();
            if let Some(slot) = self.help_any(rank, last, woken) {
                last = slot;
                woken = None;
                after = After::Helping;
                continue;
            }
            // Acquire pairs with the release in `Pool::drop`, whose post after
            // it ends a wait.
            if self.terminating.load(Ordering::Acquire) {
                return;
            }
            if woken == Some(Woken::Sleeping) {
                after = After::Sleeping;
            }
            self.ranks[rank].busy.store(false, Ordering::Relaxed);
            woken = Some(self.idle.wait(seen, rank <= WATCHERS, after));
            self.ranks[rank].busy.store(true, Ordering::Relaxed);
            after = After::Looking;
        }
    }

    /// Joins the first open loop found and works in it until nothing is left
    /// to claim; returns its slot.
    fn help_any(&self, rank: usize, last: usize, woken: Option<Woken>) -> Option<usize> {
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
        // gate's, and, if all is as last time, the claim word and the frame.
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
                self.wake_more(job.helpers - others - 1);
            }
            self.ranks[rank]
                .last_frame
                .store(job.frame.cast_mut(), Ordering::Relaxed);
            let context = Context::new(self, rank, Some(slot));
            // SAFETY: inside the gate the frame is alive and ready, and `rank`
            // is ours alone in this loop: a worker's is its own, and the only
            // visitor that helps is the poster of an ancestor (`Loop::wait`).
            context.enter(|| unsafe { (job.run)(job.frame, rank) });
            // Nothing is left to claim, so nobody else need come.
            self.tell(gate.leave_closed());
        } else {
            self.tell(gate.leave());
        }
        helps
    }

    /// Passes a wake-up on to two more: a sleeping crowd is woken as a tree.
    fn wake_more(&self, wanted: u32) {
        let count = wanted.min(2).min(self.idle.events.sleepers());
        if count > 0 {
            self.idle.wake(count);
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
