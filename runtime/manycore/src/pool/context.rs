//! A thread's roles in the pools for which it works.

use super::Shared;
use super::board::Taken;
use super::call_back::Call;
use super::permit::NOWHERE;
use super::registry::Registry;
use super::worker::Worker;
use manycore_platform::{Atomic, Ordering, Platform};
use std::cell::Cell;

/// A thread's activity for a pool. The context is on the thread's own stack, and the platform's thread slot (one
/// pointer for each thread) points to the newest context.
pub(crate) struct Context<P: Platform> {
    pool: *const Shared<P>,
    /// The thread's rank in the loop that it runs: the number of the permit (a right to run jobs of the pool) that the
    /// thread had when it entered the loop.
    rank: usize,
    /// The slot of the loop that the thread runs, in the board (the list of posted loops). `None` if it runs no posted
    /// loop.
    running: Option<usize>,
    /// Whether the thread has given its permit away within that loop.
    barred: Cell<bool>,
    /// The thread's worker in the pool.
    worker: *const Worker<P>,
    /// The worker's permit.
    permit: *const P::AtomicU32,
    /// The thread's previous context, in this pool or another. The previous context is further down on the stack, and
    /// remains valid.
    outer: Cell<*const Self>,
    /// The [call](Call) that this thread runs for a waiting thread, or null if there is none. `None` means that the
    /// outer context has the answer.
    call: Option<*const Call<P>>,
    /// See `with_stale_permit`.
    #[cfg(test)]
    stale: Cell<Option<u32>>,
}

/// A thread's contexts, from the given context outwards.
struct Chain<'a, P: Platform>(Option<&'a Context<P>>);

impl<'a, P: Platform> Iterator for Chain<'a, P> {
    type Item = &'a Context<P>;

    fn next(&mut self) -> Option<&'a Context<P>> {
        let context = self.0?;
        // SAFETY: an outer context is on the same stack, further down, in a call of `enter` that has not
        // returned.
        self.0 = unsafe { context.outer.get().as_ref() };
        Some(context)
    }
}

/// A thread that takes part in a posted loop.
#[derive(Clone, Copy)]
pub(crate) struct Participant {
    /// The thread's number in the loop. No other participant has this number at the same time.
    pub(crate) rank: usize,
    /// The slot of the loop around this one, if the thread runs the body of a loop.
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

    /// The context of a thread that is `worker`, and runs a job that is part of none of the thread's calls.
    pub(super) fn outside_calls(worker: &Worker<P>) -> Self {
        Self::within_call(worker, std::ptr::null())
    }

    /// Calls `look` with the newest context of this thread, if there is one.
    #[inline(always)]
    fn slot<R>(look: impl FnOnce(Option<&Self>) -> R) -> R {
        // SAFETY: the slot is null or points to a context. If `enter` has set the slot, the context is on this thread's
        // stack, and lives until that `enter` resets the slot. If `adopt` has set the slot, the context is never
        // dropped. A platform's slots only ever hold that platform's contexts. `look` returns before the innermost
        // `enter` does, and cannot keep the reference.
        look(unsafe { P::slot().cast::<Self>().as_ref() })
    }

    /// Whether the current thread's newest context is in `pool`.
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

    /// The permit that the thread has now, or `NOWHERE` if it has none.
    #[inline]
    fn permit(&self) -> u32 {
        // SAFETY: the worker lives while this thread is that worker. Relaxed: the thread reads its own permit.
        unsafe { (*self.permit).load(Ordering::Relaxed) }
    }

    /// Whether the current thread, which [is inside](Self::is_inside) `pool`, runs the body of a loop of
    /// this pool.
    #[inline]
    pub(crate) fn is_in_loop(pool: &Shared<P>) -> bool {
        Self::current(pool, |context| context.running.is_some())
    }

