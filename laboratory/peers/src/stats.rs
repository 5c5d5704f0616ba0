//! Statistics for a machine that other programs use, too. Peers are compared within a round, in
//! which they run within seconds of each other. Summaries are over these comparisons.

/// The samples of one peer in one case, by round.
#[derive(Clone, Debug, Default)]
pub struct Series {
    pub rounds: Vec<Vec<f64>>,
}

/// A median and a spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    pub median: f64,
    pub p10: f64,
    pub p90: f64,
}

impl Summary {
    pub fn of(values: &[f64]) -> Self {
        Self {
            median: quantile(values, 0.5),
            p10: quantile(values, 0.1),
            p90: quantile(values, 0.9),
        }
    }
}

impl Series {
    pub fn pooled(&self) -> Vec<f64> {
        self.rounds.concat()
    }

    pub fn round_medians(&self) -> Vec<f64> {
        self.rounds
            .iter()
            .map(|round| quantile(round, 0.5))
            .collect()
    }

    /// The 10th percentile of each round.
    pub fn round_p10s(&self) -> Vec<f64> {
        self.rounds
            .iter()
            .map(|round| quantile(round, 0.1))
            .collect()
    }

    /// The ratio of this series' median to `other`'s in each round.
    pub fn ratios_to(&self, other: &Series) -> Vec<f64> {
        let pairs = self.round_medians().into_iter().zip(other.round_medians());
        pairs.map(|(own, other)| own / other).collect()
    }
}

/// The interpolated `q`-quantile; NaN for no values.
pub fn quantile(values: &[f64], q: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let Some(last) = sorted.len().checked_sub(1) else {
        return f64::NAN;
    };
    let position = q * last as f64;
    let (below, above) = (
        sorted[position.floor() as usize],
        sorted[position.ceil() as usize],
    );
    below + (above - below) * position.fract()
}

pub fn geometric_mean(values: &[f64]) -> f64 {
    (values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp()
}

pub fn least(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(f64::NAN, f64::min)
}

/// The best of several series, without the winner's curse. Odd rounds are compared with the series
/// that was best in even rounds, and even rounds with the best of odd rounds. So luck in the choice
/// of the best does not count.
pub struct Best<'a> {
    /// The series that divide even and odd rounds.
    by_parity: [&'a Series; 2],
}

impl<'a> Best<'a> {
    /// Returns `None` without candidates or with a single round. All candidates must have the same
    /// number of rounds.
    pub fn of(candidates: &[&'a Series]) -> Option<Self> {
        let best_in = |parity: usize| {
            let middle =
                |series: &Series| quantile(&every_other(series.round_medians(), parity), 0.5);
            candidates
                .iter()
                .copied()
                .min_by(|a, b| middle(a).total_cmp(&middle(b)))
        };
        let rounds = candidates.first()?.rounds.len();
        (rounds >= 2).then_some(())?;
        Some(Self {
            by_parity: [best_in(1)?, best_in(0)?],
        })
    }

    /// The ratio of `series`'s median to the best's in each round.
    pub fn ratios(&self, series: &Series) -> Vec<f64> {
        let [even, odd] = self.by_parity.map(|best| series.ratios_to(best));
        even.into_iter()
            .zip(odd)
            .enumerate()
            .map(|(r, (e, o))| [e, o][r % 2])
            .collect()
    }

    /// Another robust measure. For even and for odd rounds, divides the least 10th percentile of a
    /// round of `series` by that of the best. Returns the geometric mean of both ratios.
    pub fn ratio_of_p10(&self, series: &Series) -> f64 {
        let [even, odd] = [0, 1].map(|parity| {
            let floor = |series: &Series| least(every_other(series.round_p10s(), parity));
            floor(series) / floor(self.by_parity[parity])
        });
        (even * odd).sqrt()
    }
}

fn every_other(values: Vec<f64>, parity: usize) -> Vec<f64> {
    values.into_iter().skip(parity).step_by(2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(medians: &[f64]) -> Series {
        Series {
            rounds: medians.iter().map(|&m| vec![m]).collect(),
        }
    }

    #[test]
    fn quantiles_interpolate() {
        assert_eq!(quantile(&[4.0, 1.0, 2.0, 3.0], 0.5), 2.5);
        assert_eq!(quantile(&[7.0], 0.9), 7.0);
        assert!(quantile(&[], 0.5).is_nan());
    }

    #[test]
    fn the_best_is_chosen_in_the_other_rounds() {
        // `a` is lucky in even rounds, `b` in odd ones. If the best were chosen and compared in the
        // same rounds, it would be at 1 and others would look bad.
        let (a, b) = (series(&[1.0, 2.0, 1.0, 2.0]), series(&[2.0, 1.0, 2.0, 1.0]));
        let best = Best::of(&[&a, &b]).unwrap();
        assert_eq!(best.ratios(&series(&[2.0; 4])), [1.0; 4]);
        assert_eq!(best.ratios(&a), [0.5, 1.0, 0.5, 1.0]);
        assert!(Best::of(&[]).is_none());
        assert!(Best::of(&[&series(&[1.0])]).is_none());
    }

    #[test]
    fn a_geometric_mean_takes_ratios_and_inverses_as_equal() {
        assert!((geometric_mean(&[2.0, 0.5]) - 1.0).abs() < 1e-12);
    }
}
