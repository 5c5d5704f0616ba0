//! How tasks are distributed at the beginning (Park 2013, figure 6-7).

use crate::by_name;

by_name! {
    /// One of the five distributions in Park's thesis (2013), in the order of its figure.
    ///
    /// ```
    /// use manycore_programs::stealing::Distribution;
    ///
    /// assert_eq!("half".parse(), Ok(Distribution::Half));
    /// assert_eq!(Distribution::Half.shares(8, 4, 1), [4, 4, 0, 0]);
    /// ```
    pub enum Distribution: "unknown distribution", "expected some of" {
        /// All tasks are on one core.
        TotalSkew = "total-skew",
        /// The tasks are evenly on half of the cores.
        Half = "half",
        /// The tasks are evenly on a quarter of the cores.
        Quarter = "quarter",
        /// The tasks are evenly on all cores.
        Even = "even",
        /// A normal variable decides the tasks of each core.
        Random = "random",
    }
}

impl Distribution {
    /// Each core's share of `tasks`. Random choices follow from `seed`.
    #[must_use]
    pub fn shares(self, tasks: usize, cores: usize, seed: u64) -> Vec<usize> {
        let mut random = fastrand::Rng::with_seed(seed);
        let loaded = match self {
            Self::TotalSkew => 1,
            Self::Half => cores.div_ceil(2),
            Self::Quarter => cores.div_ceil(4),
            Self::Even | Self::Random => cores,
        };
        let weights: Vec<u64> = (0..loaded)
            .map(|_| match self {
                Self::Random => normal(&mut random),
                _ => 1,
            })
            .collect();
        let all = weights.iter().sum::<u64>().max(1);
        // Each core's tasks end at its share of the running sum, so rounding loses no task.
        let mut sum = 0;
        let ends = weights.iter().map(|weight| {
            sum += weight;
            (u128::from(sum) * tasks as u128 / u128::from(all)) as usize
        });
        let ends: Vec<usize> = ends.collect();
        let begins = std::iter::once(0).chain(ends.iter().copied());
        let mut shares: Vec<usize> = begins.zip(&ends).map(|(begin, end)| end - begin).collect();
        shares.resize(cores, 0);
        shares
    }
}

/// Thousandths of a normal variable with mean 1 and deviation 1/2, cut at 0. The thesis names neither
/// number. It is a sum of uniform integers, so it is the same on every host.
fn normal(random: &mut fastrand::Rng) -> u64 {
    // The sum of twelve variables of variance 1/12 has deviation 1, and half of the sum has 1/2.
    let sum: i64 = (0..12).map(|_| random.i64(0..1_000)).sum();
    (1_000 + (sum - 6_000) / 2).max(0).unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_is_on_a_core() {
        for distribution in Distribution::ALL {
            for (tasks, cores) in [(1024, 64), (100, 7), (3, 16), (1, 1)] {
                let shares = distribution.shares(tasks, cores, 3);
                assert_eq!((shares.len(), shares.iter().sum::<usize>()), (cores, tasks));
            }
        }
        let shares = |one: Distribution| one.shares(64, 8, 1);
        assert_eq!(shares(Distribution::TotalSkew), [64, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(shares(Distribution::Half), [16, 16, 16, 16, 0, 0, 0, 0]);
        assert_eq!(shares(Distribution::Quarter), [32, 32, 0, 0, 0, 0, 0, 0]);
        assert_eq!(shares(Distribution::Even), [8; 8]);
    }

    #[test]
    fn random_is_spread_and_another_seed_is_another() {
        let shares = Distribution::Random.shares(64_000, 1_000, 1);
        let mean = 64.0;
        let squares = shares.iter().map(|&share| (share as f64 - mean).powi(2));
        let deviation = (squares.sum::<f64>() / 1e3).sqrt();
        assert!((deviation / mean - 0.5).abs() < 0.1, "{deviation}");
        assert_ne!(shares, Distribution::Random.shares(64_000, 1_000, 2));
    }
}
