//! What a thread is to a pool, and the loop in which a worker spends its life.

use super::Shared;
use super::board::Part;
use super::gate::Left;
use super::leapfrog::PATIENCE;
use super::places::NOWHERE;
use super::queue::Group;
use super::registry::{Member, Registry, Worker};
use super::search::{Look, Waits};
use super::told::Told;
use crate::World;
use crate::sleep::{Latch, Sleep, Woken};
use manycore_platform::{Atomic, Ordering, Platform};
use std::any::TypeId;
use std::cell::Cell;

/// What this thread is doing for a pool, kept in the platform's thread slot
/// and on the thread's own stack.
pub(crate) struct Context<P: Platform> {
    pool: *const Shared<P>,
    /// The place that the thread had when this was made; in a loop, its rank there.
    pub(crate) rank: usize,
    /// The slot of the loop whose body the thread is running.
    pub(crate) running: Option<usize>,
    /// Whether the thread has given its place away in the midst of that loop.
    barred: Cell<bool>,
    /// The worker that the thread is, if the pool has the default policy; else
    /// null. What the crate's free functions look up: one load, one test.
    default: *const Worker<P>,
    /// The `Worker<W>` that the thread is.
    worker: *const dyn Member<P>,
    /// That one's place.
    place: *const P::AtomicU32,
    /// What the thread was before, to this pool or another: it still is.
    outer: Cell<*const Self>,
}

impl<P: Platform> Context<P> {
    /// The context of a thread that is `worker`.
    pub(super) fn of_worker<W: World<Platform = P>>(worker: &Worker<W>) -> Self {
        Self {
            pool: &raw const worker.registry().shared,
            rank: worker.place(),
            running: None,
            barred: Cell::new(false),
            default: if TypeId::of::<W>() == TypeId::of::<P>() {
                std::ptr::from_ref(worker).cast()
            } else {
                std::ptr::null()
            },
            worker: std::ptr::from_ref(worker),
            place: &raw const worker.state.place,
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

    /// Whether the current thread is at work for `pool`.
    #[inline]
    pub(crate) fn is_inside(pool: &Shared<P>) -> bool {
        Self::slot().is_some_and(|context| std::ptr::eq(context.pool, pool))
    }

    /// What the current thread, which [is inside](Self::is_inside), is to `pool`.
    #[inline]
    pub(crate) fn current(pool: &Shared<P>) -> Self {
        let context = Self::slot().filter(|context| std::ptr::eq(context.pool, pool));
        let context = context.expect("loops are run by workers");
        Self {
            // SAFETY: the worker lives as long as its thread, this one, is it. Relaxed:
            // the thread's own place.
            rank: unsafe { (*context.place).load(Ordering::Relaxed) } as usize,
            barred: Cell::new(false),
            outer: Cell::new(std::ptr::null()),
            ..*context
        }
    }

    /// This context, inside the body of the loop in `slot`.
    pub(crate) fn inside(&self, slot: usize) -> Self {
        Self {
            running: Some(slot),
            barred: Cell::new(false),
            outer: Cell::new(std::ptr::null()),
            ..*self
        }
    }

    /// The worker that the thread is, by what loops need of it.
    pub(crate) fn member(&self) -> &dyn Member<P> {
        // SAFETY: as for `place`.
        unsafe { &*self.worker }
    }

    /// The worker of `registry` that the current thread is, and is busy as.
    #[inline(always)]
    pub(crate) fn worker_of<W: World<Platform = P>>(registry: &Registry<W>) -> Option<&Worker<W>> {
        Self::slot()?.as_worker_of(registry)
    }

    #[inline(always)]
    fn as_worker_of<'a, W: World<Platform = P>>(
        &self,
        registry: &'a Registry<W>,
    ) -> Option<&'a Worker<W>> {
        if !std::ptr::eq(self.pool, &raw const registry.shared) {
            return None;
        }
        // SAFETY: `of_worker` of a worker of this very registry, so of its type.
        Some(unsafe { &*self.worker.cast::<Worker<W>>() })
    }

