//! The mean of a few samples, and its interval.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// The share of intervals that contain the true mean.
const CONFIDENCE: f64 = 0.95;

/// A mean, and half of its interval's width if there are two or more samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Mean {
    pub(crate) mean: f64,
    pub(crate) half: Option<f64>,
}

impl Mean {
    /// The mean of samples, with Student's interval. Returns `None` if there are no samples.
    pub(crate) fn of(samples: &[f64]) -> Option<Self> {
        Self::of_chosen(samples, 1)
    }

    /// As [`of`](Self::of), for the mean that was chosen because it is the best of `candidates`. The interval is wider,
    /// so that with the usual confidence the intervals of all candidates contain their true means (Bonferroni).
    pub(crate) fn of_chosen(samples: &[f64], candidates: usize) -> Option<Self> {
        let count = samples.len() as f64;
        let mean = samples.iter().sum::<f64>() / count;
        let half = match samples.len() {
            0 => return None,
            1 => None,
            _ => {
                let squares = samples.iter().map(|sample| (sample - mean).powi(2));
                let deviation = (squares.sum::<f64>() / (count - 1.0)).sqrt();
                Some(quantile(count - 1.0, candidates) * deviation / count.sqrt())
            }
        };
        Some(Self { mean, half })
    }

    /// Both ends of the interval.
    pub(crate) fn interval(self) -> Option<[f64; 2]> {
        let half = self.half?;
        Some([self.mean - half, self.mean + half])
    }
}

/// Student's t, two-sided, for this many degrees of freedom. The probability that any of `candidates` means is outside
/// of its interval is at most 1 - [`CONFIDENCE`].
fn quantile(freedom: f64, candidates: usize) -> f64 {
    let student = StudentsT::new(0.0, 1.0, freedom).expect("at least one degree of freedom");
    student.inverse_cdf(1.0 - (1.0 - CONFIDENCE) / (2.0 * candidates as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_tables() {
        // Values from a table of Student's distribution, two-sided, 95%.
        for (freedom, t) in [(1.0, 12.706), (2.0, 4.303), (9.0, 2.262), (30.0, 2.042)] {
            assert!((quantile(freedom, 1) - t).abs() < 0.001, "{freedom}");
        }
    }

    /// If all candidates are equal, the best of them seems to differ in at most 5 of 100 cases.
    #[test]
    fn the_best_of_equals_is_rarely_called_better() {
        let mut random = fastrand::Rng::with_seed(11);
        let mut sample = || (0..12).map(|_| random.f64()).sum::<f64>() - 6.0;
        let claimed = (0..2000).filter(|_| {
            let candidates = (0..8).map(|_| [(); 10].map(|()| sample()));
            let best = candidates.min_by(|a, b| {
                let [a, b] = [a, b].map(|samples| samples.iter().sum::<f64>());
                a.total_cmp(&b)
            });
            let [_, high] = Mean::of_chosen(&best.unwrap(), 8)
                .unwrap()
                .interval()
                .unwrap();
            high < 0.0
        });
        let claimed = claimed.count();
        assert!((10..=80).contains(&claimed), "{claimed} of 2000");
    }

    #[test]
    fn one_sample_has_no_interval() {
        let mean = Mean::of(&[3.0]).unwrap();
        assert_eq!((mean.mean, mean.interval()), (3.0, None));
        assert_eq!(Mean::of(&[]), None);
    }

    /// About 95 of 100 intervals contain the samples' known mean.
    #[test]
    fn intervals_contain_the_mean_in_95_percent() {
        let mut random = fastrand::Rng::with_seed(7);
        let held = (0..4000).filter(|_| {
            // A sum of twelve uniform numbers is nearly normal.
            let mut sample = || (0..12).map(|_| random.f64()).sum::<f64>();
            let samples: Vec<f64> = (0..5).map(|_| sample()).collect();
            let [low, high] = Mean::of(&samples).unwrap().interval().unwrap();
            (low..=high).contains(&6.0)
        });
        let held = held.count();
        assert!((3740..=3860).contains(&held), "{held} of 4000");
    }
}
