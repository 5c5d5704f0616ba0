//! A worker with its permit (one of the pool's rights to run jobs), which may change.
//!
//! A thread that waits may give its permit away and continue with another permit (`permits/mod.rs`). So the number of
//! a worker's permit is valid until the worker next runs the user's code, or waits. A stale number once caused a
//! double free. A worker read its number, ran a job, came back with another permit, and helped with a loop under the
//! old number. The new holder of the old permit helped with the same loop under the same number.
//!
//! Therefore only this module, and the modules in it, can ask a worker for that number: `Worker::permit` is private to
//! them. Other modules ask the worker to do something *with its permit* (look for work, help with a
//! loop, or take its *mail*: the jobs that were sent to it). Each of these functions reads the
//! number where it uses it. The modules outside of `pool` see no permit at all:
//! `Context::take_part` reads the number and hands it on as the thread's *rank* in that one loop.
//! If the thread gives the permit away meanwhile, the permit is *barred* from the loop: its next
//! holder cannot take part until the thread has left the loop.
//!
//! `ci/refused.sh` puts the old patterns back and expects the compiler to refuse them.
//!
//! The values in this table live longer than one run of the user's code. Paths are below `src`.
//!
//! | value | why it stays valid |
//! |---|---|
//! | a thread's rank in a loop (`pool/context.rs`, `loops/`, `partition/`) | once the thread has given the permit away, the permit is barred from the loop until the thread has left the loop |
//! | the place of a rank's partial result (`loops/reduce.rs`) | the place belongs to the rank, and no reference to it lives across a call |
//! | `ALONE`, the rank of a loop that is not posted | a constant: no other thread is in the loop |
//! | a posted loop's frame and slot | the call keeps them until its gate is closed and empty |
//! | `&Worker` with its stack of jobs, queues and latches; the worker to wake when the last job or helper ends | a worker belongs to one thread while that thread is in the pool |
//! | the index of a call of `broadcast` | it names the call, not the thread |
//! | the permit that a caller had last (`pool/caller_slot.rs`) | the call is over, and the caller has given the number up |
//! | the slot of the last loop, the event count of the last look (`pool/work.rs`) | hints about the board |
//! | the number that `current_thread_index` returned | the pool never relies on it |

mod borrowed;
#[cfg(test)]
mod bound_timed;
mod help;
mod without;

pub(super) use help::Help;

use super::job::{Group, Job};
use super::worker::Worker;
use crate::clusters::Invited;
use crate::sleep::Scan;
use crate::sleep::{Latch, Looking};
use manycore_cores::sync::Parker;
use manycore_platform::{Atomic, Ordering, Platform};

/// The permit number of a thread without a permit.
pub(super) const NOWHERE: u32 = u32::MAX;

/// Which permit a worker has, and where it sleeps while it has none.
pub(super) struct Holding<P: Platform> {
    /// The worker's permit, or NOWHERE.
    permit: P::AtomicU32,
    /// The worker sleeps here while it has no permit.
    alone: Parker<P>,
    /// The permit that the worker has borrowed from a sleeping worker (`borrowed.rs`), or NOWHERE.
    borrowed: P::AtomicU32,
    /// The worker's thread is bound to the CPUs of this permit. NOWHERE if the pool has not bound
    /// the thread. Only that thread uses this field. Before it runs, the thread that chooses the
    /// worker for it does.
    bound: P::AtomicU32,
}

impl<P: Platform> Holding<P> {
    pub(super) fn new(permit: u32) -> Self {
        Self {
            permit: P::AtomicU32::new(permit),
            alone: Parker::awake(),
            borrowed: P::AtomicU32::new(NOWHERE),
            bound: P::AtomicU32::new(NOWHERE),
        }
    }

    /// The worker's permit, or NOWHERE. The thread that gives the worker a permit writes this word, and so does the
    /// worker.
    #[inline(always)]
    pub(super) fn word(&self) -> &P::AtomicU32 {
        &self.permit
    }

    /// Notes that the worker has no permit any more. Relaxed: the lock of `Permits` or the start of the worker's
    /// thread publishes the store.
    pub(super) fn clear(&self) {
        self.permit.store(NOWHERE, Ordering::Relaxed);
    }

    /// Whether the worker sleeps without a permit, as seen a moment ago.
    pub(super) fn is_asleep(&self) -> bool {
        self.alone.glance() == Parker::<P>::ASLEEP
    }

