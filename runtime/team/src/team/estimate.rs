//! Estimates of the work of each rank (a part of a program) after a site (a barrier of that program), learned from the
//! rank's earlier times.

/// An estimate is the least time that was seen, because interrupts, cache misses and neighbours
/// only add time. The work may have grown, so each time the estimate rises by the difference
/// divided by this number.
const DRIFT: u64 = 16;
/// After this many larger times in a row the estimate becomes the least of them.
const CONSISTENT: u8 = 3;
/// A time counts as larger if it exceeds the estimate by more than the estimate divided by this
/// number.
const LARGER: u64 = 10;

/// The work of one rank, in ticks.
#[derive(Clone, Copy, Debug, Default)]
struct Estimate {
    work: u64,
    /// How many of the last times, in a row, were larger.
    above: u8,
    /// The least of these times.
    least_above: u64,
}

/// The work of each rank in one interval.
#[derive(Clone, Debug)]
pub(super) struct Estimates {
    ranks: Vec<Estimate>,
    times: u32,
    /// The value of the method `error`.
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

    /// The number of episodes (runs of an interval) from which the estimates have learned.
    pub(super) fn times(&self) -> u32 {
        self.times
    }

    /// How wrong the estimates were lately: the mean of the ranks' absolute errors, divided by the
    /// mean of their work, and each time averaged with the previous value.
    pub(super) fn error(&self) -> f64 {
        self.error
    }

    /// Learns from the times of the ranks in one episode.
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
            // This is a mean, so that a single noisy time fades.
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
    fn noise_hardly_changes_an_estimate() {
        // Another process uses the core every third time.
        let estimates = learned((0..300).map(|time| if time % 3 == 2 { 5_000 } else { 1_000 }));
        assert!((1_000..1_300).contains(&work(&estimates)), "{estimates:?}");
    }

    #[test]
    fn an_estimate_grows_after_three_larger_times() {
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
    fn an_estimate_follows_slow_growth() {
        let mut estimates = learned([1_000]);
        for _ in 0..100 {
            estimates.learn([1_050]);
        }
        assert!((1_030..=1_050).contains(&work(&estimates)), "{estimates:?}");
    }

    #[test]
    fn an_estimate_shrinks_at_once() {
        assert_eq!(work(&learned([1_000, 1_000, 400])), 400);
    }

    #[test]
    fn times_that_always_change_have_a_large_error() {
        let estimates = learned((0..50).map(|time| 1_000 + 997 * time % 2_000));
        assert!(estimates.error() > 0.1, "{estimates:?}");
        assert!(learned([1_000; 50]).error() == 0.0);
    }
}
