//! Decides whether a series is long enough, by the means of its batches.
//!
//! Neighbours in a series of times are correlated, so the spread of single values is not enough. Means of long batches
//! are hardly correlated. Eight batches give an interval that contains the mean of the series with a probability of
//! 95%. The interval follows from Student's distribution with seven degrees of freedom. A series that still drifts has
//! different batches, and so a wide interval.

/// The number of batches of a series.
pub(crate) const BATCHES: usize = 8;

/// Student's t, two-sided, for 95% and seven degrees of freedom.
const STUDENT: f64 = 2.365;

/// Returns the margin of a series: half of the mean's interval, divided by the mean. All batches have the same number
/// of values. A remainder at the end is not used.
///
/// Returns `None` if there are fewer values than batches.
pub(crate) fn margin(values: &[f64]) -> Option<f64> {
    let means = batches(values)?;
    let mean = means.iter().sum::<f64>() / BATCHES as f64;
    let squares: f64 = means.iter().map(|batch| (batch - mean).powi(2)).sum();
    let variance = squares / (BATCHES - 1) as f64;
    Some(STUDENT * (variance / BATCHES as f64).sqrt() / mean)
}

fn batches(values: &[f64]) -> Option<Vec<f64>> {
    let each = values.len() / BATCHES;
    let mean = |batch: &[f64]| batch.iter().sum::<f64>() / each as f64;
    (each > 0).then(|| values.chunks_exact(each).take(BATCHES).map(mean).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_periodic_series_has_no_margin() {
        let times: Vec<f64> = (0..64).map(|at| f64::from(at % 4 + 1)).collect();
        assert_eq!(margin(&times), Some(0.0));
        assert_eq!(margin(&times[..BATCHES - 1]), None);
    }

    #[test]
    fn a_drifting_series_has_a_wide_margin() {
        let drifting: Vec<f64> = (0..800).map(|at| 1.0 + f64::from(at) / 8_000.0).collect();
        assert!(margin(&drifting).unwrap() > 0.02);
        let mut late = vec![1.0; 800];
        late[..100].fill(1.3);
        assert!(margin(&late).unwrap() > 0.05);
    }

    #[test]
    fn the_mean_is_mostly_within_the_margin() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut series = || {
            // Each deviation is half of the previous one plus noise.
            let mut last = 0.0;
            let next = |_| {
                last = 0.5 * last + random.f64() - 0.5;
                10.0 + last
            };
            (0..4_000).map(next).collect::<Vec<f64>>()
        };
        let holds = |values: &Vec<f64>| {
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            (mean - 10.0).abs() <= margin(values).unwrap() * mean
        };
        let held = (0..200).filter(|_| holds(&series())).count();
        assert!((180..=199).contains(&held), "{held} of 200");
    }
}
