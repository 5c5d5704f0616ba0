//! A thread's roles in the pools for which it works.

use super::Shared;
use super::board::Taken;
use super::call_back::Call;
use super::permit::NOWHERE;
use super::registry::Registry;
use super::worker::Worker;
use manycore_platform::{Atomic, Ordering, Platform};
use std::cell::Cell;

/// A thread's activity for a pool, kept in the platform's thread slot and on the thread's own stack.
pub(crate) struct Context<P: Platform> {
    pool: *const Shared<P>,
    /// In a loop, the thread's rank there: the permit that it had when it came in.
    rank: usize,
    /// The slot of the loop that the thread runs.
    running: Option<usize>,
    /// Whether the thread has given its permit away within that loop.
    barred: Cell<bool>,
    /// The worker that the thread is.
    worker: *const Worker<P>,
    /// The worker's permit.
    permit: *const P::AtomicU32,
    /// The thread's previous context, in this pool or another; it remains valid below this one.
    outer: Cell<*const Self>,
    /// The call that the thread runs, null for none; `None`: the outer context says it.
    call: Option<*const Call<P>>,
    /// See `with_stale_permit`.
    #[cfg(test)]
    stale: Cell<Option<u32>>,
}

/// The contexts of a thread, from one outwards.
struct Chain<'a, P: Platform>(Option<&'a Context<P>>);

impl<'a, P: Platform> Iterator for Chain<'a, P> {
    type Item = &'a Context<P>;

    fn next(&mut self) -> Option<&'a Context<P>> {
        let context = self.0?;
        // SAFETY: an outer context is on the same stack, further down, and `enter`
        // has not returned to it.
        self.0 = unsafe { context.outer.get().as_ref() };
        Some(context)
    }
}

/// A thread that takes part in a posted loop.
#[derive(Clone, Copy)]
pub(crate) struct Participant {
    /// Its number in the loop; no other participant has this number meanwhile.
    pub(crate) rank: usize,
    /// The slot of the loop around this one, if the thread is in a body.
    pub(crate) parent: Option<usize>,
}

impl<P: Platform> Context<P> {
    /// The context of a thread that is `worker`.
    #[inline(never)]
    pub(super) fn of_worker(worker: &Worker<P>) -> Self {
        Self {
            pool: worker.registry().shared(),
            rank: NOWHERE as usize,
            running: None,
            barred: Cell::new(false),
            worker: std::ptr::from_ref(worker),
            permit: worker.holding().word(),
            outer: Cell::new(std::ptr::null()),
            call: None,
            #[cfg(test)]
            stale: Cell::new(None),
        }
    }

    /// The context of a thread that is `worker`, and runs `call`.
    pub(super) fn within_call(worker: &Worker<P>, call: *const Call<P>) -> Self {
        Self {
            call: Some(call),
            ..Self::of_worker(worker)
        }
    }

    /// The context of a thread that is `worker`, and runs a job that belongs to none of the thread's calls.
    pub(super) fn outside_calls(worker: &Worker<P>) -> Self {
        Self::within_call(worker, std::ptr::null())
    }

    /// Calls `look` with the newest context of this thread, if there is one.
    #[inline(always)]
    fn slot<R>(look: impl FnOnce(Option<&Self>) -> R) -> R {
        // SAFETY: the slot is null or was set by `enter` to a context on this
        // thread's stack that lives until `enter` resets the slot (or by
        // `adopt`, for ever). One platform's slots only ever hold that
        // platform's contexts. `look` returns before the `enter` above it does, and
        // cannot keep the reference.
        look(unsafe { P::slot().cast::<Self>().as_ref() })
    }

    /// Whether the current thread is at work for `pool`.
    #[inline]
    pub(crate) fn is_inside(pool: &Shared<P>) -> bool {
        Self::slot(|context| context.is_some_and(|context| std::ptr::eq(context.pool, pool)))
    }

    /// Calls `look` with the context of the current thread, which [is inside](Self::is_inside)
    /// `pool`.
    #[inline(always)]
    fn current<R>(pool: &Shared<P>, look: impl FnOnce(&Self) -> R) -> R {
        Self::slot(|context| {
            let context = context.filter(|context| std::ptr::eq(context.pool, pool));
            look(context.expect("loops are run by workers"))
        })
    }

    /// The permit that the thread has now, or NOWHERE.
    #[inline]
    fn permit(&self) -> u32 {
        // SAFETY: the worker lives as long as its thread, this one, is it. Relaxed:
        // the thread's own permit.
        unsafe { (*self.permit).load(Ordering::Relaxed) }
    }

