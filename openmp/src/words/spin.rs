//! How long a waiting thread spins before it sleeps.

use crate::environment::cores::cores;
pub(crate) use crate::environment::idle::{busy, enter, forget_regions, leave};
use crate::environment::settings;
use crate::system::clock::has_passed;
use crate::system::shared_core;
use manycore_platform::{Native, Platform};
use std::cell::Cell;
use std::time::Duration;

/// How long a thread spins by default: some four times the cost of falling asleep and waking.
const PATIENCE: Duration = Duration::from_micros(200);
/// How long a thread spins if there are more threads than cores: other threads need its core.
const CROWDED: Duration = Duration::from_micros(1);
/// How often a thread looks at the condition between two looks at the clock.
const LOOKS: u32 = 32;
/// A waiting thread yields its core each time that this duration has passed. The kernel may have woken two members of a
/// team on one core while another core is idle. The team then waits for one of these two members, and that member waits
/// for the core. A yield takes some 0.3 us if no other thread wants the core.
const YIELD: Duration = Duration::from_micros(10);
/// If a yield took longer than this, another thread has had the core. That thread may want the core again at the next
/// wait, so the waiting thread then yields after this duration.
const SHARED: Duration = Duration::from_micros(2);
/// After a yield that took longer than [`PATIENCE`], a thread does not yield in this number of waits. The first number
/// is the initial one, and the second one is the largest.
const HOLDS: [u32; 2] = [16, 1 << 12];

/// Whether a thread yields in its next waits, as learned from how long its last yields took.
///
/// If a yield gives the core to a member of the team, that member keeps the core only while the team waits for that
/// member. Another process keeps the core for a time slice, which is some milliseconds. A wait of some microseconds
/// then becomes as long as the time slice. Spinning and then sleeping costs less than such a yield. So after such a
/// yield the thread does not yield in its next waits. Each further long yield raises the number of these waits.
#[derive(Clone, Copy)]
struct Yields {
    /// Whether the last yield let another thread run.
    shares: bool,
    /// The number of coming waits without yields.
    left: u32,
    /// The value of `left` after the next long yield.
    hold: u32,
}

thread_local! {
    static YIELDS: Cell<Yields> = const { Cell::new(Yields::new()) };
}

impl Yields {
    const fn new() -> Self {
        Self {
            shares: false,
            left: 0,
            hold: HOLDS[0],
        }
    }

    /// Called when a wait begins. Returns how many ticks the thread waits before it yields.
    fn begin(&mut self) -> u64 {
        if self.left > 0 {
            self.left -= 1;
            return u64::MAX;
        }
        self.patience()
    }

    fn patience(self) -> u64 {
        if self.left > 0 {
            return u64::MAX;
        }
        Native::duration_to_ticks(if self.shares { SHARED } else { YIELD })
    }

    /// Learns that a yield took `took` ticks.
    fn learn(&mut self, took: u64) {
        let [least, most] = HOLDS;
        self.shares = took > Native::duration_to_ticks(SHARED);
        if took > Native::duration_to_ticks(PATIENCE) {
            self.left = self.hold;
            self.hold = (4 * self.hold).min(most);
        } else if self.shares {
            self.hold = (self.hold / 2).max(least);
        }
    }
}

/// When a waiting thread next yields its core to other threads. The wait began, or the thread last yielded, at `since`.
/// The thread yields `patience` ticks later. `u64::MAX` stands for never.
#[derive(Clone, Copy)]
pub(crate) struct NextYield {
    since: u64,
    patience: u64,
}

impl NextYield {
    /// The calling thread begins a wait at `since`.
    pub(crate) fn begin(since: u64) -> Self {
        let mut yields = YIELDS.get();
        let patience = yields.begin();
        YIELDS.set(yields);
        Self { since, patience }
    }

    /// Whether the thread is to yield.
    #[inline]
    pub(crate) fn is_due(self, now: u64) -> bool {
        self.patience != u64::MAX && has_passed(self.patience, self.since, now)
    }

    /// Yields the core to another thread. Returns when the thread next yields.
    #[cold]
    pub(crate) fn yield_core() -> Self {
        let begin = Native::now();
        Native::yield_now();
        let since = Native::now();
        let mut yields = YIELDS.get();
        // A clock that differs between cores can step back when the thread moves.
        yields.learn(since.saturating_sub(begin));
        if yields.shares && shared_core::leave() {
            // What the yields took was the fault of a thread of the team.
            yields = Yields::new();
        }
        YIELDS.set(yields);
        let patience = yields.patience();
        Self { since, patience }
    }
}

/// Evaluates `condition` until it holds or the thread's patience ends. Returns whether it held.
pub(crate) fn spin(condition: &dyn Fn() -> bool) -> bool {
    let settings = settings();
    let patience = match settings.patience {
        Some(patience) => patience,
        None if busy() > cores() => CROWDED,
        None => PATIENCE,
    };
    let begin = Native::now();
    let patience = Native::duration_to_ticks(patience);
    let mut next = NextYield::begin(begin);
    loop {
        for _ in 0..LOOKS {
            if condition() {
                return true;
            }
            Native::relax();
        }
        let now = Native::now();
        if has_passed(patience, begin, now) {
            return condition();
        }
        if next.is_due(now) {
            next = NextYield::yield_core();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> u64 {
        Native::duration_to_ticks(Duration::from_micros(us))
    }

    /// The number of `waits` that yield, if each yield takes `took` microseconds.
    fn yields(waits: u32, took: u64) -> u32 {
        let mut yields = Yields::new();
        let mut count = 0;
        for _ in 0..waits {
            if yields.begin() < u64::MAX {
                yields.learn(us(took));
                count += 1;
            }
        }
        count
    }

    #[test]
    fn a_core_that_other_processes_have_is_rarely_given_away() {
        assert!(yields(10_000, 3_000) < 10);
    }

    #[test]
    fn a_core_that_a_member_wants_is_given_away() {
        assert_eq!(yields(1_000, 0), 1_000);
        assert_eq!(yields(1_000, 50), 1_000);
        let mut yields = Yields::new();
        yields.learn(us(50));
        assert_eq!(yields.begin(), us(2));
        yields.learn(0);
        assert_eq!(yields.begin(), us(10));
    }
}
