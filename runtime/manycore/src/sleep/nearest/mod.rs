//! Our policy: one word that says whether waking is useful, and a list of parking slots by core
//! group.

mod calling;
mod lending;
#[cfg(test)]
mod lending_checked;
mod sleeping;
#[cfg(test)]
mod watch_checked;

use super::Latch;
use super::Seen;
use super::idle::{After, Idle, Woken};
use super::oversubscription::Oversubscription;
use super::parking_slots::ParkingSlots;
use super::policy::{Scan, Setup, Tally};
use crate::clusters::Invited;
use crate::times::{FIRST_SLICE, LONGEST_SLICE};
#[cfg(test)]
pub(super) use calling::FenceFault;
use calling::{FENCED, MOST_FENCED, SETTLED, VACANT, sleepers};
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Ordering, Platform};
use std::sync::Arc;
use std::time::Duration;

/// Workers that may spin in expectation of a loop. Each burns its core for the
/// length of the window; the first to join a loop wakes the others.
const WATCHERS: usize = 2;

/// The default policy, `ours`.
///
/// A post reads one word. It has a line of its own, written only when a worker falls asleep, is
/// woken, or begins to look; if the word is 0, no worker needs waking. Idle workers that are awake
/// are not counted: they find jobs by looking. The post wakes a worker of the poster's core group
/// if one sleeps there. That worker wakes the next if it finds more jobs than it takes.
///
/// `README.md` in this folder argues that no wake-up is lost.
pub(crate) struct Nearest<P: Platform> {
    /// Sleepers of both kinds, and how posters and sleepers are to fence.
    callable: CachePadded<P::AtomicU32>,
    /// Posts since a worker fell asleep, while posters fence.
    fenced_posts: CachePadded<P::AtomicU32>,
    most_fenced: u32,
    #[cfg(test)]
    fault: Option<FenceFault>,
    slots: ParkingSlots<P>,
    idle: Arc<Idle<P>>,
    /// If threads outnumber cores.
    oversubscription: Option<Oversubscription<P>>,
    first_slice: u64,
    longest_slice: u64,
}

/// A worker that looks for work.
pub(crate) struct Looking {
    after: After,
    woken: Option<Woken>,
    /// When to stop spinning; 0: not decided yet.
    until: u64,
    slice: u64,
    /// When it was to search again, after it has spun; 0: it has not.
    due: u64,
    /// It spins, until `until`, for a loop that is expected; how long it sleeps if
    /// that does not come.
    timeout: Option<u64>,
    /// A post woke it, and posters may have left other jobs to it.
    called: bool,
    /// So its next search must be after a fence.
    unfenced: bool,
}

impl<P: Platform> Nearest<P> {
    /// A policy for a pool with this setup.
    pub(crate) fn new(setup: &Setup<'_, P>) -> Self {
        Self {
            // No thread has posted without a fence yet.
            callable: CachePadded::new(P::AtomicU32::new(FENCED | SETTLED)),
            fenced_posts: CachePadded::new(P::AtomicU32::new(0)),
            most_fenced: MOST_FENCED,
            #[cfg(test)]
            fault: None,
            slots: ParkingSlots::new(setup.clusters),
            idle: Arc::clone(setup.idle),
            oversubscription: (setup.idle.scarce_cores())
                .map(|cores| Oversubscription::new(setup.clusters.len(), cores)),
            first_slice: P::duration_to_ticks(FIRST_SLICE),
            longest_slice: P::duration_to_ticks(LONGEST_SLICE),
        }
    }
}

#[cfg(test)]
impl<P: Platform> Nearest<P> {
    /// With a watchdog that is [impatient](Oversubscription::impatient).
    pub(super) fn impatient(mut self) -> Self {
        self.oversubscription = self.oversubscription.map(Oversubscription::impatient);
        self
    }

    /// A policy whose posters have ceased to fence, as after many posts.
    pub(super) fn light(mut self) -> Self {
        if P::has_light_fences() {
            self.callable = CachePadded::new(P::AtomicU32::new(0));
        }
        self
    }

    /// A policy that fences only this number of posts after a sleep.
    pub(super) fn fenced_for(mut self, posts: u32) -> Self {
        self.most_fenced = posts;
        self
    }

    pub(super) fn with_fault(mut self, fault: FenceFault) -> Self {
        self.fault = Some(fault);
        self
    }
}

impl<P: Platform> Nearest<P> {
    /// Names its words, for a simulator's accounts.
    pub(crate) fn name(&self) {
        P::name(&self.callable, "sleep: callable");
        P::name(&self.fenced_posts, "sleep: fenced posts");
        self.slots.name();
        if let Some(oversubscription) = &self.oversubscription {
            oversubscription.name();
        }
    }

    /// Whether a poster says if its deque was empty, which takes a look at two lines.
    #[inline(always)]
    pub(crate) fn asks_empty(&self) -> bool {
        false
    }

