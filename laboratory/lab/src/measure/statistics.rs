//! Statistics that a few disturbed samples hardly change.

use serde::{Deserialize, Serialize};

/// The median of some samples, and the range of most of them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Spread {
    pub(crate) p10: f64,
    pub(crate) median: f64,
    pub(crate) p90: f64,
}

impl Spread {
    /// The spread of samples. There must be at least one.
    pub(crate) fn of(samples: &[f64]) -> Self {
        let mut sorted = samples.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        Self {
            p10: quantile(&sorted, 0.1),
            median: quantile(&sorted, 0.5),
            p90: quantile(&sorted, 0.9),
        }
    }
}

impl Spread {
    /// Applies an increasing function to all three numbers.
    pub(crate) fn map(self, of: impl Fn(f64) -> f64) -> Self {
        Self {
            p10: of(self.p10),
            median: of(self.median),
            p90: of(self.p90),
        }
    }
}

impl From<Spread> for manycore_figure::Value {
    fn from(spread: Spread) -> Self {
        Self {
            at: spread.median,
            low: spread.p10,
            high: spread.p90,
        }
    }
}

/// The median of samples. There must be at least one.
pub(crate) fn median(samples: impl IntoIterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = samples.into_iter().collect();
    sorted.sort_unstable_by(f64::total_cmp);
    quantile(&sorted, 0.5)
}

/// Interpolates linearly between the two nearest samples.
fn quantile(sorted: &[f64], q: f64) -> f64 {
    let at = q * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    below + (above - below) * at.fract()
}

/// The geometric mean of ratios, in which a half and a double cancel. Returns 1 if there are no ratios.
pub(crate) fn geometric_mean(ratios: impl IntoIterator<Item = f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 0);
    for ratio in ratios {
        sum += ratio.ln();
        count += 1;
    }
    (sum / f64::from(count.max(1))).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_interpolate() {
        let spread = Spread::of(&[40.0, 10.0, 30.0, 20.0]);
        assert_eq!((spread.p10, spread.median, spread.p90), (13.0, 25.0, 37.0));
        assert_eq!(median([7.0]), 7.0);
    }

    #[test]
    fn an_outlier_does_not_change_a_median() {
        assert_eq!(median([1.0, 1.0, 1.0, 1.0, 1e9]), 1.0);
    }

    #[test]
    fn half_and_double_cancel() {
        assert!((geometric_mean([0.5, 2.0]) - 1.0).abs() < 1e-12);
        assert_eq!(geometric_mean([]), 1.0);
    }
}
