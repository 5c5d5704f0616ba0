//! Pools with more threads than cores: as many workers are awake as there are cores, and one
//! of those that sleep keeps watch.
//!
//! A third worker that is awake on two cores makes nothing faster: it takes the core of one that
//! others wait for. So a job that is posted while as many are awake as there are cores is left to
//! them. But a worker that is awake may be blocked in a job of the user's, and no thread can see
//! that it is. So one sleeper, the *watchdog*, naps. After each it looks whether something was
//! left, and whether it finds a core that nobody uses: then it works, and the next sleeper keeps
//! watch.
//!
//! `README.md` in this folder proves that some worker picks up every job.

use manycore_platform::{Atomic, CachePadded, Ordering, Platform};
use std::time::Duration;

/// The first nap: some times what it takes to wake somebody.
const FIRST_NAP: Duration = Duration::from_micros(200);
/// The longest while something is left: so late a job is seen when all who are awake block.
const LONGEST_NAP: Duration = Duration::from_millis(2);
/// For so long something may be left to workers that are awake and keep all cores busy: they
/// may be spinning for that very job.
const LONGEST_LEFT: Duration = Duration::from_millis(10);
/// The watchdog leaves when nothing has been left during a nap of this length: after twice that.
const LAST_NAP: Duration = Duration::from_millis(50);
/// A core is idle if a thread that yields it gets it back at once, for as long as that.
const PROBE: Duration = Duration::from_micros(20);
/// Getting it back later than this is not at once: somebody else has run.
const AT_ONCE: Duration = Duration::from_micros(8);

/// What is known of a pool with more threads than cores.
pub(super) struct Oversubscription<P: Platform> {
    permits: u32,
    cores: u32,
    first_nap: Duration,
    longest_left: Duration,
    /// Whether a worker keeps watch.
    watched: CachePadded<P::AtomicBool>,
}

/// What the watchdog does after a nap.
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
    longest_left: Duration,
    /// Since when something has been left at each look, in ticks.
    left_since: Option<u64>,
}

impl<P: Platform> Oversubscription<P> {
    pub(super) fn new(permits: usize, cores: usize) -> Self {
        Self {
            permits: permits as u32,
            cores: cores.max(1) as u32,
            first_nap: FIRST_NAP,
            longest_left: LONGEST_LEFT,
            watched: CachePadded::new(P::AtomicBool::new(false)),
        }
    }

    /// A watchdog that leaves after one nap in vain, and that leaves nothing: for model checks,
    /// in which naps take no time.
    #[cfg(test)]
    pub(super) fn impatient(mut self) -> Self {
        (self.first_nap, self.longest_left) = (LAST_NAP, Duration::ZERO);
        self
    }

    pub(super) fn name(&self) {
        P::name(&self.watched, "sleep: sentry");
    }

    /// Whether each core has a worker that is awake, beside `asleep` who are not.
    pub(super) fn is_full(&self, asleep: u32) -> bool {
        asleep + self.cores <= self.permits
    }

    /// Whether one more than that is awake.
    pub(super) fn is_overfull(&self, asleep: u32) -> bool {
        asleep + self.cores < self.permits
    }

    /// Whether a worker keeps watch. After a fence; the README argues its place.
    pub(super) fn is_watched(&self) -> bool {
        // Relaxed: ordered by the caller's fences.
        self.watched.load(Ordering::Relaxed)
    }

    /// Keeps watch from now on, unless somebody does.
    pub(super) fn keep_watch(&self) -> Option<WatchdogTimer> {
        // Relaxed: what the watchdog is to see it looks for after the fence of its sleep.
        let alone = !self.is_watched()
            && (self.watched)
                .compare_exchange(false, true, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok();
        alone.then_some(WatchdogTimer {
            nap: self.first_nap,
            longest_left: self.longest_left,
            left_since: None,
        })
    }

    /// The watchdog leaves. What has been left to it meanwhile it finds in its next search, or
    /// in its last look before it sleeps. `fence` is against posters that have seen it on watch.
    pub(super) fn leave(&self, _: WatchdogTimer, fence: impl FnOnce()) {
        // Relaxed: ordered by the fence.
        self.watched.store(false, Ordering::Relaxed);
        fence();
    }
}

impl WatchdogTimer {
    /// How long to sleep now.
    pub(super) fn nap(&self) -> Duration {
        self.nap
    }

    /// After a nap in a full pool; `left`: there is something that nobody has begun.
    pub(super) fn after_nap<P: Platform>(&mut self, left: bool) -> Next {
        if !left {
            self.left_since = None;
            if self.nap >= LAST_NAP {
                return Next::Sleep;
            }
            self.nap = (2 * self.nap).min(LAST_NAP);
            return Next::Nap;
        }
        #[cfg(test)]
        if crate::conserving::fault::is(crate::conserving::fault::Fault::SleepySentry) {
            return Next::Nap;
        }
        let now = P::now();
        let since = *self.left_since.get_or_insert(now);
        if now - since >= P::duration_to_ticks(self.longest_left) || has_idle_core::<P>() {
            return Next::Up;
        }
        self.nap = (2 * self.nap).min(LONGEST_NAP);
        Next::Nap
    }
}

/// Whether the system has given this thread, which has just woken, a core that nobody else
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
