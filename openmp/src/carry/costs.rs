//! The costs of preemption, measured at each one.

use super::median::Median;
use std::time::Duration;

/// How late signals are: so much earlier the timer is set.
pub(super) static LATE: Median = Median::at_first(Duration::from_micros(15));
/// How long it takes to set the timer.
pub(super) static SET: Median = Median::at_first(Duration::from_micros(8));

/// A cut's cost in a worker's time, in ticks: to set the timer, its interrupt and the signal. It is
/// as if the rank were interrupted for as long as the signal is late.
pub(super) fn cut() -> u64 {
    SET.ticks() + LATE.ticks()
}
