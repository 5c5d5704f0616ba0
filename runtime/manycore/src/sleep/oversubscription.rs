//! Pools with more threads than cores: as many workers are awake as there are cores, and one
//! sleeper keeps watch.
//!
//! A third worker that is awake on two cores makes nothing faster: it takes the core of a worker
//! that others wait for. So a job posted while each core has an awake worker is left to those
//! workers. But an awake worker may be blocked in a user's job, and no thread can see that it is.
//! So one sleeper, the *watchdog*, naps. After each nap it looks whether a job was left, and
//! whether it finds an unused core: then it works, and the next sleeper keeps watch. An unused core
//! also shows that some awake workers are blocked; in competition with other processes, the system
//! reports some blocked threads. Then more workers may be awake: one more at first, and twice as
//! many each time, until a watchdog finds none that is blocked.
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

/// Relaxed throughout. The README argues the fences around it.
struct Watch<P: Platform> {
    /// Whether a worker keeps watch.
    watched: P::AtomicBool,
    /// Workers that are awake and blocked, as far as watchdogs have found.
    blocked: P::AtomicU32,
}

/// The watchdog's next action after a nap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// It gets up and looks for work.
    Up,
    /// It takes another nap.
    Nap,
    /// It sleeps until it is called.
    Sleep,
}

/// The watchdog's own.
pub(super) struct WatchdogTimer {
    nap: Duration,
    /// Naps in a row after which nothing was left, in all.
    in_vain: Duration,
    longest_left: Duration,
    /// Since when something has been left at each look, in ticks.
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

    /// A watchdog that leaves after one useless nap, and that leaves no job to others: for model
    /// checks, in which naps take no time.
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

    /// Whether one more than that is awake.
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

    /// Whether a worker keeps watch. After a fence; the README argues its place.
    pub(super) fn is_watched(&self) -> bool {
        // Relaxed: ordered by the caller's fences.
        self.watch.watched.load(Ordering::Relaxed)
    }

    /// Keeps watch from now on, unless another worker does.
    pub(super) fn keep_watch(&self) -> Option<WatchdogTimer> {
        // Relaxed: what the watchdog is to see it looks for after the fence of its sleep.
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

    /// The watchdog leaves. It finds jobs that others have left to it meanwhile in its next search,
    /// or in its last look before it sleeps. `fence` is against posters that have seen it on watch.
    pub(super) fn leave(&self, _: WatchdogTimer, fence: impl FnOnce()) {
        // Relaxed: ordered by the fence.
        self.watch.watched.store(false, Ordering::Relaxed);
        fence();
    }
}

impl WatchdogTimer {
    /// How long to sleep now.
    pub(super) fn nap(&self) -> Duration {
        self.nap
    }
}

impl<P: Platform> Oversubscription<P> {
    /// The watchdog's next action after a nap in a full pool. `left`: no worker has begun some job.
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
        // The second takes a time slice beside other processes.
        if scan.is_any_blocked() || has_idle_core::<P>() {
            self.set_blocked(
                (2 * self.blocked() + 1).min(self.permits - self.cores.min(self.permits)),
            );
            return Next::Up;
        }
        self.set_blocked(0);
        let now = P::now();
        let since = *timer.left_since.get_or_insert(now);
        if now - since >= P::duration_to_ticks(timer.longest_left) {
            return Next::Up;
        }
        timer.nap = (2 * timer.nap).min(WATCH_LONGEST_NAP);
        Next::Nap
    }
}

/// Whether the system has given this thread, which has just woken, a core that no other thread
/// wants.
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
