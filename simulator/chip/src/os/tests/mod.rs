//! Tests the scheduler's rules one by one, with random operations, and as a whole against known
//! results of Linux.

mod random;
mod rules;
mod whole;

use crate::config;
use crate::core_set::CoreSet;

/// Linux on eight or more cores with HZ=250. Times are in microseconds.
fn linux() -> config::Os {
    config::Os {
        sticky_wakes: None,
        tick: 4_000,
        tick_cost: 0,
        latency: 24_000,
        min_granularity: 3_000,
        wakeup_granularity: 4_000,
        switch: 0,
        migration: 0,
        syscall: 0,
        ipi: 0,
        interrupt: 0,
        futex_wait: 0,
        futex_wake: 0,
        wake_latency: 0,
        deep_latency: 0,
        deep_after: 0,
        spawn: 0,
        balance: 1_000,
        balance_busy: 16,
        hot: 500,
        timer_slack: 0,
        governor: None,
    }
}

fn only(core: u32) -> CoreSet {
    CoreSet::from_iter([core])
}
