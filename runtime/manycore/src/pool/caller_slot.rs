//! The caller slot: the way by which a thread from outside takes part.
//!
//! A pool of n threads has n places (`places.rs`), and starts n - 1 threads. Place 0 is
//! for callers: a thread that calls the pool from outside enters as worker 0 and
//! runs the call itself, so that nothing is handed over and nobody is woken. If the
//! slot is taken, the call goes to the pool's queue, in order of arrival, and the
//! caller blocks.
//!
//! # States
//!
//! The caller slot is one word of four bits.
//!
//! | bits | holder of worker 0's stack | holder of place 0 |
//! |---|---|---|
//! | none | nobody | nobody |
//! | CALLER | a caller | that caller |
//! | CALLER, HELD | a caller that waits, or has another place by now | a thread of the pool |
//! | HELD | nobody | a thread of the pool |
//! | VACANT | nobody | nobody, and jobs may be waiting for it |
//!
//! NEEDED comes with CALLER: when the caller leaves, somebody must see to the pool's
//! jobs. A pool has jobs of its own, which are no part of a caller's call, while
//! `Registry::roots` is not 0: detached ones, and calls from the queue.
//!
//! # Transitions
//!
//! * A caller enters (none to CALLER) and leaves (CALLER to none): one locked
//!   instruction each. All others are made under the lock of `Places`.
//! * A root is posted (`Registry::need_caller_slot`): none to VACANT, or CALLER to CALLER, NEEDED.
//! * The caller slot is filled (`Registry::fill_caller_slot`): VACANT to HELD, with a thread of the pool,
//!   which may be started for it. A thread that pushes a job and finds no sleeper does so,
//!   told by the sleep policy (`Sleep::set_vacant`).
//! * The last root ends: VACANT to none. HELD to none is for the thread that holds it,
//!   when it finds no work.
//! * A caller that is needed leaves (`Registry::leave_slowly`): to none if there is no root any
//!   more, else to VACANT, or to HELD if somebody waits.

use super::context::Context;
use super::job::Job;
use super::registry::Registry;
#[cfg(test)]
use crate::conserving::fault;
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Ordering, Platform};
use std::sync::OnceLock;

pub(super) const CALLER: u32 = 1;
pub(super) const HELD: u32 = 2;
pub(super) const VACANT: u32 = 4;
pub(super) const NEEDED: u32 = 8;

/// The caller slot's word.
pub(crate) struct CallerSlot<P: Platform>(CachePadded<P::AtomicU32>);

impl<P: Platform> CallerSlot<P> {
    pub(super) fn new() -> Self {
        Self(CachePadded::new(P::AtomicU32::new(0)))
    }

    pub(super) fn name(&self) {
        P::name(&self.0, "pool: caller slot");
    }

    /// Enters if no caller has. Cost: one locked instruction.
    #[inline]
    pub(crate) fn take(&self) -> bool {
        // Acquire pairs with `leave`: what the last one did to the worker's cells
        // is visible. Relaxed if somebody has: that one is left alone.
        (self.0)
            .compare_exchange(0, CALLER, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
    }

    /// Leaves; `false`: there is more to do, by `Registry::leave_slowly`. Cost: one
    /// locked instruction.
    #[inline]
    pub(crate) fn leave(&self) -> bool {
        // Release publishes the worker's cells to the next holder of the caller slot. A thread that
        // needs somebody here has said so in this very word: no fence, no other look.
        (self.0)
            .compare_exchange(CALLER, 0, Ordering::Release, Ordering::Relaxed)
            .is_ok()
    }

    /// Acquire, as `take`; whoever changes the word on its strength has the lock.
    pub(super) fn word(&self) -> u32 {
        self.0.load(Ordering::Acquire)
    }

    /// Whether nobody has place 0: a hint, so relaxed.
    pub(super) fn is_free(&self) -> bool {
        self.0.load(Ordering::Relaxed) & (CALLER | HELD) == 0
    }

    /// Whether a thread is to be found for the caller slot: a hint, so relaxed.
    #[inline]
    pub(crate) fn is_vacant(&self) -> bool {
        self.0.load(Ordering::Relaxed) & VACANT != 0
    }

    /// Both: this is a hand-over in either direction.
    pub(super) fn change(&self, from: u32, to: u32) -> bool {
        (self.0)
            .compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    }

    /// As `change`, whatever the other bits are.
    pub(super) fn add(&self, bits: u32) -> u32 {
        self.0.fetch_or(bits, Ordering::AcqRel)
    }

    /// As `add`.
    pub(super) fn remove(&self, bits: u32) -> u32 {
        self.0.fetch_and(!bits, Ordering::AcqRel)
    }
}

/// The context of whoever has the caller slot, made with the pool.
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

    /// Before anybody knows of the pool.
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
    /// end calls `one_root_less`.
    pub(super) fn post_root(&self, job: Job) {
        self.one_root_more();
        let was_empty = self.injector().push(job);
        self.call_for(0, was_empty);
    }