    /// A worker has pushed a job. This is on the path of every `join`, so `poster` names the worker
    /// only if a worker sleeps. `true`: no worker is there for the job, and a permit is
    /// [vacant](Self::set_vacant).
    #[inline(always)]
    #[must_use]
    pub(crate) fn posted_by(&self, poster: impl FnOnce() -> usize, _was_empty: bool) -> bool {
        // Orders the push before the read of the word, against the heavy fence between a sleeper's
        // entry in the count and its last look at the stacks. On a system without light fences the
        // word says so, and `call` has a real one.
        P::untested_light_fence();
        // Relaxed: ordered by the fence, and it carries no data.
        self.callable.load(Ordering::Relaxed) != 0 && self.call_from(poster())
    }

    /// `jobs` jobs were put where any worker finds them, near worker `near`. Contains a full fence.
    /// Returns as [`posted_by`](Self::posted_by).
    #[must_use]
    pub(crate) fn injected(&self, near: usize, jobs: u32, _was_empty: bool) -> bool {
        P::fence(Ordering::SeqCst);
        (0..jobs).any(|_| self.call(near))
    }

    /// Says whether a permit is vacant: a worker could be had if all others are busy. From then on
    /// posters count the permit as a sleeper, and call it last.
    pub(crate) fn set_vacant(&self, vacant: bool) {
        // Relaxed: the thread that sets it fences before it looks for jobs pushed meanwhile, or
        // knows of none (`pool/permits/`).
        if vacant {
            self.callable.fetch_or(VACANT, Ordering::Relaxed);
        } else {
            self.callable.fetch_and(!VACANT, Ordering::Relaxed);
        }
    }

    /// Whether posters hear of a vacant permit. If not, the pool finds a worker at once.
    pub(crate) fn tells_of_vacancies(&self) -> bool {
        true
    }

    /// Wakes `worker` if it sleeps.
    pub(crate) fn notify(&self, worker: usize) {
        if let Some(roused) = self.slots.rouse(worker, false) {
            roused.wake();
        }
    }

    /// Workers asleep, as a hint.
    pub(crate) fn sleepers(&self) -> u32 {
        // Relaxed: a hint.
        sleepers(self.callable.load(Ordering::Relaxed))
    }

    /// Workers asleep in the clusters `invited`, as a hint.
    pub(crate) fn sleepers_in(&self, invited: Invited) -> u32 {
        match self.sleepers() {
            0 => 0,
            all if self.slots.are_all(invited) => all,
            _ => self.slots.sleepers_in(invited),
        }
    }

    /// Wakes up to `count` sleepers in the clusters `within`, or in any, those near worker `near`
    /// first.
    pub(crate) fn wake_any(&self, near: usize, count: u32, within: Option<Invited>) {
        if count > 0 {
            self.claim_core(near);
        }
        for _ in 0..count {
            if !self.wake_one(near, false, within) {
                return;
            }
        }
    }

    /// A worker begins to look for work.
    pub(crate) fn start_looking(&self, _: usize) -> Looking {
        Looking {
            after: After::Looking,
            woken: None,
            until: 0,
            slice: self.first_slice,
            due: 0,
            timeout: None,
            called: false,
            unfenced: false,
        }
    }

    /// `worker` stops looking: it has work, or need not look any longer. Returns as
    /// [`posted_by`](Self::posted_by), for the jobs that are left.
    #[must_use]
    pub(crate) fn work_found(&self, worker: usize, idle: Looking) -> bool {
        // A worker that was called and found something calls the next: other posts may have been
        // left to it, and many sleepers are woken as a tree. So does a worker that leaves without a
        // look, since what it waited for has come.
        idle.called && self.call(worker)
    }

