//! Which thread has which permit (right to run jobs): the lists of threads without a permit, and the transitions.
//!
//! [`Permits`] is a lock, the state behind it, and a count that is read without the lock. The *caller slot* is the
//! right to be worker 0. Its state is one atomic word (`word.rs`). Each transition is one method of [`State`], which
//! changes the lists and that word together. The method returns the steps to take when the lock is
//! free. The methods know neither threads nor jobs. The pool takes those steps (`mod.rs`), and
//! tests drive the transitions alone (`tests.rs`, `checked.rs`).

mod lost;
mod threads;

pub(in crate::pool) use lost::Lost;

use super::held::Held;
use super::word::{CallerSlot, Word};
#[cfg(test)]
use crate::conserving::fault;
use manycore_cores::sync::Lock;
use manycore_platform::{Atomic, CachePadded, Ordering, Platform};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The result of putting a worker on the ready list or the idle list.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::pool) enum Listed {
    /// The worker is on the list.
    Waiting,
    /// The worker has got this permit at once.
    Placed(usize),
}

/// The thread that gets a permit. Once it is chosen, no other thread has the permit.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub(in crate::pool) enum Successor {
    /// This worker, which is on no list any more.
    Worker(usize),
    /// A thread that is to be started. It counts as a registration, which keeps the pool's threads from ending, until
    /// [`State::deregister`].
    New,
}

impl Successor {
    /// Whether the successor counts as a registration.
    pub(in crate::pool) fn is_counted(&self) -> bool {
        #[cfg(test)]
        if fault::is(fault::Fault::UncountedStart) {
            return false;
        }
        *self == Self::New
    }
}

/// The thing that a caller leaves behind in the caller slot.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::pool) enum Left {
    /// An empty slot, which needs no holder.
    Nothing,
    /// A vacant slot. If there are jobs, a thread of the pool must be found for it.
    Vacancy,
    /// The caller's permit, which goes to this successor.
    Permit(usize, Successor),
}

/// Whether a pool has started its own threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::pool) enum ThreadState {
    /// No thread has been started, or not all.
    Absent,
    /// All threads have been started.
    Present,
    /// All threads are ending.
    Leaving,
}

/// The lists that the lock guards.
struct Lists {
    /// Workers that have nothing to do: their stacks of jobs are empty. They wait for the next permit.
    idle: Vec<usize>,
    /// The ready list, in order of arrival: workers that have waited, and now need a permit.
    ready: Vec<usize>,
    /// Workers without a thread: the system refused the thread, or the thread has ended.
    spare: BinaryHeap<Reverse<usize>>,
    /// Permits without a holder: the holder ended with the pool, or the system refused the thread. Until the pool
    /// ends, no worker is on a list while the allotment allows one of these permits.
    free: Vec<usize>,
    /// The pool ends: the mailboxes of the permits in `free` have no reader of their own.
    ending: bool,
    /// The pool ends: no worker joins the idle list any more.
    closed: bool,
    thread_state: ThreadState,
    /// Whether a thread that is not yet started could take what is posted.
    lacking: bool,
    /// The number of registrations, which keep the pool's threads from ending: one for each thread that is in a scope
    /// without being a worker, and one for each thread that is being started.
    registrations: usize,
    /// The ids of the threads that are in scopes without being workers, once for each scope.
    inside: Vec<u64>,
    /// Whether the vacancy has changed since the lock was taken.
    changed: bool,
}

/// The state of a pool's permits, and the lock around it.
pub(in crate::pool) struct Permits<P: Platform> {
    lists: Lock<P, Lists>,
    /// How many workers are on the ready list. Written under the lock. Every search reads it, so it
    /// has a cache line of its own.
    ready: CachePadded<P::AtomicU32>,
}

/// The state, while the lock is held: from [`Permits::begin`] to [`State::end`].
pub(in crate::pool) struct State<'a, P: Platform> {
    permits: &'a Permits<P>,
    lists: Held<'a, Lists>,
    slot: &'a CallerSlot<P>,
}

impl<P: Platform> Permits<P> {
    pub(in crate::pool) fn new() -> Self {
        Self {
            lists: Lock::new(Lists {
                idle: Vec::new(),
                ready: Vec::new(),
                spare: BinaryHeap::new(),
                free: Vec::new(),
                ending: false,
                closed: false,
                thread_state: ThreadState::Present,
                lacking: false,
                registrations: 0,
                inside: Vec::new(),
                changed: false,
            }),
            ready: CachePadded::new(P::AtomicU32::new(0)),
        }
    }

    pub(in crate::pool) fn name(&self) {
        P::name(&*self.ready, "pool: threads that return");
    }

    /// Takes the lock for transitions of these permits and of `slot`, the caller slot of the same pool. The caller
    /// [ends](State::end) the returned state, and does not unwind before that.
    #[inline(never)]
    pub(in crate::pool) fn begin<'a>(&'a self, slot: &'a CallerSlot<P>) -> State<'a, P> {
        State {
            permits: self,
            // SAFETY: `State::end` frees the lock.
            lists: unsafe { Held::of(&self.lists) },
            slot,
        }
    }