    /// Whether the current thread, which [is inside](Self::is_inside) `pool`, runs the body of a loop of
    /// this pool.
    #[inline]
    pub(crate) fn is_in_loop(pool: &Shared<P>) -> bool {
        Self::current(pool, |context| context.running.is_some())
    }

    /// Takes a slot of `pool`'s board for a loop of this thread's. `None`: all are in use.
    #[inline]
    pub(crate) fn take_slot(pool: &Shared<P>) -> Option<Taken<'_, P>> {
        pool.board()
            .take(Self::current(pool, Self::permit) as usize)
    }

    /// Runs `section` with this thread as a participant of the loop in `slot`. The thread's rank
    /// there is the permit that it has now. Should the thread give the permit away meanwhile, the
    /// permit is barred from the loop until `section` returns.
    #[inline(always)]
    pub(crate) fn take_part<R>(
        pool: &Shared<P>,
        slot: usize,
        section: impl FnOnce(Participant) -> R,
    ) -> R {
        let (inside, parent) = Self::current(pool, |outer| {
            let permit = outer.permit();
            #[cfg(test)]
            let permit = outer.stale.take().unwrap_or(permit);
            let inside = Self {
                rank: permit as usize,
                running: Some(slot),
                barred: Cell::new(false),
                outer: Cell::new(std::ptr::null()),
                call: None,
                #[cfg(test)]
                stale: Cell::new(None),
                ..*outer
            };
            (inside, outer.running)
        });
        let participant = Participant {
            rank: inside.rank,
            parent,
        };
        let result = inside.enter(|| section(participant));
        inside.unbar();
        result
    }

    /// A defect that a check asks for: runs `section`, and has the thread use the permit that it
    /// had before that the next time that it takes part in a loop.
    #[cfg(test)]
    pub(crate) fn with_stale_permit<R>(pool: &Shared<P>, section: impl FnOnce() -> R) -> R {
        let permit = Self::current(pool, Self::permit);
        let result = section();
        Self::current(pool, |context| context.stale.set(Some(permit)));
        result
    }

    /// The worker that the thread is.
    fn member(&self) -> &Worker<P> {
        // SAFETY: as for `permit`.
        unsafe { &*self.worker }
    }

    /// The worker of `registry` that the current thread is, and is busy as.
    #[inline(always)]
    pub(crate) fn worker_of(registry: &Registry<P>) -> Option<&Worker<P>> {
        Self::slot(|context| context?.as_worker_of(registry))
    }

    #[inline(always)]
    fn as_worker_of<'a>(&self, registry: &'a Registry<P>) -> Option<&'a Worker<P>> {
        if !std::ptr::eq(self.pool, registry.shared()) {
            return None;
        }
        // SAFETY: a worker of this very registry, which owns its workers until it is dropped.
        Some(unsafe { &*self.worker })
    }

    /// The worker of `registry` that the current thread is, even if it runs another pool's work on top of
    /// this pool's.
    pub(super) fn worker_below(registry: &Registry<P>) -> Option<&Worker<P>> {
        Self::chain(|mut chain| chain.find_map(|context| context.as_worker_of(registry)))
    }

    /// Calls `walk` with this thread's contexts, from the newest.
    fn chain<R>(walk: impl FnOnce(Chain<'_, P>) -> R) -> R {
        Self::slot(|newest| walk(Chain(newest)))
    }

    /// Calls `call` with the worker that the current thread is, of whatever pool.
    #[inline(always)]
    pub(super) fn own_worker<R>(call: impl FnOnce(Option<&Worker<P>>) -> R) -> R {
        Self::slot(|context| call(context.map(Self::member)))
    }

    /// The newest context of this thread, or null.
    pub(super) fn newest() -> *const Self {
        Self::slot(|newest| newest.map_or(std::ptr::null(), std::ptr::from_ref))
    }

    /// The innermost call that this thread runs, or null.
    pub(super) fn call() -> *const Call<P> {
        Self::chain(|mut chain| chain.find_map(|context| context.call)).unwrap_or(std::ptr::null())
    }

    /// The worker of `registry` among the contexts from `newest` outwards.
    ///
    /// # Safety
    ///
    /// Null, or a context that its thread does not leave meanwhile.
    pub(super) unsafe fn worker_from(
        newest: *const Self,
        registry: &Registry<P>,
    ) -> Option<&Worker<P>> {
        // SAFETY: the caller's promise. The thread does not change the fields that are read here.
        Chain(unsafe { newest.as_ref() }).find_map(|context| context.as_worker_of(registry))
    }

    /// Gives up this thread's permits in all pools, runs `section`, which blocks, and takes a permit again
    /// in the pool in which the thread continues. In each other pool it takes a permit when it comes back
    /// to that pool (`come_back`).
    pub(super) fn without_permits<R>(section: impl FnOnce() -> R) -> R {
        Self::leave_all();
        let result = section();
        Self::own_worker(|worker| worker.map(Worker::regain_permit));
        result
    }

    /// This thread has returned to what it was before: it takes a permit there again, if
    /// it has given that up meanwhile.
    #[inline]
    pub(super) fn come_back() {
        Self::slot(|context| {
            if let Some(context) = context.filter(|context| context.permit() == NOWHERE) {
                // SAFETY: the pool of the worker that this thread is.
                unsafe { &*context.pool }.check_wait();
                context.member().regain_permit();
            }
        });
    }

    /// Whether this thread is a worker of another pool than `pool` as well.
    pub(super) fn is_elsewhere(pool: &Shared<P>) -> bool {
        Self::chain(|mut chain| chain.any(|context| !std::ptr::eq(context.pool, pool)))
    }

    /// Whether this thread is in the body of a loop of `pool`, however far below.
    pub(super) fn is_in_any_loop(pool: &Shared<P>) -> bool {
        let in_loop =
            |context: &Self| std::ptr::eq(context.pool, pool) && context.running.is_some();
        Self::chain(|mut chain| chain.any(in_loop))
    }

    /// This thread's workers in other pools than `pool` that have a permit.
    fn others_held(
        pool: *const Shared<P>,
        chain: Chain<'_, P>,
    ) -> impl Iterator<Item = &Worker<P>> {
        chain
            .filter(move |context| !std::ptr::eq(context.pool, pool))
            .map(Self::member)
            .filter(|worker| worker.has_permit())
    }

    /// Whether this thread has permits, in whatever pools.
    pub(super) fn holds_any() -> bool {
        Self::chain(|chain| Self::others_held(std::ptr::null(), chain).next().is_some())
    }

    /// Whether this thread has permits in other pools than `pool`.
    pub(super) fn holds_others(pool: &Shared<P>) -> bool {
        Self::chain(|chain| Self::others_held(pool, chain).next().is_some())
    }

    /// Runs a job of a pool other than `pool` in which this thread has a permit. `false`: it finds no job.
    pub(super) fn run_other_elsewhere(pool: *const Shared<P>) -> bool {
        Self::chain(|chain| {
            Self::others_held(pool, chain).any(|worker| {
                worker.keeps_others_waiting() && Registry::be(worker, Worker::run_other)
            })
        })
    }

    /// Gives up this thread's permits in all pools. It keeps a permit that no other thread takes.
    pub(super) fn leave_all() {
        Self::chain(|chain| chain.for_each(|context| context.member().leave_permit()));
    }

    /// Whether jobs wait for a permit that this thread has in another pool than `pool`.
    pub(super) fn keeps_others_waiting(pool: &Shared<P>) -> bool {
        Self::chain(|chain| Self::others_held(pool, chain).any(Worker::keeps_others_waiting))
    }

    /// Gives up this thread's permits in all pools except `pool`, where it waits.
    pub(super) fn leave_others(pool: &Shared<P>) {
        Self::chain(|chain| {
            chain
                .filter(|context| !std::ptr::eq(context.pool, pool))
                .for_each(|context| context.member().leave_permit());
        });
    }

    /// Keeps the next holder of `permit` out of the loops in which this thread has that number as its rank.
    pub(super) fn bar_loops(pool: &Shared<P>, permit: usize) {
        Self::set_bars(pool, permit, true, |slot| pool.ranks().bar(permit, slot));
    }

    /// Takes back `bar_loops`: the thread has `permit` still.
    pub(super) fn unbar_loops(pool: &Shared<P>, permit: usize) {
        Self::set_bars(pool, permit, false, |slot| pool.ranks().unbar(permit, slot));
    }

    /// In this thread's contexts with the rank `permit` in loops of `pool`, notes whether they are barred.
    /// Calls `change` with the slot of each context that changes.
    fn set_bars(pool: &Shared<P>, permit: usize, barred: bool, change: impl Fn(usize)) {
        Self::chain(|chain| {
            for context in chain {
                let here = std::ptr::eq(context.pool, pool) && context.rank == permit;
                if let Some(slot) = context.running.filter(|_| here) {
                    if context.barred.replace(barred) != barred {
                        change(slot);
                    }
                }
            }
        });
    }

    /// Takes back `bar_loops`, as far as this loop, which the thread has left.
    fn unbar(&self) {
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
        Self::slot(|context| context.is_some())
    }
}
