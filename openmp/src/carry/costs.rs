//! The costs of a cut (of a signal that makes a rank leave its worker), measured at each cut.

use super::median::Median;
use std::time::Duration;

/// How late signals are. The timer is set earlier by this time.
pub(super) static LATE: Median = Median::at_first(Duration::from_micros(15));
/// How long it takes to set the timer.
pub(super) static SET: Median = Median::at_first(Duration::from_micros(8));

/// The ticks that a cut costs a worker: setting the timer, its interrupt and the signal. The time by which the signal
/// is late stands for the cost of the interrupt and the signal.
pub(super) fn cut() -> u64 {
    SET.ticks() + LATE.ticks()
}
