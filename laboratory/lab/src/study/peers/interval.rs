//! A ratio of two runtimes, and how sure it is.

use crate::measure::student::Mean;

/// A geometric mean of ratios, with its interval if there are two or more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ratio {
    pub(super) mean: f64,
    pub(super) interval: Option<[f64; 2]>,
}

impl Ratio {
    /// The ratio of pairs, each measured in the same order of events; none of no pair.
    pub(super) fn of(pairs: &[(f64, f64)]) -> Option<Self> {
        let logs: Vec<f64> = pairs.iter().map(|(a, b)| (a / b).ln()).collect();
        let logs = Mean::of(&logs)?;
        Some(Self {
            mean: logs.mean.exp(),
            interval: logs.interval().map(|ends| ends.map(f64::exp)),
        })
    }

    /// Whether it is below 1 for sure, as far as is known.
    pub(super) fn is_below_one(self) -> bool {
        self.interval.map_or(self.mean, |[_, high]| high) < 1.0
    }
}

impl std::fmt::Display for Ratio {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.2}", self.mean)?;
        match self.interval {
            Some([low, high]) => write!(f, " ({low:.2} to {high:.2})"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_paired() {
        // Whatever the order does to both, their ratio is 2.
        let ratio = Ratio::of(&[(2.0, 1.0), (20.0, 10.0), (6.0, 3.0)]).unwrap();
        assert!((ratio.mean - 2.0).abs() < 1e-12);
        let [low, high] = ratio.interval.unwrap();
        assert!((high - low).abs() < 1e-9 && !ratio.is_below_one());
    }

    #[test]
    fn the_interval_is_students() {
        // ln 1 and ln e: mean 1/2, deviation of the mean 1/2, t(0.975, 1) = 12.706.
        let ratio = Ratio::of(&[(1.0, 1.0), (1f64.exp(), 1.0)]).unwrap();
        let [low, high] = ratio.interval.unwrap().map(f64::ln);
        assert!((low - (0.5 - 6.353)).abs() < 1e-3, "{low}");
        assert!((high - (0.5 + 6.353)).abs() < 1e-3, "{high}");
    }

    #[test]
    fn one_order_has_no_interval() {
        let ratio = Ratio::of(&[(1.0, 2.0)]).unwrap();
        assert_eq!((ratio.mean, ratio.interval), (0.5, None));
        assert!(ratio.is_below_one());
        assert_eq!(Ratio::of(&[]), None);
    }
}