    /// Takes a slot of `pool`'s board for a loop of this thread. Returns `None` if all slots are in use.
    #[inline]
    pub(crate) fn take_slot(pool: &Shared<P>) -> Option<Taken<'_, P>> {
        let mut permit = Self::current(pool, Self::permit);
        if permit == NOWHERE {
            // A start or exit handler runs the loop, so the thread may have no permit (`Worker::permit`).
            Self::come_back();
            permit = Self::current(pool, Self::permit);
        }
        pool.board().take(permit as usize)
    }

    /// Runs `section` with this thread as a participant of the loop in `slot`. The thread's rank in the loop is the
    /// number of the permit that it has now. If the thread gives the permit away within `section`, the permit's next
    /// holder is kept out of the loop until `section` returns.
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

    /// Injects a defect for tests. Runs `section`. When the thread takes part in a loop the next time, it uses the
    /// permit that it had before `section`.
    #[cfg(test)]
    pub(crate) fn with_stale_permit<R>(pool: &Shared<P>, section: impl FnOnce() -> R) -> R {
        let permit = Self::current(pool, Self::permit);
        let result = section();
        Self::current(pool, |context| context.stale.set(Some(permit)));
        result
    }

    /// The thread's worker in this context's pool.
    fn member(&self) -> &Worker<P> {
        // SAFETY: as for `permit`.
        unsafe { &*self.worker }
    }

    /// Returns the current thread's worker, if the thread's newest context is in the pool of `registry`.
    #[inline(always)]
    pub(crate) fn worker_of(registry: &Registry<P>) -> Option<&Worker<P>> {
        Self::slot(|context| context?.as_worker_of(registry))
    }

    #[inline(always)]
    fn as_worker_of<'a>(&self, registry: &'a Registry<P>) -> Option<&'a Worker<P>> {
        if !std::ptr::eq(self.pool, registry.shared()) {
            return None;
        }
        // SAFETY: the worker belongs to this registry, which owns its workers until it is dropped.
        Some(unsafe { &*self.worker })
    }

    /// The current thread's worker in the pool of `registry`. The thread's newest context may be in another pool that
    /// the thread has called since.
    pub(super) fn worker_below(registry: &Registry<P>) -> Option<&Worker<P>> {
        Self::chain(|mut chain| chain.find_map(|context| context.as_worker_of(registry)))
    }

    /// Calls `walk` with this thread's contexts, from the newest.
    fn chain<R>(walk: impl FnOnce(Chain<'_, P>) -> R) -> R {
        Self::slot(|newest| walk(Chain(newest)))
    }

    /// Calls `call` with the worker of the current thread's newest context, whichever pool that context is in.
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
    /// `newest` is null, or a context that its thread does not leave during this call.
    pub(super) unsafe fn worker_from(
        newest: *const Self,
        registry: &Registry<P>,
    ) -> Option<&Worker<P>> {
        // SAFETY: the caller's promise. The thread does not change the fields that are read here.
        Chain(unsafe { newest.as_ref() }).find_map(|context| context.as_worker_of(registry))
    }

    /// Gives up this thread's permits in all pools, runs `section`, which blocks, and takes a permit again in the pool
    /// in which the thread continues. In each other pool the thread takes a permit when it comes back to that pool
    /// (`come_back`).
    pub(super) fn without_permits<R>(section: impl FnOnce() -> R) -> R {
        Self::leave_all();
        let result = section();
        Self::own_worker(|worker| worker.map(Worker::regain_permit));
        result
    }

    /// Takes a permit again in the pool to which this thread has just returned, if the thread has given up its
    /// permit there.
    #[inline]
    pub(super) fn come_back() {
        Self::slot(|context| {
            if let Some(context) = context.filter(|context| context.permit() == NOWHERE) {
                // SAFETY: this thread is a worker of the pool, which outlives its workers.
                unsafe { &*context.pool }.check_wait();
                context.member().regain_permit();
            }
        });
    }

    /// Whether this thread is a worker of a pool other than `pool`.
    pub(super) fn is_elsewhere(pool: &Shared<P>) -> bool {
        Self::chain(|mut chain| chain.any(|context| !std::ptr::eq(context.pool, pool)))
    }

    /// Whether any of this thread's contexts is in a loop of `pool`.
    pub(super) fn is_in_any_loop(pool: &Shared<P>) -> bool {
        let in_loop =
            |context: &Self| std::ptr::eq(context.pool, pool) && context.running.is_some();
        Self::chain(|mut chain| chain.any(in_loop))
    }

    /// Returns this thread's workers in pools other than `pool`. Leaves out workers without a permit.
    fn others_held(
        pool: *const Shared<P>,
        chain: Chain<'_, P>,
    ) -> impl Iterator<Item = &Worker<P>> {
        chain
            .filter(move |context| !std::ptr::eq(context.pool, pool))
            .map(Self::member)
            .filter(|worker| worker.has_permit())
    }

    /// Whether this thread has a permit in any pool.
    pub(super) fn holds_any() -> bool {
        Self::chain(|chain| Self::others_held(std::ptr::null(), chain).next().is_some())
    }

    /// Whether this thread has a permit in any pool other than `pool`.
    pub(super) fn holds_others(pool: &Shared<P>) -> bool {
        Self::chain(|chain| Self::others_held(pool, chain).next().is_some())
    }

    /// Runs a job of a pool in which this thread has a permit, but not of `pool`. Returns `false` if it finds none.
    pub(super) fn run_other_elsewhere(pool: *const Shared<P>) -> bool {
        Self::chain(|chain| {
            Self::others_held(pool, chain).any(|worker| {
                worker.keeps_others_waiting() && Registry::be(worker, Worker::run_other)
            })
        })
    }

    /// Offers this thread's permits in all pools to other threads. The thread keeps a permit if no other thread takes
    /// it.
    pub(super) fn leave_all() {
        Self::chain(|chain| chain.for_each(|context| context.member().leave_permit()));
    }

    /// Whether jobs wait for a permit that this thread has in a pool other than `pool`.
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

    /// Keeps the next holder of `permit` out of the loops in which `permit` is this thread's rank.
    pub(super) fn bar_loops(pool: &Shared<P>, permit: usize) {
        Self::set_bars(pool, permit, true, |slot| {
            pool.permit_holders().bar(permit, slot)
        });
    }

    /// Undoes `bar_loops`, since the thread still has `permit`.
    pub(super) fn unbar_loops(pool: &Shared<P>, permit: usize) {
        Self::set_bars(pool, permit, false, |slot| {
            pool.permit_holders().unbar(permit, slot)
        });
    }

    /// Goes through this thread's contexts in loops of `pool` in which `permit` is the thread's rank. Notes in each
    /// whether the permit is barred from the loop. Calls `change` with the loop's slot if the note changes.
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

    /// Undoes `bar_loops` for this context's loop, which the thread has left.
    fn unbar(&self) {
        if let (true, Some(slot)) = (self.barred.get(), self.running) {
            // SAFETY: this thread is a worker of the pool, which outlives its workers.
            unsafe { (*self.pool).permit_holders().unbar(self.rank, slot) };
        }
    }

    /// Runs `body` with `self` as the thread's context.
    #[inline]
    pub(crate) fn enter<R>(&self, body: impl FnOnce() -> R) -> R {
        /// Resets the thread slot, also when `body` panics.
        struct Reset<P: Platform>(*const (), std::marker::PhantomData<P>);
        impl<P: Platform> Drop for Reset<P> {
            #[inline]
            fn drop(&mut self) {
                // SAFETY: the value that the runtime had put into the slot before. That context outlives this one.
                unsafe { P::set_slot(self.0) };
            }
        }
        let _reset = Reset::<P>(P::slot(), std::marker::PhantomData);
        self.outer.set(P::slot().cast());
        // SAFETY: `self` is a context, and is borrowed until `Reset` is dropped.
        unsafe { P::set_slot(std::ptr::from_ref(self).cast()) };
        body()
    }

    /// Makes `self` the thread's context for as long as the thread lives.
    pub(super) fn adopt(self) {
        // SAFETY: the box holds a context, and is never dropped.
        unsafe { P::set_slot(Box::into_raw(Box::new(self)).cast_const().cast()) };
    }

    /// Whether the current thread is a worker of any pool, or is in a call to one.
    pub(super) fn is_taken() -> bool {
        Self::slot(|context| context.is_some())
    }
}
