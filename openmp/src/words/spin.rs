//! How long a thread that waits stays awake.

use crate::environment::cores::cores;
pub(crate) use crate::environment::idle::{busy, enter, leave};
use crate::environment::settings;
use manycore_platform::{Native, Platform};
use std::cell::Cell;
use std::time::Duration;

/// The default: some four times the cost of falling asleep and waking.
const PATIENCE: Duration = Duration::from_micros(200);
/// If there are more threads than cores: a waiting thread has the core that others want.
const CROWDED: Duration = Duration::from_micros(1);
/// Looks between two looks at the clock.
const LOOKS: u32 = 32;
/// A thread that has waited for so long yields, and again each time after that. The kernel may have woken two members on one
/// core, while another core is idle. The team then waits for a thread, and that thread waits for this core. A yield takes
/// some 0.3 us if no other thread wants the core.
const YIELD: Duration = Duration::from_micros(10);
/// After a yield that took longer than this another thread has had the core: it may want it again at the next wait, so the
/// thread yields as soon as it has waited for this long.
const SHARED: Duration = Duration::from_micros(2);
/// After a yield longer than [`PATIENCE`] a thread makes this number of waits without yields: at first, and at most.
const HOLDS: [u32; 2] = [16, 1 << 12];

/// How a thread's last yields went.
///
/// A member of the team has the core for as long as the team waits for it. Another process has it for a time slice, some
/// milliseconds: a wait of some microseconds becomes that long at each yield. To stay awake and then
/// to fall asleep costs less than such a yield, whoever had the core. So the thread yields no more then for some waits, and for
/// more each time that it happens again.
#[derive(Clone, Copy)]
struct Yields {
    /// The last yield let another thread run.
    shares: bool,
    /// The number of waits without yields that are left.
    left: u32,
    /// How many there are the next time.
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

    /// A wait begins. Returns how long the thread waits before it yields, in ticks.
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

    /// A yield took `took` ticks.
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

/// Lets another thread have the core. Returns when to do so next.
#[cold]
pub(crate) fn yield_core() -> u64 {
    let begin = Native::now();
    Native::yield_now();
    let end = Native::now();
    let mut yields = YIELDS.get();
    yields.learn(end - begin);
    YIELDS.set(yields);
    end.saturating_add(yields.patience())
}

/// A wait begins. Returns how long the thread waits before it yields, in ticks.
pub(crate) fn begin_wait() -> u64 {
    let mut yields = YIELDS.get();
    let patience = yields.begin();
    YIELDS.set(yields);
    patience
}

/// Looks until `condition` holds, for as long as patience lasts. Returns whether it did.
pub(crate) fn spin(condition: &dyn Fn() -> bool) -> bool {
    let settings = settings();
    let patience = match settings.patience {
        Some(patience) => patience,
        None if busy() > cores() => CROWDED,
        None => PATIENCE,
    };
    let begin = Native::now();
    let end = begin + Native::duration_to_ticks(patience);
    let mut next = begin.saturating_add(begin_wait());
    loop {
        for _ in 0..LOOKS {
            if condition() {
                return true;
            }
            Native::relax();
        }
        let now = Native::now();
        if now >= end {
            return condition();
        }
        if now >= next {
            next = yield_core();
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
