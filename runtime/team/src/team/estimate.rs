//! Estimates of a rank's work after a site, learned from its durations.

/// Noise only adds: interrupts, misses, a neighbour. So the least that was seen is
/// right, unless the work itself has grown: the estimate drifts up by this part of the
/// difference each time.
const DRIFT: u64 = 16;
/// The estimate takes over a larger value that comes this number of times in a row.
const CONSISTENT: u8 = 3;
/// A value is larger if it exceeds the estimate by more than this part.
const LARGER: u64 = 10;

/// The work of one rank, in ticks.
#[derive(Clone, Copy, Debug, Default)]
struct Estimate {
    work: u64,
    /// How often in a row it was larger.
    above: u8,
    /// The least of those.
    least_above: u64,
}

/// The work of each rank in one interval.
#[derive(Clone, Debug)]
pub(super) struct Estimates {
    ranks: Vec<Estimate>,
    times: u32,
    /// The error of the last time.
    error: f64,
}

impl Estimates {
    pub(super) fn new(ranks: usize) -> Self {
        Self {
            ranks: vec![Estimate::default(); ranks],
            times: 0,
            error: 0.0,
        }
    }

    /// How often there was something to learn from.
    pub(super) fn times(&self) -> u32 {
        self.times
    }

    /// By how much the last times were off, as a part of the work: the mean of the absolute
    /// errors of the ranks, over the mean of their work, halved from time to time.
    pub(super) fn error(&self) -> f64 {
        self.error
    }

    /// Learns from what the ranks took this time.
    pub(super) fn learn(&mut self, took: impl IntoIterator<Item = u64>) {
        let (mut off, mut sum) = (0, 0);
        for (estimate, took) in self.ranks.iter_mut().zip(took) {
            sum += took;
            if self.times == 0 {
                estimate.work = took;
            } else {
                off += took.abs_diff(estimate.work);
                estimate.learn(took);
            }
        }
        let error = off as f64 / (sum as f64).max(1.0);
        self.error = if self.times <= 1 {
            error
        } else {
            // One bad time is noise, two are a habit.
            error.min(1.0).midpoint(self.error)
        };
        self.times = self.times.saturating_add(1);
    }

    pub(super) fn work(&self, into: &mut Vec<u64>) {
        into.clear();
        into.extend(self.ranks.iter().map(|estimate| estimate.work));
    }
}

impl Estimate {
    fn learn(&mut self, took: u64) {
        if took <= self.work {
            self.work = took;
            self.above = 0;
            return;
        }
        if took > self.work + self.work / LARGER {
            self.least_above = if self.above == 0 {
                took
            } else {
                took.min(self.least_above)
            };
            self.above += 1;
            if self.above >= CONSISTENT {
                self.work = self.least_above;
                self.above = 0;
                return;
            }
        } else {
            self.above = 0;
        }
        self.work += (took - self.work) / DRIFT;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learned(times: impl IntoIterator<Item = u64>) -> Estimates {
        let mut estimates = Estimates::new(1);
        times.into_iter().for_each(|took| estimates.learn([took]));
        estimates
    }

    fn work(estimates: &Estimates) -> u64 {
        estimates.ranks[0].work
    }

    #[test]
    fn noise_does_not_move_it() {
        // A neighbour takes the core every third time.
        let estimates = learned((0..300).map(|time| if time % 3 == 2 { 5_000 } else { 1_000 }));
        assert!((1_000..1_300).contains(&work(&estimates)), "{estimates:?}");
    }

    #[test]
    fn growth_is_adopted_after_three() {
        let mut estimates = learned([1_000; 20]);
        for _ in 0..3 {
            estimates.learn([3_000]);
        }
        assert_eq!(work(&estimates), 3_000);
        for _ in 0..4 {
            estimates.learn([3_000]);
        }
        assert!(estimates.error() < 0.1, "{estimates:?}");
    }

    #[test]
    fn slow_growth_is_followed() {
        let mut estimates = learned([1_000]);
        for _ in 0..100 {
            estimates.learn([1_050]);
        }
        assert!((1_030..=1_050).contains(&work(&estimates)), "{estimates:?}");
    }

    #[test]
    fn it_shrinks_at_once() {
        assert_eq!(work(&learned([1_000, 1_000, 400])), 400);
    }

    #[test]
    fn what_changes_each_time_has_a_large_error() {
        let estimates = learned((0..50).map(|time| 1_000 + 997 * time % 2_000));
        assert!(estimates.error() > 0.1, "{estimates:?}");
        assert!(learned([1_000; 50]).error() == 0.0);
    }
}
