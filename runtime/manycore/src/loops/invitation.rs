//! The workers that a posted loop invites. A loop first invites as many clusters (groups of near workers) as its work
//! is worth. If the loop lasts longer than predicted, its caller wakes sleepers and invites the other clusters.

use super::launch::Wake;
use crate::clusters::Invited;
#[cfg(test)]
use crate::conserving::fault::{self, Fault};
use crate::pool::{Context, PostedLoop, Registry};
use manycore_platform::Platform;
use std::cell::Cell;

/// A time that never comes.
const NEVER: u64 = u64::MAX;

/// The caller's record of the clusters that it has invited to one posted loop.
pub(super) struct Invitation<'r, P: Platform> {
    pool: &'r Registry<P>,
    slot: usize,
    /// The greatest number of helpers that are of use.
    helpers: usize,
    invited: Cell<Invited>,
    /// When to wake helpers that were not woken at once.
    wakes_at: Cell<u64>,
    /// When to invite the other clusters.
    widens_at: Cell<u64>,
}

impl<'r, P: Platform> Invitation<'r, P> {
    /// Creates the record for a loop in `slot` that invites the clusters `invited`. At most `helpers` helpers are of
    /// use.
    pub(super) fn new(
        pool: &'r Registry<P>,
        slot: usize,
        helpers: usize,
        invited: Invited,
    ) -> Self {
        Self {
            pool,
            slot,
            helpers,
            invited: Cell::new(invited),
            wakes_at: Cell::new(NEVER),
            widens_at: Cell::new(NEVER),
        }
    }

    /// The clusters that are invited so far.
    pub(super) fn invited(&self) -> Invited {
        self.invited.get()
    }

    /// Lets the invited clusters in, and announces the loop to them. `own` is the caller's cluster. The caller is
    /// a member of that cluster but not a helper.
    ///
    /// # Safety
    ///
    /// This thread has taken the slot, and the slot's gates are closed and empty. The loop's frame, which `job` names,
    /// lives until the gates are closed and empty again.
    pub(super) unsafe fn open(&self, own: usize, job: PostedLoop) {
        let (clusters, invited) = (self.pool.shared().clusters(), self.invited.get());
        // Each cluster may send all `helpers`, since the members of other clusters may be busy.
        let job_for = |cluster| {
            let members = clusters.members(cluster).len() - usize::from(cluster == own);
            PostedLoop {
                helpers: self.helpers.min(members) as u32,
                ..job
            }
        };
        let entrances = self.pool.shared().board().entrances(self.slot, invited);
        // SAFETY: by contract.
        unsafe { entrances.set_job(job_for) };
        entrances.open();
        self.pool.shared().idle().events.post(invited);
    }

    /// Like `open`, for a loop that was closed and continues. Helpers may still be inside.
    pub(super) fn open_again(&self) {
        let invited = self.invited.get();
        let shared = self.pool.shared();
        shared.board().entrances(self.slot, invited).open();
        shared.idle().events.post(invited);
        self.pool.wake_in_each(invited);
    }

    /// Wakes sleepers for the loop, which began at `started`, or notes when to wake them, as `wake` says. Notes when
    /// to invite all clusters. Returns whether it has woken sleepers.
    pub(super) fn call(&self, wake: Wake, started: u64) -> bool {
        let shared = self.pool.shared();
        let invited = self.invited.get();
        if invited != shared.clusters().all() {
            let slow = shared.slow_after(invited, wake.work());
            self.widens_at.set(started.saturating_add(slow as u64));
        }
        #[cfg(test)]
        if fault::is(Fault::FewForEver) {
            self.widens_at.set(NEVER);
        }
        if !self.pool.has_sleepers(invited) {
            return false;
        }
        if matches!(wake, Wake::Late(_)) {
            self.wakes_at.set(started + shared.idle().wake_cost());
            return false;
        }
        self.pool.call_helpers(self.helpers, invited);
        true
    }

    /// The caller calls this between two of its blocks. Wakes sleepers if it is time to wake them. If it is time to
    /// invite the other clusters, calls `admit`, and then invites these clusters to `job`.
    ///
    /// # Safety
    ///
    /// As for [`open`](Self::open), which was called with this `job`.
    #[inline]
    pub(super) unsafe fn between(&self, job: PostedLoop, admit: impl Fn(Invited)) {
        let (wakes_at, widens_at) = (self.wakes_at.get(), self.widens_at.get());
        if wakes_at == NEVER && widens_at == NEVER {
            return;
        }
        let now = P::now();
        if now >= wakes_at {
            self.wakes_at.set(NEVER);
            self.pool.call_helpers(self.helpers, self.invited.get());
        }
        if now >= widens_at {
            self.widens_at.set(NEVER);
            // SAFETY: by contract.
            unsafe { self.widen(job, admit) };
        }
    }