    /// As `post_root`, for a job of a scope, which a thread that is no worker has spawned
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
                (*registry).one_root_less();
            })
        };
        self.post_root(job.in_group(group));
    }

    /// A root is about to be posted: somebody must be ready to take place 0 when nobody
    /// is in it. Before the push, so that whoever pushes jobs of the root's own sees
    /// the vacancy.
    ///
    /// # Panics
    ///
    /// If nobody could ever run it, since the pool has no thread and the system refuses
    /// one, or since this process is a child of `fork`.
    #[inline(never)]
    pub(super) fn one_root_more(&self) {
        self.shared().check_fork();
        if self.is_within_root() {
            return self.count_root();
        }
        self.count_root_for_threads();
        self.need_caller_slot();
    }

    /// Whether this thread is in the midst of a detached job of the pool, and somebody is ready to
    /// take place 0. That job is a root until it ends. So the threads stay, and the word keeps its
    /// bit, which is taken away when no root is left: no lock is needed to count another.
    fn is_within_root(&self) -> bool {
        Context::worker_of(self).is_some_and(|worker| worker.is_detached())
            && self.shared().caller_slot().word() & (HELD | VACANT | NEEDED) != 0
    }

    fn need_caller_slot(&self) {
        let slot = self.shared().caller_slot();
        let eager = self.places().with(|_| {
            loop {
                let word = slot.word();
                if word & (HELD | VACANT | NEEDED) != 0 {
                    return false;
                }
                if word & CALLER != 0 {
                    if slot.change(word, word | NEEDED) {
                        return false;
                    }
                } else if slot.change(0, VACANT) {
                    // No caller was there, and no root was at work: no worker has pushed a job
                    // without seeing this, so that it takes no fence here.
                    return !self.set_vacant(true);
                }
            }
        });
        if eager {
            self.fill_caller_slot();
        }
    }

    /// A root has ended.
    #[inline(never)]
    pub(super) fn one_root_less(&self) {
        if !self.uncount_root() {
            return;
        }
        self.places().with(|_| {
            // Under the lock a root that was posted since is seen, or its `need_caller_slot`
            // comes later.
            if !self.has_roots() && self.shared().caller_slot().change(VACANT, 0) {
                self.set_vacant(false);
            }
        });
        // A thread that holds the caller slot in bed wakes up to give it back. The fence is against its
        // own between lying down and its last look, which is at `roots`, too.
        P::fence(Ordering::SeqCst);
        if self.shared().caller_slot().word() & HELD != 0 {
            self.sleep().notify(0);
        }
        if self.shared().is_terminating() {
            self.end_if_over();
        }
    }

    /// Finds a thread for the vacant caller slot, and starts those that are lacking.
    #[cold]
    #[inline(never)]
    pub(crate) fn fill_caller_slot(&self) {
        #[cfg(test)]
        if fault::is(fault::Fault::EmptyCallerSlot) {
            return;
        }
        if self.crew().is_lacking() {
            // If the system refuses them, the poster does by itself what it has posted.
            let _ = self.start_threads();
        }
        let filled = self.places().with(|places| {
            let filled = self.shared().caller_slot().change(VACANT, HELD);
            if filled {
                self.set_vacant(false);
            }
            filled.then(|| self.heir(places))
        });
        if let Some((heir, _stay)) = filled {
            if self.pass_on(0, heir).is_err() {
                // As if nobody had asked. Others are at work.
                self.lose_place(0);
            }
        }
    }

    /// Has somebody take place 0 whatever else there is to do, for mail.
    ///
    /// If nobody can be had, the next caller reads it.
    #[inline(never)]
    pub(super) fn summon(&self) {
        let slot = self.shared().caller_slot();
        let heir = self.places().with(|places| {
            loop {
                let word = slot.word();
                let next = match word {
                    0 | VACANT => HELD,
                    _ if word & CALLER != 0 => word | NEEDED,
                    _ => return None,
                };
                if slot.change(word, next) {
                    if word == VACANT {
                        self.set_vacant(false);
                    }
                    return (next == HELD).then(|| self.heir(places));
                }
            }
        });
        if let Some((heir, _stay)) = heir {
            if self.pass_on(0, heir).is_err() {
                self.lose_place(0);
            }
        }
    }

    /// A caller leaves, and there is more to do than to say so.
    #[cold]
    #[inline(never)]
    pub(super) fn leave_slowly(&self) {
        // In a child of `fork` nobody is there to need the place, and a thread that is
        // not may have the lock: nobody enters again.
        if self.shared().is_forked() {
            return;
        }
        let (slot, me) = (self.shared().caller_slot(), self.worker(0));
        // From here on worker 0 is the next caller.
        let place = me.exchange_place(0);
        let (passed, vacant) = self.places().with(|places| {
            if place != 0 {
                // Place 0 is in other hands, and so must this one be.
                slot.remove(CALLER | NEEDED);
                return (Some((place, self.heir(places))), false);
            }
            let waiting = !self.mail()[0].is_empty() || !self.injector().is_empty();
            if waiting || places.is_awaited() {
                // In this order: with no bit set in between, the next caller would take the
                // slot, and the place beside its heir.
                slot.add(HELD);
                slot.remove(CALLER | NEEDED);
                return (Some((0, self.heir(places))), false);
            }
            if !self.has_roots() {
                slot.remove(CALLER | NEEDED);
                return (None, false);
            }
            slot.add(VACANT);
            slot.remove(CALLER | NEEDED);
            (None, true)
        });
        if let Some((place, (heir, _stay))) = passed {
            #[cfg(test)]
            let unheard = fault::is(fault::Fault::UntoldHolder);
            #[cfg(not(test))]
            let unheard = false;
            if place != 0 && !unheard {
                // The holder of place 0 may have gone to bed while this caller was there, and must
                // give the slot back now. The fence stands between the change of the word and the
                // look at the bed; the holder's stands between lying down and its look at the
                // word (`overstays`). So the caller finds the holder in
                // bed, or the holder sees the new word.
                P::fence(Ordering::SeqCst);
                self.sleep().notify(0);
            }
            if self.pass_on(place, heir).is_err() {
                self.lose_place(place);
            }
        } else if vacant {
            // Against pushes and posts that have not seen the vacancy: theirs are seen
            // below.
            let told = self.set_vacant(true);
            P::heavy_fence();
            if !told || self.has_jobs() || self.shared().invites_rank(0) {
                self.fill_caller_slot();
            }
        }
    }
}
