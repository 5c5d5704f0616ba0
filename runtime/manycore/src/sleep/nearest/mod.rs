//! The default sleep policy. A word, `callable`, says whether a post must wake a worker. The parking slots, in which
//! workers sleep, are grouped by cluster (a group of near workers).

mod calling;
#[cfg(test)]
mod late_checked;
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
use calling::{Calls, FENCED, FencedPosts, MOST_FENCED, SETTLED, VACANT, sleepers};
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Ordering, Platform};
use std::sync::Arc;
use std::time::Duration;

/// The number of workers that spin for expected loops, each on its own core. These are the workers 1 to this number,
/// since worker 0 is the caller. A worker that was woken and joins a loop wakes others.
const WATCHERS: usize = 2;

/// The default policy, `ours` on the command line.
///
/// A post reads one word, `callable`. If it is 0, the post need not wake a worker. The word has its own cache line,
/// which threads write only when a worker falls asleep, is woken, or begins to look. The word does not count idle
/// workers that are awake, since they find jobs by looking. The post wakes a worker of the poster's cluster if one
/// sleeps there. If that worker finds work, it wakes the next worker.
///
/// `README.md` in this folder argues that no wake-up is lost.
pub(crate) struct Nearest<P: Platform> {
    /// The numbers of sleeping *free workers*, which may take any job, and of sleeping *waiters*, which wait for a
    /// stolen job. Further bits say whether posters or sleepers make the fence (`calling.rs`).
    callable: CachePadded<P::AtomicU32>,
    /// For each permit, its holder's posts while posters fence.
    fenced_posts: Box<[CachePadded<FencedPosts<P>>]>,
    most_fenced: u32,
    calls: CachePadded<Calls<P>>,
    #[cfg(test)]
    fault: Option<FenceFault>,
    #[cfg(test)]
    is_hasty: bool,
    slots: ParkingSlots<P>,
    idle: Arc<Idle<P>>,
    /// Present if threads outnumber cores.
    oversubscription: Option<Oversubscription<P>>,
    first_slice: u64,
    longest_slice: u64,
}

/// The state of a worker that looks for work.
pub(crate) struct Looking {
    after: After,
    woken: Option<Woken>,
    /// The time at which to stop spinning, or 0 if this is not yet decided.
    until: u64,
    slice: u64,
    /// If the worker has just spun, the time at which it was to search again. Otherwise 0.
    due: u64,
    /// While the worker spins for an expected loop, how long it will sleep if the loop has not come by `until`.
    timeout: Option<u64>,
    /// Whether a post woke the worker. If so, other posters may have left their jobs to this worker.
    called: bool,
    /// Whether the worker was called and has not yet made the fence before its second search.
    unfenced: bool,
}

