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
/// A waiting thread first looks after this time whether it shares its core with another thread of the team. The time to
/// each further look is twice as long, up to [`RARE`].
const LOOK: Duration = Duration::from_micros(10);
const RARE: Duration = Duration::from_millis(1);
/// If a thread shares its core, it yields, and looks again after this time.
const YIELD: Duration = Duration::from_micros(2);

/// When a waiting thread next looks whether it shares its core. The wait began, or the thread last looked, at `since`.
/// The next look is `patience` ticks later.
#[derive(Clone, Copy)]
pub(crate) struct NextLook {
    since: u64,
    patience: u64,
}

impl NextLook {
    /// The calling thread begins a wait at `since`.
    pub(crate) fn begin(since: u64) -> Self {
        let patience = Native::duration_to_ticks(LOOK);
        Self { since, patience }
    }

    #[inline]
    pub(crate) fn is_due(self, now: u64) -> bool {
        has_passed(self.patience, self.since, now)
    }

    /// Looks. If the thread shares its core, it leaves the core if it `may_move`, or yields. Returns the next look.
    #[cold]
    pub(crate) fn look(self, may_move: bool) -> Self {
        let is_shared = shared_core::is_shared(may_move);
        if is_shared {
            Native::yield_now();
        }
        if is_shared && may_move {
            // The kernel counts a yield as a preemption.
            let known = PREEMPTIONS.get();
            let count = Native::preemptions();
            PREEMPTIONS.set(Preemptions { count, ..known });
        }
        let patience = match is_shared {
            true => Native::duration_to_ticks(YIELD),
            false => (2 * self.patience).min(Native::duration_to_ticks(RARE)),
        };
        let since = Native::now();
        Self { since, patience }
    }
}

/// If two waits within this duration find that the kernel has preempted the thread, other threads want its core.
const RECENT: Duration = Duration::from_millis(20);

/// How often the kernel has preempted a thread, as far as its waits have seen.
#[derive(Clone, Copy, Default)]
struct Preemptions {
    count: u64,
    /// When a wait last found a new count.
    since: u64,
    is_frequent: bool,
}

thread_local! {
    static PREEMPTIONS: Cell<Preemptions> = const {
        Cell::new(Preemptions { count: 0, since: 0, is_frequent: false })
    };
}

impl Preemptions {
    /// Notes the count at `now`.
    fn note(&mut self, count: u64, now: u64) {
        let is_recent = !has_passed(Native::duration_to_ticks(RECENT), self.since, now);
        if count != self.count {
            self.is_frequent = is_recent;
            (self.count, self.since) = (count, now);
        } else if !is_recent {
            self.is_frequent = false;
        }
    }
}

/// Whether other threads of the system want the core of the calling thread, which waits. If so, the calling thread should
/// sleep. The kernel gives each thread a share of the core. A thread that spins uses up its share, and then waits for
/// the core when work comes.
pub(crate) fn is_wanted(now: u64) -> bool {
    let mut known = PREEMPTIONS.get();
    known.note(Native::preemptions(), now);
    PREEMPTIONS.set(known);
    known.is_frequent
}

/// Evaluates `condition` until it holds or the thread's patience ends. Returns whether it held.
pub(crate) fn spin(condition: &dyn Fn() -> bool) -> bool {
    spin_until(condition, true)
}

/// As [`spin`], with no system call but `sched_yield`: the program may have entered a sandbox.
pub(crate) fn spin_at_lock(condition: &dyn Fn() -> bool) -> bool {
    spin_until(condition, false)
}

fn spin_until(condition: &dyn Fn() -> bool, may_ask: bool) -> bool {
    let settings = settings();
    let patience = match settings.patience {
        Some(patience) => patience,
        None if busy() > cores() => CROWDED,
        None => PATIENCE,
    };
    let may_leave = may_ask && settings.patience.is_none();
    let begin = Native::now();
    let patience = Native::duration_to_ticks(patience);
    let mut next = NextLook::begin(begin);
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
            if may_leave && is_wanted(now) {
                return condition();
            }
            next = next.look(may_ask);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_core_is_wanted_if_its_thread_is_preempted_repeatedly() {
        let ms = |ms| Native::duration_to_ticks(Duration::from_millis(ms));
        let start = ms(1_000);
        let mut seen = Preemptions::default();
        let mut after = |time, count| {
            seen.note(count, start + ms(time));
            seen.is_frequent
        };
        // A single preemption, such as by a thread of the kernel.
        assert!(!after(0, 5) && !after(1, 5) && !after(100, 6));
        assert!(after(110, 7) && after(120, 7) && after(125, 8));
        assert!(!after(150, 8) && !after(160, 9));
    }
}