    /// The worker of `registry` that the current thread is, even if it is in the midst
    /// of another pool's work that it came to by way of this one's.
    pub(super) fn worker_below<W: World<Platform = P>>(
        registry: &Registry<W>,
    ) -> Option<&Worker<W>> {
        Self::chain().find_map(|context| context.as_worker_of(registry))
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
    pub(super) fn own_worker<'a>() -> Option<&'a Worker<P>> {
        // SAFETY: null, or `of_worker` of a worker of that type: policies have
        // different numbers. It lives as long as this thread is it.
        unsafe { Self::slot()?.default.as_ref() }
    }

    /// Blocks until `told` of what this thread, which is no worker of `pool`, has handed
    /// in there. If it is a worker of other pools, they may need its places meanwhile.
    #[cold]
    pub(super) fn block_on(pool: &Shared<P>, told: &Told<P>) {
        if told.spin(P::now() + pool.told_spin()) {
            return;
        }
        pool.check_wait();
        if Self::slot().is_none() {
            told.sleep(None);
        } else if !told.sleep(Some(super::places::PATIENCE)) {
            Self::without_places(|| told.sleep(None));
        }
    }

    /// Gives up this thread's places in all pools, runs `section`, which blocks, and
    /// takes a place again in the one in which the thread goes on. In the others it
    /// does when it comes back to them (`come_back`).
    pub(super) fn without_places<R>(section: impl FnOnce() -> R) -> R {
        Self::chain().for_each(|context| context.member().leave_place());
        let result = section();
        if let Some(context) = Self::slot() {
            context.member().regain_place();
        }
        result
    }

    /// This thread has returned to what it was before: it takes a place there again, if
    /// it has given that up meanwhile.
    #[inline]
    pub(super) fn come_back() {
        if let Some(context) = Self::slot() {
            // SAFETY: as in `current`. Relaxed: the thread's own place.
            if unsafe { (*context.place).load(Ordering::Relaxed) } == NOWHERE {
                // SAFETY: the pool of the worker that this thread is.
                unsafe { &*context.pool }.check_wait();
                context.member().regain_place();
            }
        }
    }

    /// Whether this thread is a worker of another pool than `pool` as well.
    pub(super) fn is_elsewhere(pool: &Shared<P>) -> bool {
        Self::chain().any(|context| !std::ptr::eq(context.pool, pool))
    }

    /// Gives up this thread's places in other pools than `pool`, in which it waits.
    pub(super) fn leave_others(pool: &Shared<P>) {
        Self::chain()
            .filter(|context| !std::ptr::eq(context.pool, pool))
            .for_each(|context| context.member().leave_place());
    }

    /// Keeps whoever has `place` next out of the loops in which this thread takes part
    /// with that number.
    pub(super) fn bar_loops(pool: &Shared<P>, place: usize) {
        for context in Self::chain() {
            if let Some(slot) = context.running {
                let here = std::ptr::eq(context.pool, pool) && context.rank == place;
                if here && !context.barred.replace(true) {
                    pool.ranks().bar(place, slot);
                }
            }
        }
    }

    /// Takes back `bar_loops`: the thread has `place` still.
    pub(super) fn unbar_loops(pool: &Shared<P>, place: usize) {
        for context in Self::chain() {
            if let Some(slot) = context.running {
                let here = std::ptr::eq(context.pool, pool) && context.rank == place;
                if here && context.barred.replace(false) {
                    pool.ranks().unbar(place, slot);
                }
            }
        }
    }

    /// Takes back `bar_loops`, as far as this loop, which the thread has left.
    pub(crate) fn unbar(&self) {
        if let (true, Some(slot)) = (self.barred.get(), self.running) {
            // SAFETY: the pool of the worker that this thread is.
            unsafe { (*self.pool).ranks().unbar(self.rank, slot) };
        }
    }

    /// Runs `body` with `self` as the thread's context.
    #[inline]
    pub(crate) fn enter<R>(&self, body: impl FnOnce() -> R) -> R {
        /// Resets the slot, also when `body` panics.
        struct Reset<P: Platform>(*const (), std::marker::PhantomData<P>);
        impl<P: Platform> Drop for Reset<P> {
            #[inline]
            fn drop(&mut self) {
                // SAFETY: what the runtime had put there before, and what outlives this.
                unsafe { P::set_slot(self.0) };
            }
        }
        let _reset = Reset::<P>(P::slot(), std::marker::PhantomData);
        self.outer.set(P::slot().cast());
        // SAFETY: a context, until `Reset` is dropped, while `self` is borrowed.
        unsafe { P::set_slot(std::ptr::from_ref(self).cast()) };
        body()
    }

    /// Makes `self` the thread's context for as long as the thread lives.
    pub(super) fn adopt(self) {
        // SAFETY: a context, which is never dropped.
        unsafe { P::set_slot(Box::into_raw(Box::new(self)).cast_const().cast()) };
    }

    /// Whether the current thread is a worker, or in a call, of any pool.
    pub(super) fn is_taken() -> bool {
        Self::slot().is_some()
    }
}

impl<W: World> Worker<W> {
    /// The life of a worker: look for work, do it, wait for more.
    pub(super) fn work(&self) {
        let (registry, sleep) = (self.registry(), self.sleep());
        let shared = &registry.shared;
        let latch = &self.state.end;
        let scan = Look {
            worker: self,
            waits: Waits::Idle,
        };
        if !self.has_place() && !self.sit_on_bench() {
            return;
        }
        let mut last = self.place();
        let mut misses = 0;
        // Whether the last thing it did was to help with a loop.
        let mut helped = false;
        let mut idle = sleep.start_looking(self.place());
        loop {
            // In a child that a job of this thread's has forked there is nobody to work for.
            shared.check_wait();
            let me = self.place();
            if self.must_stand_aside() {
                self.found(idle);
                self.stand_aside();
                idle = sleep.start_looking(me);
                misses = 0;
            }
            if registry.places.is_awaited() {
                self.found(idle);
                if self.make_way() == Some(false) {
                    return;
                }
                idle = sleep.start_looking(self.place());
                continue;
            }
            // Read before looking: a post after this cannot be slept through.
            self.state.seen.set(shared.idle().events.seen());
            // Loops first, but not twice in a row while somebody waits outside.
            let slot = if helped && !registry.queue.is_empty() {
                None
            } else {
                registry.help_any(me, last, W::Sleep::woken(&idle))
            };
            helped = slot.is_some();
            if let Some(slot) = slot {
                last = slot;
                W::Sleep::helped(&mut idle);
                self.found(idle);
                idle = sleep.start_looking(self.place());
                W::Sleep::helped(&mut idle);
                misses = 0;
                continue;
            }
            if let Some(found) = self.find_any(misses < PATIENCE) {
                shared.ranks().set_busy(me, true);
                self.found(idle);
                self.run(found);
                idle = sleep.start_looking(self.place());
                misses = 0;
                continue;
            }
            if shared.is_terminating()
                && registry.roots.load(Ordering::Acquire) == 0
                && registry.mail[me].leave()
            {
                // Jobs that are left may spawn more: they are over, says the acquire,
                // which pairs with the release in `one_root_less`.
                self.found(idle);
                return self.go_home();
            }
            misses += 1;
            if self.overstays() {
                self.found(idle);
                shared.ranks().set_busy(me, true);
                if self.give_caller_slot_back() == Some(false) {
                    return;
                }
                idle = sleep.start_looking(self.place());
                continue;
            }
            shared.ranks().set_busy(me, false);
            sleep.no_work_found(me, &mut idle, latch, &scan);
        }
    }