    /// Invites all clusters that are not invited yet.
    ///
    /// # Safety
    ///
    /// As for [`between`](Self::between).
    #[cold]
    unsafe fn widen(&self, job: PostedLoop, admit: impl Fn(Invited)) {
        let shared = self.pool.shared();
        let clusters = shared.clusters();
        for more in clusters.others(self.invited.get()) {
            // A post to no cluster would make no fence.
            if more.clusters().is_empty() {
                continue;
            }
            admit(more);
            let entrances = shared.board().entrances(self.slot, more);
            let job_for = |cluster| PostedLoop {
                helpers: clusters.members(cluster).len() as u32,
                // A woken helper wakes others in these clusters.
                invited: clusters.all(),
                ..job
            };
            // SAFETY: this thread has the slot, and has not opened these gates since it took the slot.
            unsafe { entrances.set_job(job_for) };
            entrances.open();
            shared.idle().events.post(more);
            self.pool.wake_in_each(more);
        }
        self.invited.set(clusters.all());
    }
}

impl<P: Platform> Registry<P> {
    /// Wakes one sleeping worker in each of the clusters `invited` that has one.
    fn wake_in_each(&self, invited: Invited) {
        let worker = Context::worker_of(self).expect("loops are run by workers");
        for cluster in invited.clusters() {
            let cluster = Invited::only(cluster);
            if self.sleepers_in(cluster) > 0 {
                worker.wake_others(1, Some(cluster));
            }
        }
    }

    /// Whether a worker in the clusters `invited` sleeps, or the pool can get another thread.
    fn has_sleepers(&self, invited: Invited) -> bool {
        self.sleepers_in(invited) > 0 || self.is_vacant()
    }

    /// The clusters that this thread's loop of `work` ticks and `n` iterations will invite, if the thread still
    /// has the same permit then.
    pub(super) fn would_invite(&self, work: f32, n: usize) -> Invited {
        let worker = Context::worker_of(self).expect("loops are run by workers");
        worker.would_invite(work, n)
    }

    /// Whether a loop of `work` ticks and `n` iterations wakes sleepers at once or late. It wakes them late if
    /// there are sleepers and waking does not pay.
    pub(super) fn wakes(&self, work: f32, n: usize) -> Wake {
        let invited = self.would_invite(work, n);
        if self.has_sleepers(invited) && !self.shared().idle().pays_to_wake(work) {
            Wake::Late(work)
        } else {
            Wake::Now(work)
        }
    }

    /// Whether the pool can get another thread: one that fills the vacant caller slot (the right to be worker 0), or a
    /// missing worker that it can start.
    fn is_vacant(&self) -> bool {
        self.shared().caller_slot().is_vacant() || self.is_lacking()
    }

    /// Whether all threads of the clusters `invited` that could help the caller sleep, or are not there yet. This is a
    /// hint.
    pub(super) fn all_asleep(&self, invited: Invited) -> bool {
        let clusters = self.shared().clusters();
        let members = clusters.allowed(invited.clusters(), self.shared().threads());
        let vacant = usize::from(self.shared().caller_slot().is_vacant());
        self.sleepers_in(invited) as usize + vacant >= members - 1 || self.is_lacking()
    }

    /// Whether a thread would help with a loop that is posted now. This is a hint.
    pub(super) fn has_idle_permit(&self) -> bool {
        self.shared().permit_holders().anyone_idle() || self.is_vacant()
    }

    /// Wakes a sleeper in each of the clusters `invited`, for a loop that at most `helpers` threads may help with.
    /// Finds a thread for a vacant permit if more than one helper is of use or no worker sleeps.
    pub(super) fn call_helpers(&self, helpers: usize, invited: Invited) {
        let asleep = self.sleepers_in(invited) > 0;
        if asleep {
            self.wake_in_each(invited);
        }
        if self.is_vacant() && (helpers > 1 || !asleep) {
            self.fill_caller_slot();
        }
    }
}
