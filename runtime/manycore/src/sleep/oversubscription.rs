//! Pools with more threads than cores: as many workers are awake as there are cores, and one of the sleeping workers
//! keeps watch.
//!
//! On two cores, a third awake worker makes nothing faster: it takes the core of a worker for which other threads
//! wait. So if a job is posted while each core has an awake worker, the job is left to those workers. But an awake
//! worker may be blocked in a user's job, and no thread can see that. So one sleeper, the *watchdog*, sleeps only for
//! short times (naps). After each nap, the watchdog checks whether a job was left and whether a core is unused. If
//! both hold, the watchdog works, and the next sleeper keeps watch. An unused core shows that some awake workers are
//! blocked. If other processes use the cores, no core is unused, so the watchdog also asks the system for blocked
//! threads. If workers are blocked, more workers may be awake: 1 more at first, then 3, then 7, until a watchdog finds
//! no blocked worker.
//!
//! `README.md` in this folder proves that some worker picks up every job.

use super::policy::Scan;
use crate::times::{AT_ONCE, IN_VAIN, LONGEST_LEFT, PROBE, WATCH_FIRST_NAP, WATCH_LONGEST_NAP};
use manycore_platform::{Atomic, CachePadded, Ordering, Platform};
use std::time::Duration;

/// The state of a pool with more threads than cores.
pub(super) struct Oversubscription<P: Platform> {
    permits: u32,
    cores: u32,
    first_nap: Duration,
    longest_left: Duration,
    watch: CachePadded<Watch<P>>,
}

/// All accesses are relaxed. The README gives the reasons for the fences around them.
struct Watch<P: Platform> {
    /// Whether a worker keeps watch.
    watched: P::AtomicBool,
    /// The number of awake workers that are blocked, as watchdogs estimate it.
    blocked: P::AtomicU32,
}

/// The watchdog's next action after a nap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The watchdog gets up and looks for work.
    Up,
    /// The watchdog takes another nap.
    Nap,
    /// The watchdog ends its watch and sleeps until it is called.
    Sleep,
}

/// The watchdog's data, which no other thread reads.
pub(super) struct WatchdogTimer {
    nap: Duration,
    /// The total time of the latest naps in a row after which no job was left.
    in_vain: Duration,
    longest_left: Duration,
    /// The time, in ticks, since which each look has found a job that was left.
    left_since: Option<u64>,
}

impl<P: Platform> Oversubscription<P> {
    pub(super) fn new(permits: usize, cores: usize) -> Self {
        Self {
            permits: permits as u32,
            cores: cores.max(1) as u32,
            first_nap: WATCH_FIRST_NAP,
            longest_left: LONGEST_LEFT,
            watch: CachePadded::new(Watch {
                watched: P::AtomicBool::new(false),
                blocked: P::AtomicU32::new(0),
            }),
        }
    }

    /// Makes watchdogs end their watch after one useless nap, and leave no job to others. Model checks need
    /// this, since naps take no time there.
    #[cfg(test)]
    pub(super) fn impatient(mut self) -> Self {
        (self.first_nap, self.longest_left) = (IN_VAIN, Duration::ZERO);
        self
    }

    pub(super) fn name(&self) {
        P::name(&self.watch.watched, "sleep: sentry");
    }

    /// Whether each core has an awake worker, if `asleep` workers sleep.
    pub(super) fn is_full(&self, asleep: u32) -> bool {
        asleep + self.cores + self.blocked() <= self.permits
    }

    /// Whether more workers are awake than make the pool full, if `asleep` workers sleep.
    pub(super) fn is_overfull(&self, asleep: u32) -> bool {
        asleep + self.cores + self.blocked() < self.permits
    }

    fn blocked(&self) -> u32 {
        self.watch.blocked.load(Ordering::Relaxed)
    }

    fn set_blocked(&self, blocked: u32) {
        if self.blocked() != blocked {
            self.watch.blocked.store(blocked, Ordering::Relaxed);
        }
    }

    /// Whether a worker keeps watch. The caller has made a fence, at the place that the README names.
    pub(super) fn is_watched(&self) -> bool {
        // Relaxed: the caller's fences order this load.
        self.watch.watched.load(Ordering::Relaxed)
    }

    /// Makes the caller the watchdog, unless another worker keeps watch.
    pub(super) fn keep_watch(&self) -> Option<WatchdogTimer> {
        // Relaxed: the watchdog looks for jobs only after the fence of its sleep.
        let alone = !self.is_watched()
            && (self.watch.watched)
                .compare_exchange(false, true, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok();
        alone.then_some(WatchdogTimer {
            nap: self.first_nap,
            in_vain: Duration::ZERO,
            longest_left: self.longest_left,
            left_since: None,
        })
    }

    /// Ends the watch. The watchdog's next search, or its last look before it sleeps, finds the jobs that other
    /// threads have left to it. `fence` orders the end of the watch against posters that have seen the watch.
    pub(super) fn leave(&self, _: WatchdogTimer, fence: impl FnOnce()) {
        // Relaxed: the fence orders this store.
        self.watch.watched.store(false, Ordering::Relaxed);
        fence();
    }
}

impl WatchdogTimer {
    /// How long the next nap is.
    pub(super) fn nap(&self) -> Duration {
        self.nap
    }
}

impl<P: Platform> Oversubscription<P> {
    /// The watchdog's next action after a nap in a full pool, in which each core has an awake worker. `left` says
    /// whether there is a job that no worker has begun.
    pub(super) fn after_nap(&self, timer: &mut WatchdogTimer, left: bool, scan: &dyn Scan) -> Next {
        if !left {
            self.set_blocked(0);
            timer.left_since = None;
            timer.in_vain += timer.nap;
            if timer.in_vain >= IN_VAIN {
                return Next::Sleep;
            }
            timer.nap = (2 * timer.nap).min(WATCH_LONGEST_NAP);
            return Next::Nap;
        }
        timer.in_vain = Duration::ZERO;
        #[cfg(test)]
        if crate::conserving::fault::is(crate::conserving::fault::Fault::SleepySentry) {
            return Next::Nap;
        }
        // The probe for an idle core comes second, since it takes a time slice if other processes use the cores.
        if scan.is_any_blocked() || has_idle_core::<P>() {
            self.set_blocked(
                (2 * self.blocked() + 1).min(self.permits - self.cores.min(self.permits)),
            );
            return Next::Up;
        }
        self.set_blocked(0);
        let now = P::now();
        let since = *timer.left_since.get_or_insert(now);
        if now.saturating_sub(since) >= P::duration_to_ticks(timer.longest_left) {
            return Next::Up;
        }
        timer.nap = (2 * timer.nap).min(WATCH_LONGEST_NAP);
        Next::Nap
    }
}

/// Whether no other thread wants the core of this thread, which has just woken.
fn has_idle_core<P: Platform>() -> bool {
    let (probe, at_once) = (P::duration_to_ticks(PROBE), P::duration_to_ticks(AT_ONCE));
    let begin = P::now();
    let mut before = begin;
    loop {
        P::yield_now();
        let now = P::now();
        if now.saturating_sub(before) > at_once {
            return false;
        }
        if now.saturating_sub(begin) >= probe {
            return true;
        }
        before = now;
    }
}