    /// Waits for the end of a scope, running what was spawned into it.
    pub(super) fn wait_in_scope(&self, latch: &Latch<W::Platform>, group: *const Group) {
        if latch.is_set() {
            return;
        }
        self.wait_for(latch, Waits::ForScope(group), |worker, _| {
            worker.find_within(group)
        });
    }
}

impl<W: World> Registry<W> {
    /// Joins the first open loop found and works in it until nothing is left
    /// to claim; returns its slot.
    pub(super) fn help_any(&self, rank: usize, last: usize, woken: Option<Woken>) -> Option<usize> {
        // A spinner was told of a post, most likely where the last one was.
        // Joining without looking first makes one transfer of the gate's line
        // out of two.
        if woken == Some(Woken::Spinning) && self.help(last, rank, woken, |_| true) {
            return Some(last);
        }
        self.shared
            .board()
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
        if self.shared.ranks().is_barred(rank, slot) {
            return false;
        }
        let gate = self.shared.board().slot(slot).gate();
        // Three lines on the way at once instead of one after the other: the
        // gate's, and, if all is as last time, the claim word and the frame.
        self.shared.board().slot(slot).prefetch(rank);
        self.shared.ranks().prefetch_frame(rank);
        let others = match gate.join() {
            Ok(others) => others,
            Err(left) => {
                self.tell(left);
                return false;
            }
        };
        // SAFETY: this thread is inside the gate until `leave` below.
        let job = unsafe { self.shared.board().slot(slot).job() };
        let helps = others < job.helpers && wanted(slot);
        if helps {
            if woken == Some(Woken::Sleeping) {
                self.wake_more(rank, job.helpers - others - 1);
            }
            self.shared.ranks().note_frame(rank, job.frame);
            let context = Context::current(&self.shared).inside(slot);
            debug_assert_eq!(context.rank, rank);
            // SAFETY: inside the gate the frame is alive and ready, and `rank`
            // is ours alone in this loop: a place has one holder, and who gave it away
            // in the midst of this loop has barred it.
            self.tell(
                match context.enter(|| unsafe { (job.run)(job.frame, rank) }) {
                    // Nothing is left to claim, so nobody else need come.
                    Part::Done => gate.leave_closed(),
                    Part::Left => gate.leave(),
                    Part::Abandoned => gate.leave_behind(),
                },
            );
            context.unbar();
        } else {
            self.tell(gate.leave());
        }
        helps
    }

    /// Workers asleep, as a hint.
    pub(crate) fn sleepers(&self) -> u32 {
        self.sleep.sleepers()
    }

    /// Wakes up to `count` workers for a loop, and times how long one takes.
    pub(crate) fn wake(&self, rank: usize, count: u32) {
        self.shared.idle().waking();
        self.sleep.wake_any(rank, count);
    }

    /// Passes a wake-up on to two more: a sleeping crowd is woken as a tree.
    fn wake_more(&self, rank: usize, wanted: u32) {
        let count = wanted.min(2).min(self.sleepers());
        if count > 0 {
            self.wake(rank, count);
        }
    }

    /// Wakes the caller that sleeps until its last helper has left.
    fn tell(&self, left: Left) {
        if let Left::Awaited(caller) = left {
            let worker = self.worker(caller);
            if worker.state.helpers.set() {
                self.notify(caller);
            }
        }
    }
}