impl<P: Platform> Nearest<P> {
    /// Makes the policy of a pool.
    pub(crate) fn new(setup: &Setup<'_, P>) -> Self {
        Self {
            // No thread has posted without a fence yet.
            callable: CachePadded::new(P::AtomicU32::new(FENCED | SETTLED)),
            fenced_posts: (setup.clusters.iter())
                .map(|_| CachePadded::new(FencedPosts::new()))
                .collect(),
            most_fenced: MOST_FENCED,
            calls: CachePadded::new(Calls::new()),
            #[cfg(test)]
            fault: None,
            #[cfg(test)]
            is_hasty: false,
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
    /// Makes the watchdog, the sleeper that keeps watch, [impatient](Oversubscription::impatient).
    pub(super) fn impatient(mut self) -> Self {
        self.oversubscription = self.oversubscription.map(Oversubscription::impatient);
        self
    }

    /// Puts the policy in the state that it has after many posts, in which posters do not fence.
    pub(super) fn light(mut self) -> Self {
        if P::has_light_fences() {
            self.callable = CachePadded::new(P::AtomicU32::new(0));
        }
        self
    }

    /// Makes each call late at once.
    pub(super) fn hasty(mut self) -> Self {
        self.is_hasty = true;
        self
    }

    /// Makes posters stop fencing `posts` posts after a sleep.
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
    /// Names the policy's words for a simulator, which counts the accesses to each.
    pub(crate) fn name(&self) {
        P::name(&self.callable, "sleep: callable");
        P::name(&*self.fenced_posts, "sleep: fenced posts");
        P::name(&self.calls, "sleep: calls under way");
        self.slots.name();
        if let Some(oversubscription) = &self.oversubscription {
            oversubscription.name();
        }
    }

    /// Whether the policy uses `was_empty` in [`posted_by`](Self::posted_by). To find out `was_empty`, a poster reads
    /// two cache lines.
    #[inline(always)]
    pub(crate) fn asks_empty(&self) -> bool {
        false
    }

    /// A worker has pushed a job. Every `join` calls this, so `poster`, which returns the worker's number, is called
    /// only if a worker sleeps. Returns `true` if no worker can be woken for the job and a permit (a right to run jobs)
    /// is [vacant](Self::set_vacant).
    #[inline(always)]
    #[must_use]
    pub(crate) fn posted_by(&self, poster: impl FnOnce() -> usize, _was_empty: bool) -> bool {
        // This fence orders the push before the read of the word. It pairs with the heavy fence between the exchange
        // that counts a sleeper and the sleeper's last look at the stacks. On a system without light fences the word
        // has FENCED set, and `call` makes a full fence.
        P::untested_light_fence();
        // Relaxed: the fence orders this load, and the word publishes no data.
        self.callable.load(Ordering::Relaxed) != 0 && self.call_from(poster())
    }

    /// A thread has put `jobs` jobs where any worker finds them, near worker `near`. Makes a full fence.
    /// Returns the same as [`posted_by`](Self::posted_by).
    #[must_use]
    pub(crate) fn injected(&self, near: usize, jobs: u32, _was_empty: bool) -> bool {
        P::fence(Ordering::SeqCst);
        (0..jobs).any(|_| self.call(near))
    }

    /// Records whether a permit is vacant. If one is, the pool can start or wake another worker when all workers are
    /// busy. Posters count a vacant permit as a sleeper, and use it last.
    pub(crate) fn set_vacant(&self, vacant: bool) {
        // Relaxed: a thread that sets the bit fences before it looks for jobs that were pushed meanwhile, or knows
        // that there are no such jobs (`pool/permits/`).
        if vacant {
            self.callable.fetch_or(VACANT, Ordering::Relaxed);
        } else {
            self.callable.fetch_and(!VACANT, Ordering::Relaxed);
        }
    }

    /// Whether posters learn of a vacant permit. If not, the pool finds a worker for it at once.
    pub(crate) fn tells_of_vacancies(&self) -> bool {
        true
    }

    /// Wakes `worker` if it sleeps.
    pub(crate) fn notify(&self, worker: usize) {
        if let Some(roused) = self.slots.rouse(worker, false) {
            roused.wake();
        }
    }

    /// The number of sleeping workers, as a hint.
    pub(crate) fn sleepers(&self) -> u32 {
        // Relaxed: this is a hint.
        sleepers(self.callable.load(Ordering::Relaxed))
    }

    /// The number of sleeping workers in the clusters `invited`, as a hint.
    pub(crate) fn sleepers_in(&self, invited: Invited) -> u32 {
        match self.sleepers() {
            0 => 0,
            all if self.slots.are_all(invited) => all,
            _ => self.slots.sleepers_in(invited),
        }
    }

    /// Wakes up to `count` sleepers in the clusters `within`, or in any cluster. Sleepers near worker
    /// `near` come first.
    pub(crate) fn wake_any(&self, near: usize, count: u32, within: Option<Invited>) {
        if count > 0 {
            self.claim_core(near);
        }
        for _ in 0..count {
            if !self.wake_one(near, within) {
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

    /// `worker` stops looking: it has work, or need not look any longer. Returns the same as
    /// [`posted_by`](Self::posted_by), for jobs that other posters have left to it.
    #[must_use]
    pub(crate) fn work_found(&self, worker: usize, idle: Looking) -> bool {
        // A called worker that found work calls the next worker: other posters may have left jobs to the called
        // worker, and many sleepers are woken as a tree. A called worker that need not search, because its wait is
        // over, calls the next worker too.
        idle.called && self.call(worker)
    }

    /// `worker` has searched in vain. This function waits until the worker should search again, or until the latch may
    /// be set. Returns whether the worker has slept.
    pub(crate) fn no_work_found(
        &self,
        worker: usize,
        idle: &mut Looking,
        latch: &Latch<P>,
        scan: &dyn Scan,
    ) -> bool {
        if idle.unfenced {
            // The first search after the call made no fence, and was in vain. After a fence, the next search finds any
            // job that was left to this worker, unless another thread uses the job's queue at that moment.
            idle.unfenced = false;
            // Acquire pairs with the release by the sleeper that set SETTLED.
            self.fence_against_posters(self.callable.load(Ordering::Acquire));
            return false;
        }
        let seen = scan.seen();
        if scan.is_free() && self.idle.events.is_past(seen) {
            // The worker searches again at once, so its lateness does not count.
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
            // A spinning worker that shares its core would use up its share of the time, and be late when work comes.
            idle.until = now;
        } else if idle.until == 0 {
            idle.until = now + self.idle.spin(worker, idle.after, watches).max(1);
            if scan.is_free() && !idle.called && self.is_overfull() {
                // Other workers have work and need this core.
                idle.until = now;
            }
        }
        idle.woken = None;
        // The worker spins at the end of a loop, for a predicted loop, and after a wake-up for a loop,
        // since more loops may follow.
        let spins = match idle.after {
            After::Looking => false,
            After::Sleeping => idle.timeout.is_some() || !idle.called,
            After::Helping => true,
        };
        // When a call ends, its caller needs a core at once. The system may have put the caller on this
        // core.
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
                // More posts may follow soon.
                idle.slice = self.first_slice;
            }
            return false;
        }
        // A nap is a complete sleep: the worker parks and takes a last look at all kinds of work. After a nap the
        // worker always searches.
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
            // If this thread were on the caller's core, it would lose the core just when the loop comes. The system
            // would not separate these two threads, since both mostly sleep.
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

    /// Returns the workers' counts of sleeps and wake-ups.
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
    /// Why the worker was woken, or stopped waiting.
    pub(crate) fn woken(&self) -> Option<Woken> {
        self.woken
    }

    /// Notes that the worker has just helped with a loop.
    pub(crate) fn helped(&mut self) {
        self.after = After::Helping;
    }

    /// Whether the worker ignores jobs until the expected loop comes. This is a fault that a test inserts.
    #[cfg(test)]
    fn is_deaf(&self) -> bool {
        use crate::conserving::fault::{Fault, is};
        self.timeout.is_some() && is(Fault::DeafNap)
    }

    /// Notes that a loop was posted. More loops may follow.
    fn came(&mut self, woken: Woken) {
        self.woken = Some(woken);
        if self.timeout.take().is_some() || woken == Woken::Sleeping {
            self.after = After::Sleeping;
            self.until = 0;
        }
    }
}

impl<P: Platform> Nearest<P> {
    /// Spins until the clock passes `until`. A free worker ends early if something is announced, and returns `true`.
    /// A waiter ends early if its latch is set.
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