    /// Wakes the worker's thread, after `rouse_alone`.
    pub(super) fn wake(&self) {
        self.alone.wake();
    }
}

impl<P: Platform> Worker<P> {
    /// The permit that this worker has now. Private: see the head of this module. If the worker has
    /// no permit, it waits for one. This happens only in start and exit handlers, since a thread
    /// of the reserve (which takes over permits) starts and ends without one.
    #[inline(always)]
    fn permit(&self) -> usize {
        match self.permit_or_none() {
            Some(permit) => permit,
            None => self.permit_at_last(),
        }
    }

    #[inline(always)]
    fn permit_or_none(&self) -> Option<usize> {
        // Relaxed: the worker itself wrote the number, or has acquired the write of the thread that gave it the
        // permit.
        let permit = self.holding().permit.load(Ordering::Relaxed);
        (permit != NOWHERE).then_some(permit as usize)
    }

    #[cold]
    #[inline(never)]
    fn permit_at_last(&self) -> usize {
        self.regain_permit();
        self.permit_or_none()
            .expect("a worker that returns has a permit")
    }

    pub(super) fn has_permit(&self) -> bool {
        self.permit_or_none().is_some()
    }

    /// Notes that the worker has `permit`. Relaxed: the wake-up that hands the permit over, or the
    /// latch, publishes the store.
    pub(super) fn set_permit(&self, permit: usize) {
        self.holding()
            .permit
            .store(permit as u32, Ordering::Relaxed);
    }

    /// Notes that the pool has started this worker's thread with `permit`, bound to the permit's CPUs if it has any.
    pub(super) fn note_bound(&self, permit: usize) {
        if !self.registry().threads().cpus_of(permit).is_empty() {
            // Relaxed: only this thread uses the field.
            self.holding().bound.store(permit as u32, Ordering::Relaxed);
        }
    }

    /// Notes that the pool has bound no thread for the worker. A thread of the user, or a thread that is about to end,
    /// may become the worker next. Such a thread keeps the CPUs that it has.
    pub(super) fn note_unbound(&self) {
        // Relaxed: the lock of the permits, or the start of the worker's thread, publishes the store.
        self.holding().bound.store(NOWHERE, Ordering::Relaxed);
    }

    /// Binds this worker's thread to the CPUs of its permit, if the pool has bound the thread to the CPUs of another
    /// permit. Otherwise two threads with permits could be bound to one CPU while another CPU has none. Called after
    /// the worker has waited for a permit, which takes longer than the system call.
    fn follow_permit(&self) {
        let Some(permit) = self.permit_or_none() else {
            return;
        };
        let cpus = self.registry().threads().cpus_of(permit);
        if cpus.is_empty() {
            return;
        }
        // Relaxed: only this thread uses the field.
        let bound = self.holding().bound.load(Ordering::Relaxed);
        if bound != NOWHERE && bound != permit as u32 {
            P::bind(cpus);
            self.holding().bound.store(permit as u32, Ordering::Relaxed);
        }
    }

    /// Exchanges the worker's permit for `permit`. Returns the old permit, which the caller must give away.
    pub(super) fn exchange_permit(&self, permit: usize) -> usize {
        let before = self.permit();
        self.set_permit(permit);
        before
    }

    /// The number of the worker's permit now, for the user.
    #[inline]
    pub(super) fn index(&self) -> usize {
        self.permit()
    }
}

/// Questions of a worker about its permit.
impl<P: Platform> Worker<P> {
    /// Whether the allotment (the number of cores that the pool may use now) allows the worker to run.
    #[inline]
    pub(super) fn is_allowed(&self) -> bool {
        self.registry().shared().allows(self.permit())
    }

    /// Whether the worker has a permit and is at work, as a hint.
    pub(super) fn is_at_work(&self) -> bool {
        let permit = self.holding().permit.load(Ordering::Relaxed);
        permit != NOWHERE
            && self
                .registry()
                .shared()
                .permit_holders()
                .is_busy(permit as usize)
            && !self.has_lent(permit as usize)
    }

    /// Whether a loop invites the worker.
    pub(super) fn is_invited(&self) -> bool {
        self.registry().shared().has_invitation(self.permit())
    }

    /// Whether there is mail for the worker.
    pub(super) fn has_mail(&self) -> bool {
        !self.registry().mailboxes()[self.permit()].is_empty()
    }

