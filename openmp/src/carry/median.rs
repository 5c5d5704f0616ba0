//! The typical duration of an action, learned from its measured durations.

use manycore_platform::{Native, Platform};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// The median of similar times, in ticks. Relaxed: the median is an estimate. If two threads learn at once, one step
/// may be lost.
pub(super) struct Median {
    /// 0 if nothing is known yet.
    ticks: AtomicU64,
    at_first: Duration,
}

impl Median {
    pub(super) const fn at_first(at_first: Duration) -> Self {
        Self {
            ticks: AtomicU64::new(0),
            at_first,
        }
    }

    pub(super) fn ticks(&self) -> u64 {
        match self.ticks.load(Relaxed) {
            0 => Native::duration_to_ticks(self.at_first),
            ticks => ticks,
        }
    }

    /// Learns from one duration. A much longer duration is ignored: it means that a worker did not run.
    pub(super) fn learn(&self, seen: u64) {
        let step = Native::duration_to_ticks(Duration::from_nanos(250));
        let most = 2 * Native::duration_to_ticks(self.at_first);
        let known = self.ticks();
        let learned = if seen < known {
            known.saturating_sub(step).max(1)
        } else if seen < known + most {
            (known + step).min(most)
        } else {
            return;
        };
        self.ticks.store(learned, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_found_and_outliers_are_ignored() {
        let us = |us| Native::duration_to_ticks(Duration::from_micros(us));
        let median = Median::at_first(Duration::from_micros(15));
        assert_eq!(median.ticks(), us(15));
        for time in 0..1_000 {
            median.learn(us([8, 9, 9, 10, 1_000][time % 5]));
        }
        assert!((us(8)..=us(10)).contains(&median.ticks()));
        for _ in 0..1_000 {
            median.learn(us(44));
        }
        assert!(median.ticks() <= us(30));
    }
}
