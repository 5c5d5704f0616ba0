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
    /// The mean of samples, with Student's interval. Returns `None` without samples.
    pub(crate) fn of(samples: &[f64]) -> Option<Self> {
        let count = samples.len() as f64;
        let mean = samples.iter().sum::<f64>() / count;
        let half = match samples.len() {
            0 => return None,
            1 => None,
            _ => {
                let squares = samples.iter().map(|sample| (sample - mean).powi(2));
                let deviation = (squares.sum::<f64>() / (count - 1.0)).sqrt();
                Some(quantile(count - 1.0) * deviation / count.sqrt())
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

/// Student's t, two-sided, for [`CONFIDENCE`] and this many degrees of freedom.
fn quantile(freedom: f64) -> f64 {
    let student = StudentsT::new(0.0, 1.0, freedom).expect("at least one degree of freedom");
    student.inverse_cdf(0.5 + CONFIDENCE / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_tables() {
        // Values from a table of Student's distribution, two-sided, 95%.
        for (freedom, t) in [(1.0, 12.706), (2.0, 4.303), (9.0, 2.262), (30.0, 2.042)] {
            assert!((quantile(freedom) - t).abs() < 0.001, "{freedom}");
        }
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
