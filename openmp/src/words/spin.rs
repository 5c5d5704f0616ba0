//! How long a thread that waits stays awake.

use crate::environment::cores::cores;
pub(crate) use crate::environment::idle::{busy, enter, leave};
use crate::environment::settings;
use manycore_platform::{Native, Platform};
use std::cell::Cell;
use std::time::Duration;

/// Where nobody said otherwise: some four times what falling asleep and being woken take.
const PATIENCE: Duration = Duration::from_micros(200);
/// If there are more threads than cores: who waits has the core that others want.
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

thread_local! {
    /// Whether the thread's last yield let another thread run.
    static SHARES: Cell<bool> = const { Cell::new(false) };
}

/// Lets another thread have the core. Returns when to do so next.
#[cold]
fn yield_core() -> u64 {
    let begin = Native::now();
    Native::yield_now();
    let end = Native::now();
    SHARES.set(end - begin > Native::duration_to_ticks(SHARED));
    end + patience_for_core()
}

/// How long the thread waits before it yields, in ticks.
fn patience_for_core() -> u64 {
    Native::duration_to_ticks(if SHARES.get() { SHARED } else { YIELD })
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
    let mut next = begin + patience_for_core();
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