    /// `worker` has searched once more in vain. Returns when it should search again, the latch may
    /// be set then; and whether it has slept.
    pub(crate) fn no_work_found(
        &self,
        worker: usize,
        idle: &mut Looking,
        latch: &Latch<P>,
        scan: &dyn Scan,
    ) -> bool {
        if idle.unfenced {
            // The first search after a call was made at once. Now that it was in
            // vain: any post that was left to this worker is found by the next.
            idle.unfenced = false;
            // Acquire pairs with the Release of the sleeper that set SETTLED.
            self.fence_against_posters(self.callable.load(Ordering::Acquire));
            return false;
        }
        let seen = scan.seen();
        if scan.is_free() && self.idle.events.is_past(seen) {
            // The search ended early for this.
            idle.due = 0;
            idle.came(Woken::Spinning);
            return false;
        }
        let now = P::now();
        if idle.due != 0 {
            let due = std::mem::take(&mut idle.due);
            (self.idle).notice_late_worker(due, now, |since| scan.has_filled_cores(since));
        }
        let alone = !self.idle.other_processes_run(now);
        let watches = alone && worker <= WATCHERS && scan.is_free() && self.idle.has_period(worker);
        if !alone {
            // It would use up its share of a core, and wait for that when there is work.
            idle.until = now;
        } else if idle.until == 0 {
            idle.until = now + self.idle.spin(worker, idle.after, watches).max(1);
            if scan.is_free() && !idle.called && self.is_overfull() {
                // Other threads have work and need the core.
                idle.until = now;
            }
        }
        idle.woken = None;
        // The worker spins for a loop that ends about now, for a predicted loop, and for a loop of
        // a row that woke it.
        let spins = match idle.after {
            After::Looking => false,
            After::Sleeping => idle.timeout.is_some() || !idle.called,
            After::Helping => true,
        };
        // When a call is over its caller needs a core at once. The system may have put it on this core.
        let yields = self.idle.waiting_callers() > 0 || !spins && !scan.has_spare_core();
        if now < idle.until && yields {
            if self
                .idle
                .yield_idle_core(|since| scan.has_filled_cores(since))
            {
                if self.idle.events.is_past(seen) {
                    idle.came(Woken::Spinning);
                }
                return false;
            }
            idle.until = now;
        }
        if now < idle.until {
            let slice = (now + idle.slice).min(idle.until);
            #[cfg(test)]
            let slice = if idle.is_deaf() { idle.until } else { slice };
            idle.slice = (2 * idle.slice).min(self.longest_slice);
            idle.due = slice;
            if self.look_out(seen, slice, latch, scan) {
                idle.came(Woken::Spinning);
                // The posted job may soon post more.
                idle.slice = self.first_slice;
            }
            return false;
        }
        // Every nap is a sleep like any other, parked, with a last look at all there
        // is; and what comes next is always a search.
        let nap = |idle: &mut Looking, alarm: u64| {
            let ns = P::ticks_to_ns(alarm.saturating_sub(P::now()));
            let time = Duration::from_nanos(ns as u64);
            let called = self.sleep(worker, latch, scan, Some(time)).was_called();
            idle.called |= called;
            idle.unfenced |= called;
            if self.idle.events.is_past(seen) {
                idle.came(Woken::Sleeping);
            }
            true
        };
        if let Some(timeout) = idle.timeout.take() {
            return nap(idle, P::now() + timeout);
        }
        let expected = match watches {
            true => {
                let after = std::mem::replace(&mut idle.after, After::Sleeping);
                self.idle.expected(after == After::Helping)
            }
            false => None,
        };
        if let Some(wait) = expected {
            if now < wait.alarm {
                let napped = nap(idle, wait.alarm);
                self.idle.learn_lateness(wait.alarm);
                return napped;
            }
            // On the caller's own core this thread would be put aside just when the
            // loop comes, and the system sees no reason to part two threads that
            // both mostly sleep.
            P::leave_core(wait.core);
            idle.until = wait.until;
            idle.timeout = Some(wait.timeout);
            return false;
        }
        let sleep = match &self.oversubscription {
            Some(oversubscription) => self.sleep_in(oversubscription, worker, latch, scan),
            None => self.sleep(worker, latch, scan, None),
        };
        let called = sleep.was_called();
        if let Some(roused_at) = self.slots.roused_at(worker) {
            (self.idle).learn_wake(roused_at, |since| scan.has_filled_cores(since));
        }
        *idle = Looking {
            after: After::Sleeping,
            woken: Some(Woken::Sleeping),
            called: called || idle.called,
            unfenced: called,
            ..self.start_looking(worker)
        };
        sleep.blocked
    }

    /// The workers' counts of sleeps and wake-ups.
    pub(crate) fn tally(&self) -> Tally {
        let (sleeps, wakeups) = self.slots.tally();
        Tally {
            sleeps,
            wakeups,
            recovered: 0,
        }
    }
}

impl Looking {
    /// The reason of the worker's wake-up, for the loops.
    pub(crate) fn woken(&self) -> Option<Woken> {
        self.woken
    }

    /// The worker has just helped with a loop.
    pub(crate) fn helped(&mut self) {
        self.after = After::Helping;
    }

    /// Whether it waits for a loop, and for nothing else: a fault that a check asks for.
    #[cfg(test)]
    fn is_deaf(&self) -> bool {
        use crate::conserving::fault::{Fault, is};
        self.timeout.is_some() && is(Fault::DeafNap)
    }

    /// A loop was posted: there may be more of the same row.
    fn came(&mut self, woken: Woken) {
        self.woken = Some(woken);
        if self.timeout.take().is_some() || woken == Woken::Sleeping {
            self.after = After::Sleeping;
            self.until = 0;
        }
    }
}

impl<P: Platform> Nearest<P> {
    /// Spins until something is announced, or the clock passes `until`; whether
    /// something was.
    fn look_out(&self, seen: Seen, until: u64, latch: &Latch<P>, scan: &dyn Scan) -> bool {
        if scan.is_free() {
            return self.idle.events.spin(seen, until);
        }
        while !latch.is_set() && P::now() < until {
            P::relax();
        }
        false
    }
}