    /// Whether a thread is on the ready list. Acquire, for the same reason as in `Queue::is_empty`.
    pub(in crate::pool) fn has_ready(&self) -> bool {
        self.ready.load(Ordering::Acquire) != 0
    }
}

/// The hints for a thread that posts a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::pool) struct Vacancy {
    /// Whether a thread that is not yet started could take the job.
    pub(in crate::pool) lacking: bool,
    /// Whether a poster can get a thread although no worker sleeps: permit 0 is vacant, or a thread that is not yet
    /// started could take the job.
    pub(in crate::pool) any: bool,
}

impl<P: Platform> State<'_, P> {
    /// Frees the lock. If the pool's vacancy has changed, first calls `announce` with the new vacancy.
    pub(in crate::pool) fn end(mut self, announce: impl FnOnce(Vacancy)) {
        let count = self.lists.ready.len() as u32;
        // Relaxed: this is written under the lock. Release pairs with `has_ready`.
        if self.permits.ready.load(Ordering::Relaxed) != count {
            self.permits.ready.store(count, Ordering::Release);
        }
        if std::mem::take(&mut self.lists.changed) {
            announce(Vacancy {
                lacking: self.lists.lacking,
                any: self.lists.lacking || self.slot.is_vacant(),
            });
        }
        // SAFETY: `Permits::begin` has taken the lock and made this state.
        unsafe { self.permits.lists.free() };
    }

    /// Makes a transition of the word alone. Returns the word before and after the transition.
    fn change(&mut self, to: fn(Word) -> Word) -> (Word, Word) {
        let (before, after) = self.slot.change(to);
        self.lists.changed |= before.is_vacant() != after.is_vacant();
        (before, after)
    }

    /// As [`change`](Self::change). Returns whether a thread of the pool has permit 0 now and did not have it before.
    fn change_to_held(&mut self, to: fn(Word) -> Word) -> bool {
        let (before, after) = self.change(to);
        !before.is_held() && after.is_held()
    }

    /// Chooses the thread that gets a permit when another thread gives it up: the first worker of the ready list, or
    /// else an idle worker, or else a new thread.
    fn successor(&mut self) -> Successor {
        let worker = self.next_ready().or_else(|| self.lists.idle.pop());
        let successor = worker.map_or(Successor::New, Successor::Worker);
        if successor.is_counted() {
            self.register();
        }
        successor
    }

    /// Removes the first worker of the ready list.
    pub(in crate::pool) fn next_ready(&mut self) -> Option<usize> {
        let any = self.has_ready();
        any.then(|| self.lists.ready.remove(0))
    }

    /// Whether a thread is on the ready list.
    pub(in crate::pool) fn has_ready(&self) -> bool {
        !self.lists.ready.is_empty()
    }
}

/// Transitions of the caller slot, for detached tasks (spawned jobs, and calls from the pool's queue) and for callers
/// that cannot leave by changing the slot's word alone.
impl<P: Platform> State<'_, P> {
    /// A detached task is about to be posted. Returns whether this made the slot vacant.
    pub(in crate::pool) fn post(&mut self) -> bool {
        let (before, after) = self.change(Word::attended);
        !before.is_vacant() && after.is_vacant()
    }

    /// No detached task is left. The slot stays vacant if a ready worker needs its permit.
    pub(in crate::pool) fn end_posts(&mut self) {
        if !self.has_ready() {
            self.change(Word::unattended);
        }
    }

    /// Fills the slot if it is vacant.
    pub(in crate::pool) fn fill(&mut self) -> Option<Successor> {
        self.change_to_held(Word::filled).then(|| self.successor())
    }

    /// A caller enters the slot if it is vacant.
    pub(in crate::pool) fn enter(&mut self) -> bool {
        let (before, after) = self.change(Word::entered);
        before != after
    }

    /// Makes a thread of the pool take permit 0. If a caller is in the slot, that caller will look for jobs when it
    /// leaves.
    pub(in crate::pool) fn summon(&mut self) -> Option<Successor> {
        self.change_to_held(Word::summoned)
            .then(|| self.successor())
    }

    /// Takes permit 0 for a thread that is to be started. Returns `false` if the permit is not free.
    pub(in crate::pool) fn occupy(&mut self) -> bool {
        self.change_to_held(Word::occupied)
    }

    /// The caller, which has `permit`, leaves. `waits` returns whether a job needs a thread with permit 0. `posted`
    /// returns whether a detached task has not ended.
    pub(in crate::pool) fn leave(
        &mut self,
        permit: usize,
        waits: impl FnOnce() -> bool,
        posted: impl FnOnce() -> bool,
    ) -> Left {
        if permit != 0 {
            // The caller has another permit than 0, which must go to a thread of the pool.
            self.change(Word::left);
            Left::Permit(permit, self.successor())
        } else if waits() || self.has_ready() {
            self.change(|word| word.lent().left());
            Left::Permit(0, self.successor())
        } else if posted() {
            self.change(Word::left_vacant);
            Left::Vacancy
        } else {
            self.change(Word::left);
            Left::Nothing
        }
    }

    /// Worker `id` has permit 0. It gives the slot back and joins the idle list. Returns `None` if
    /// a caller is in the slot, or a thread is on the ready list, or the pool ends.
    pub(in crate::pool) fn give_back(
        &mut self,
        id: usize,
        allowed: usize,
        cleared: impl FnOnce(),
    ) -> Option<Listed> {
        if self.lists.closed || self.has_ready() {
            return None;
        }
        let (before, after) = self.change(Word::given_back);
        if before == after {
            return None;
        }
        cleared();
        self.join_idle(id, allowed)
    }
}

