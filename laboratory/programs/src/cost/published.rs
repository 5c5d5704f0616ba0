//! The formula that Shuai's paper (*Influence of atomic FAA on ParallelFor and a cost model
//! for improvements*, 2021) prints, with its trained weights.
//!
//! ```text
//! B = (alpha G + delta0) / (beta0 T + beta1 R + beta2 W + beta3 C + delta1)
//! ```
//!
//! The training used the best blocks, not latencies. In the domain of the training, numerator and denominator are both
//! negative. If the denominator is positive or near zero, the result has no meaning. It is near zero for few threads
//! and small tasks.

/// A task on a machine, in the units of the paper's training table.
///
/// ```
/// use manycore_programs::cost::published::Features;
///
/// let features = Features::new(2, 8, 1024, 4096, 1 << 60);
/// assert_eq!(features.core_groups, 200.0);
/// assert_eq!(features.compute, 6.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Features {
    /// The number of core groups (cores with a common last-level cache), times a hundred.
    pub core_groups: f64,
    /// The number of threads.
    pub threads: f64,
    /// Logarithm to base 2 of the bytes that an iteration reads.
    pub read: f64,
    /// Logarithm to base 2 of the bytes that an iteration writes.
    pub write: f64,
    /// Logarithm to base 1024 of the number of an iteration's additions.
    pub compute: f64,
}

impl Features {
    /// Converts plain numbers. A zero counts as a one, so its logarithm is zero.
    ///
    /// ```
    /// use manycore_programs::cost::published::Features;
    ///
    /// assert_eq!(Features::new(1, 2, 1024, 0, 1024).write, 0.0);
    /// ```
    #[must_use]
    pub fn new(core_groups: usize, threads: usize, read: u64, write: u64, compute: u64) -> Self {
        let log2 = |value: u64| (value.max(1) as f64).log2();
        Self {
            core_groups: 100.0 * core_groups as f64,
            threads: threads as f64,
            read: log2(read),
            write: log2(write),
            compute: log2(compute) / 10.0,
        }
    }
}

/// The weights of the paper's formula.
///
/// ```
/// use manycore_programs::cost::published::{Features, Weights};
///
/// // The first row of the paper's table of inferences.
/// let features = Features::new(1, 2, 1024, 1024, 1024);
/// assert_eq!(Weights::PUBLISHED.block(&features, 4096), 125);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// The weight of core groups.
    pub alpha: f64,
    /// The constant of the numerator.
    pub delta0: f64,
    /// The weights of threads, read, write and compute.
    pub beta: [f64; 4],
    /// The constant of the denominator.
    pub delta1: f64,
}

impl Weights {
    /// The paper's weights, to two decimals.
    pub const PUBLISHED: Self = Self {
        alpha: -61.84,
        delta0: 1558.31,
        beta: [-10.48, -33.71, -34.50, -26.84],
        delta1: 693.13,
    };

    /// The formula's value, before truncation. It may be negative or not finite.
    ///
    /// ```
    /// use manycore_programs::cost::published::{Features, Weights};
    ///
    /// let features = Features::new(8, 32, 1024, 1024, 1 << 60);
    /// assert!((Weights::PUBLISHED.value(&features) - 98.7).abs() < 0.1);
    /// ```
    #[must_use]
    pub fn value(&self, features: &Features) -> f64 {
        let [threads, read, write, compute] = self.beta;
        let numerator = self.alpha * features.core_groups + self.delta0;
        let denominator = threads * features.threads
            + read * features.read
            + write * features.write
            + compute * features.compute
            + self.delta1;
        numerator / denominator
    }

    /// The block size for a loop of `n` iterations: the value, truncated as in the paper, between 1 and `n`.
    ///
    /// ```
    /// use manycore_programs::cost::published::{Features, Weights};
    ///
    /// let features = Features::new(8, 32, 1024, 1024, 1 << 60);
    /// assert_eq!(Weights::PUBLISHED.block(&features, 4096), 98);
    /// assert_eq!(Weights::PUBLISHED.block(&features, 10), 10);
    /// ```
    #[must_use]
    pub fn block(&self, features: &Features, n: usize) -> usize {
        // The cast truncates, and turns NaN into 0.
        (self.value(features) as usize).clamp(1, n.max(1))
    }
}