    /// Takes the first job that was sent to the worker's permit.
    pub(super) fn take_mail(&self) -> Option<Job> {
        self.registry().mailboxes()[self.permit()].take_first()
    }

    /// Takes the first job that was sent to the worker's permit and is within the scope `group`.
    pub(super) fn take_mail_within(&self, group: *const Group) -> Option<Job> {
        self.registry().mailboxes()[self.permit()].take_first_within(group)
    }

    /// Ends the reading of mail, because the pool ends. Returns `false` if there is mail. The worker must then stay.
    pub(super) fn leave_mail(&self) -> bool {
        self.registry().mailboxes()[self.permit()].leave()
    }

    /// Sleeps until the allotment allows the worker to run, or the worker has mail, or a thread is on the ready list,
    /// or the pool ends.
    pub(super) fn await_turn(&self) {
        let (registry, permit) = (self.registry(), self.permit());
        let wanted = || {
            self.has_mail() || registry.permits().has_ready() || registry.shared().is_terminating()
        };
        if let Some(allotment) = registry.shared().allotment() {
            allotment.await_turn(permit, wanted);
        }
    }
}

/// Announcements of a worker to the sleep policy, which knows the worker by its permit.
impl<P: Platform> Worker<P> {
    /// The worker begins to look for work.
    pub(super) fn start_looking(&self) -> Looking {
        self.sleep().start_looking(self.permit())
    }

    /// The worker has searched in vain, and may sleep here. Returns whether it has slept.
    pub(super) fn no_work_found(
        &self,
        idle: &mut Looking,
        latch: &Latch<P>,
        scan: &dyn Scan,
    ) -> bool {
        self.sleep().no_work_found(self.permit(), idle, latch, scan)
    }

    /// The worker looks for work no longer.
    #[inline]
    pub(super) fn found(&self, idle: Looking) {
        if self.sleep().work_found(self.permit(), idle) {
            self.registry().fill_caller_slot();
        }
    }

    /// The worker has pushed a job. `was_empty`: its stack or queue was empty.
    #[inline(always)]
    pub(super) fn posted(&self, was_empty: bool) {
        // The number only hints which sleepers are near. So a worker without a permit need not
        // wait for one.
        let permit = || self.permit_or_none().unwrap_or(0);
        if self.sleep().posted_by(permit, was_empty) {
            self.registry().fill_caller_slot();
        }
    }

    /// Calls a sleeper for a job that any worker can reach.
    pub(super) fn call_another(&self, was_empty: bool) {
        self.registry().call_for(self.permit(), was_empty);
    }

    /// Another thread pushes a job onto this worker's queue, and calls a sleeper for it.
    pub(in crate::pool) fn push_for(&self, job: Job) {
        let was_empty = self.spawned().push(job);
        let permit = self.permit_or_none();
        self.registry().call_for(permit.unwrap_or(0), was_empty);
    }

    /// The cluster (group of near threads) of the worker's permit. Returns 0 for a worker without a
    /// permit: any cluster would do.
    pub(in crate::pool) fn cluster(&self) -> usize {
        let clusters = self.registry().shared().clusters();
        self.permit_or_none()
            .map_or(0, |permit| clusters.of(permit).cluster as usize)
    }

    /// The clusters that a loop of `work` ticks and `n` iterations would invite from here.
    pub(crate) fn would_invite(&self, work: f32, n: usize) -> Invited {
        self.registry().shared().invite(self.permit(), work, n)
    }

    /// Wakes up to `count` workers in the clusters `within`, or in any cluster if this is `None`, the nearest first.
    pub(crate) fn wake_others(&self, count: u32, within: Option<Invited>) {
        self.sleep().wake_any(self.permit(), count, within);
    }

    /// Notes whether the worker is at work, for a sleeper that keeps watch (`Scan::is_any_blocked`). A worker that has
    /// waited beyond the pool's patience is not at work: if unrelated jobs wait, it gives its permit away.
    pub(super) fn set_busy(&self, busy: bool) {
        self.registry()
            .shared()
            .permit_holders()
            .set_busy(self.permit(), busy);
    }

    /// Notes that the worker has found work, or leaves its permit to another thread, which may have work.
    pub(super) fn note_work(&self) {
        self.registry()
            .shared()
            .permit_holders()
            .note_work(self.permit());
    }

    /// Notes that the worker has looked for work and found none.
    pub(super) fn note_idle(&self) {
        self.registry()
            .shared()
            .permit_holders()
            .note_idle(self.permit());
    }
}