/// Transitions in which a permit passes from one thread to another.
impl<P: Platform> State<'_, P> {
    /// A worker gives its permit away. `from_slot` is true if the worker is a caller with permit 0, or an adopted
    /// thread (a thread of the program that is always worker 0). Such a worker keeps worker 0's stack.
    pub(in crate::pool) fn give(&mut self, from_slot: bool) -> Successor {
        if from_slot {
            self.change(Word::lent);
        }
        self.successor()
    }

    /// The caller has permit 0 again.
    pub(in crate::pool) fn regain(&mut self) {
        self.change(Word::regained);
    }

    /// Worker `id`, which runs and has no permit, wants a permit.
    pub(in crate::pool) fn list(&mut self, id: usize) -> Listed {
        // A caller that has the slot passes its permit on when it leaves.
        if self.change_to_held(Word::summoned) {
            return Listed::Placed(0);
        }
        match self.lists.free.pop() {
            Some(permit) => Listed::Placed(permit),
            None => {
                self.lists.ready.push(id);
                Listed::Waiting
            }
        }
    }

    /// Worker `id`, which sleeps without a permit, wants a permit before all other workers, because its wait is over.
    pub(in crate::pool) fn list_first(&mut self, id: usize) -> Listed {
        if let Some(permit) = self.find_lost(|_| true) {
            return Listed::Placed(permit);
        }
        // An empty caller slot becomes vacant. Then a thread of the pool fills it, as it does for a job.
        self.change(Word::wanted);
        self.lists.ready.insert(0, id);
        Listed::Waiting
    }

    /// Removes worker `id` from the ready list. Returns `false` if it is not on the list.
    pub(in crate::pool) fn strike(&mut self, id: usize) -> bool {
        let at = self.lists.ready.iter().position(|&other| other == id);
        at.map(|at| self.lists.ready.remove(at)).is_some()
    }

    /// Worker `id` hands its permit to the first worker of the ready list. If worker `id` is `adopted`, it then
    /// waits on the ready list, otherwise on the idle list. Returns the worker that gets the permit, and whether
    /// worker `id` stays in the pool. `cleared` runs before worker `id` is on a list.
    pub(in crate::pool) fn make_way(
        &mut self,
        id: usize,
        adopted: bool,
        cleared: impl FnOnce(),
    ) -> Option<(usize, bool)> {
        let next = self.next_ready()?;
        cleared();
        if adopted {
            self.lists.ready.push(id);
        } else if !self.lists.closed {
            // No permit is lost: a worker was on the ready list.
            self.lists.idle.push(id);
        }
        Some((next, adopted || !self.lists.closed))
    }

    /// Worker `id` takes a lost permit below `allowed`, the limit of the allotment, or else joins
    /// the idle list. Returns `None` if the pool ends.
    pub(in crate::pool) fn join_idle(&mut self, id: usize, allowed: usize) -> Option<Listed> {
        if self.lists.closed {
            return None;
        }
        if let Some(permit) = self.find_lost(|permit| permit < allowed) {
            return Some(Listed::Placed(permit));
        }
        self.lists.idle.push(id);
        Some(Listed::Waiting)
    }

    /// Whether a thread is on the idle list.
    pub(in crate::pool) fn has_idle(&self) -> bool {
        !self.lists.idle.is_empty()
    }

    /// Worker `id` leaves the idle list. Returns `false` if it is not on that list, or is the only one there.
    pub(in crate::pool) fn leave_idle(&mut self, id: usize) -> bool {
        let idle = &mut self.lists.idle;
        let at = idle.iter().position(|&other| other == id);
        at.filter(|_| idle.len() > 1)
            .map(|at| idle.remove(at))
            .is_some()
    }

    /// The thread of worker `id` is about to end. If the pool goes on, another thread can be the worker.
    pub(in crate::pool) fn retire(&mut self, id: usize) {
        if !self.lists.closed {
            self.lists.spare.push(Reverse(id));
        }
    }

    /// The holder of `permit` ends with the pool. Returns the worker that gets the
    /// permit, if there is one on the ready list.
    pub(in crate::pool) fn go_home(&mut self, permit: usize) -> Option<usize> {
        let next = self.next_ready();
        if next.is_none() {
            self.lists.free.push(permit);
        }
        next
    }
}
