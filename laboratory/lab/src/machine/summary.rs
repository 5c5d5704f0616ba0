//! Many samples of one quantity in three numbers.

use serde::Serialize;

/// Median, quartiles, and the range of the middle 80%.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Summary {
    pub(crate) median: f64,
    pub(crate) p10: f64,
    pub(crate) p25: f64,
    pub(crate) p75: f64,
    pub(crate) p90: f64,
    pub(crate) samples: usize,
}

impl Summary {
    /// Returns `None` if there are no samples.
    pub(crate) fn of(mut samples: Vec<f64>) -> Option<Self> {
        samples.sort_by(f64::total_cmp);
        Some(Self {
            median: quantile(&samples, 0.5)?,
            p10: quantile(&samples, 0.1)?,
            p25: quantile(&samples, 0.25)?,
            p75: quantile(&samples, 0.75)?,
            p90: quantile(&samples, 0.9)?,
            samples: samples.len(),
        })
    }
}

/// Returns the value below which the given part of the sorted samples lies. Between two samples it is interpolated
/// linearly.
fn quantile(sorted: &[f64], part: f64) -> Option<f64> {
    let place = part * sorted.len().checked_sub(1)? as f64;
    let (low, high) = (
        sorted[place.floor() as usize],
        sorted[place.ceil() as usize],
    );
    Some(low + (high - low) * place.fract())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_neighbours() {
        let summary = Summary::of(vec![3.0, 1.0, 2.0, 5.0, 4.0]).unwrap();
        assert_eq!(summary.median, 3.0);
        assert!((summary.p10 - 1.4).abs() < 1e-12);
        assert!((summary.p90 - 4.6).abs() < 1e-12);
        assert_eq!(summary.samples, 5);
    }

    #[test]
    fn one_sample_is_its_own_spread_and_none_is_nothing() {
        let one = Summary::of(vec![7.0]).unwrap();
        assert_eq!((one.p10, one.median, one.p90), (7.0, 7.0, 7.0));
        assert_eq!(Summary::of(Vec::new()), None);
    }
}
