//! Measures how often the ranks (threads) of a team meet. The result decides whether to use a core that another process
//! shares.
//!
//! The other process stops a worker, with its rank, for some milliseconds at a time. If the ranks meet more often, all
//! of them wait for the stopped rank at each barrier. In that case a team is faster on one core than on one core and half
//! of another. If the intervals between barriers are longer, half a core is a gain.
//!
//! The measure is the processor time between two barriers. Time by the clock would also contain the time of other
//! threads.

use super::division::Division;
use super::registry::{self, Seen};
use crate::environment::cores::heed_neighbours;
use manycore_platform::process::cpu_time;
use std::ptr;
use std::time::Duration;

/// Intervals below this count as short: they are no longer than a few time slices of the system.
const SHORT: Duration = Duration::from_millis(10);
/// How long meetings are counted before each decision.
const WINDOW: Duration = Duration::from_millis(100);
/// After this number of windows without short intervals, intervals count as long. Fewer such windows may be a serial
/// part of the program.
const LONG: u32 = 10;

/// The state at the last count.
pub(super) struct Granularity {
    division: *const Division,
    meetings: u64,
    used: Duration,
    windows_without: u32,
}

impl Granularity {
    /// The main function of a thread that counts. `heed_neighbours` takes a lock of the watch, so this thread may wait.
    /// The watchdog must not wait, so it does not do this work.
    pub(super) fn count() {
        let mut granularity = Self::new();
        let mut seen = Seen::default();
        loop {
            registry::rest(&mut seen);
            std::thread::sleep(WINDOW);
            granularity.look();
        }
    }

    fn new() -> Self {
        Self {
            division: ptr::null(),
            meetings: 0,
            used: Duration::ZERO,
            windows_without: 0,
        }
    }

    /// Counts the meetings since the last look, and decides whether cores that other processes keep busy count as gone.
    fn look(&mut self) {
        let (Some(division), Some(used)) = (registry::division(), cpu_time()) else {
            return;
        };
        let is_same = ptr::eq(self.division, division);
        let met = division.meetings().wrapping_sub(self.meetings);
        let spent = used.saturating_sub(self.used);
        self.division = division;
        (self.meetings, self.used) = (division.meetings(), used);
        if is_same {
            self.windows_without = windows_without(self.windows_without, met, spent);
            heed_neighbours(self.windows_without < LONG);
        }
    }
}

/// The number of windows in a row without short intervals.
fn windows_without(before: u32, met: u64, spent: Duration) -> u32 {
    let most = SHORT.saturating_mul(u32::try_from(met).unwrap_or(u32::MAX));
    if met > 0 && spent < most {
        0
    } else {
        before.saturating_add(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_intervals_differ_from_long_intervals() {
        let spent = Duration::from_millis(150);
        assert_eq!(windows_without(7, 500, spent), 0);
        assert_eq!(windows_without(7, 16, spent), 0);
        assert_eq!(windows_without(7, 15, spent), 8);
        assert_eq!(windows_without(7, 0, Duration::ZERO), 8);
    }
}
