//! The ratio of the times of two runtimes, with its interval.

use crate::measure::student::Mean;

/// A geometric mean of ratios, with its interval if there are two or more ratios.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ratio {
    pub(crate) mean: f64,
    pub(crate) interval: Option<[f64; 2]>,
}

impl Ratio {
    /// The mean ratio of pairs of times. Both times of a pair are measured with one seed of random
    /// delays, and so in the same order of events. Returns `None` if there is no pair.
    pub(crate) fn of(pairs: &[(f64, f64)]) -> Option<Self> {
        let logs: Vec<f64> = pairs.iter().map(|(a, b)| (a / b).ln()).collect();
        Self::of_logs(&logs)
    }

    /// As [`of`](Self::of), from the logarithms of the ratios.
    pub(crate) fn of_logs(logs: &[f64]) -> Option<Self> {
        Self::of_chosen(logs, 1)
    }

    /// As [`of_logs`](Self::of_logs), for a ratio that was chosen as the best of `candidates`.
    pub(crate) fn of_chosen(logs: &[f64], candidates: usize) -> Option<Self> {
        let logs = Mean::of_chosen(logs, candidates)?;
        Some(Self {
            mean: logs.mean.exp(),
            interval: logs.interval().map(|ends| ends.map(f64::exp)),
        })
    }

    /// Whether the whole interval is below 1. A single sample has no interval, so the result is `false`.
    pub(crate) fn is_below_one(self) -> bool {
        self.interval.is_some_and(|[_, high]| high < 1.0)
    }
}

/// The side of a bound on which a ratio is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Below,
    Above,
    /// The interval contains the bound.
    NotShown,
}

impl Ratio {
    /// The side of `bound` on which the ratio is. A single sample has no interval, and counts as a point.
    pub(crate) fn side(self, bound: f64) -> Side {
        let [low, high] = self.interval.unwrap_or([self.mean; 2]);
        match (high < bound, low > bound) {
            (true, _) => Side::Below,
            (_, true) => Side::Above,
            _ => Side::NotShown,
        }
    }

    /// Whether more samples would hardly change the finding: the interval is a point, or is narrower than a third of
    /// the distance from `bound`.
    pub(crate) fn is_narrow(self, bound: f64) -> bool {
        self.interval.is_some_and(|[low, high]| {
            let width = (high / low).ln();
            width < (self.mean / bound).ln().abs() / 3.0 || width < POINT
        })
    }
}

/// An interval of equal samples is at most this wide, by rounding.
const POINT: f64 = 1e-9;

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
        // An order changes both times by the same factor, so their ratio is 2.
        let ratio = Ratio::of(&[(2.0, 1.0), (20.0, 10.0), (6.0, 3.0)]).unwrap();
        assert!((ratio.mean - 2.0).abs() < 1e-12);
        let [low, high] = ratio.interval.unwrap();
        assert!((high - low).abs() < 1e-9 && !ratio.is_below_one());
    }

    #[test]
    fn a_side_is_shown_by_an_interval() {
        let of = |mean, low, high| Ratio {
            mean,
            interval: Some([low, high]),
        };
        assert_eq!(of(0.9, 0.8, 0.99).side(1.0), Side::Below);
        assert_eq!(of(1.1, 1.01, 1.2).side(1.0), Side::Above);
        assert_eq!(of(1.1, 0.9, 1.3).side(1.0), Side::NotShown);
        assert_eq!(of(1.0, 1.0, 1.0).side(1.01), Side::Below);
        let one = Ratio::of(&[(3.0, 2.0)]).unwrap();
        assert_eq!((one.side(1.0), one.is_narrow(1.0)), (Side::Above, false));
        assert!(of(2.0, 1.9, 2.1).is_narrow(1.0) && !of(1.1, 1.05, 1.15).is_narrow(1.0));
        assert!(of(1.0, 1.0, 1.0).is_narrow(1.0));
    }

    #[test]
    fn the_interval_is_students() {
        // ln 1 and ln e: mean 1/2, standard error 1/2, t(0.975, 1) = 12.706.
        let ratio = Ratio::of(&[(1.0, 1.0), (1f64.exp(), 1.0)]).unwrap();
        let [low, high] = ratio.interval.unwrap().map(f64::ln);
        assert!((low - (0.5 - 6.353)).abs() < 1e-3, "{low}");
        assert!((high - (0.5 + 6.353)).abs() < 1e-3, "{high}");
    }

    /// A nearly normal sample, of mean 0 and deviation 1.
    fn normal(random: &mut fastrand::Rng) -> f64 {
        (0..12).map(|_| random.f64()).sum::<f64>() - 6.0
    }

    /// Draws `pairs` pairs, 4,000 times. Counts the intervals that contain the true ratio, and the
    /// intervals that are on one side of 1. An order changes both times of a pair ten times as much
    /// as each time varies alone.
    fn draws(truth: f64, pairs: usize, noise: impl Fn(&mut fastrand::Rng) -> f64) -> [usize; 2] {
        let mut random = fastrand::Rng::with_seed(40 + pairs as u64);
        let (mut held, mut claimed) = (0, 0);
        for _ in 0..4_000 {
            let pair = |_| {
                let both = 1e6 * (0.1 * normal(&mut random)).exp();
                let mut one = || both * (0.01 * noise(&mut random)).exp();
                (truth * one(), one())
            };
            let ratio = Ratio::of(&(0..pairs).map(pair).collect::<Vec<_>>()).unwrap();
            let [low, high] = ratio.interval.unwrap();
            held += usize::from((low..=high).contains(&truth));
            claimed += usize::from(ratio.side(1.0) != Side::NotShown);
        }
        [held, claimed]
    }

    #[test]
    fn intervals_contain_the_true_ratio_in_95_percent() {
        for truth in [0.5, 1.0, 1.3] {
            for pairs in [3, 5, 30] {
                let [held, claimed] = draws(truth, pairs, normal);
                // 95% of 4,000, plus or minus four standard deviations.
                assert!((3_745..=3_855).contains(&held), "{truth}, {pairs}: {held}");
                match truth {
                    1.0 => assert_eq!(claimed, 4_000 - held),
                    _ => assert!(claimed > 3_990, "{truth}, {pairs}: {claimed}"),
                }
            }
        }
    }

    /// In one of four orders, a run takes three standard deviations longer, as if the program ran in another way.
    #[test]
    fn intervals_contain_the_ratio_of_two_ways_of_running_nearly_as_often() {
        let two = |random: &mut fastrand::Rng| {
            let longer = if random.u8(..4) == 0 { 3.0 } else { 0.0 };
            normal(random) + longer
        };
        for pairs in [5, 30] {
            let [held, _] = draws(1.0, pairs, two);
            assert!((3_700..=3_900).contains(&held), "{pairs}: {held}");
        }
    }

    #[test]
    fn one_order_has_no_interval() {
        let ratio = Ratio::of(&[(1.0, 2.0)]).unwrap();
        assert_eq!((ratio.mean, ratio.interval), (0.5, None));
        assert!(!ratio.is_below_one());
        assert_eq!(Ratio::of(&[]), None);
    }
}
