//! How long a thread that waits stays awake.

use crate::environment::cores::cores;
use crate::environment::settings;
use manycore_platform::{Native, Platform};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

/// Where nobody said otherwise: some four times what falling asleep and being woken take.
const PATIENCE: Duration = Duration::from_micros(200);
/// If there are more threads than cores: who waits has the core that others want.
const CROWDED: Duration = Duration::from_micros(1);
/// Looks between two looks at the clock.
const LOOKS: u32 = 32;
/// A thread that has waited for so long yields, and again each time after that. The kernel may have woken two members on one
/// core, while another core is idle: then the thread that the team waits for is the one that waits for this
/// core. A yield without such a thread takes some 0.3 us.
const YIELD: Duration = Duration::from_micros(10);

/// Threads of teams beside their leaders that are in a region.
static BUSY: AtomicUsize = AtomicUsize::new(0);

/// So many threads more are in regions.
pub(crate) fn enter(threads: usize) {
    BUSY.fetch_add(threads, Relaxed);
}

/// So many fewer.
pub(crate) fn leave(threads: usize) {
    BUSY.fetch_sub(threads, Relaxed);
}

/// How many threads are in regions, if one that asks is the only leader.
pub(crate) fn busy() -> usize {
    BUSY.load(Relaxed) + 1
}

/// Looks until `condition` holds, for as long as patience lasts. Returns whether it did.
pub(crate) fn spin(condition: &dyn Fn() -> bool) -> bool {
    let settings = settings();
    let patience = match settings.patience {
        Some(patience) => patience,
        None if busy() > cores() => CROWDED,
        None => PATIENCE,
    };
    let (begin, pause) = (Native::now(), Native::duration_to_ticks(YIELD));
    let end = begin + Native::duration_to_ticks(patience);
    let mut next = begin + pause;
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
            Native::yield_now();
            next = now + pause;
        }
    }
}
