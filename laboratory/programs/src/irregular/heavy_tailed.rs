//! A few unpredictable iterations hold much of the work.

use super::Irregular;

/// With this exponent of a Pareto distribution a fifth of the iterations hold
/// about four fifths of the work.
const EXPONENT: f64 = 1.16;

/// The cost of the most expensive iteration, as a multiple of the cheapest. Without this limit, a single iteration
/// outweighs the rest of the loop for some seeds.
const LARGEST: f64 = 256.0;

impl Irregular {
    /// Costs follow a Pareto distribution, cut at 256 times the smallest. The seed decides their order. All
    /// iterations together cost `total` additions.
    ///
    /// ```
    /// use manycore_programs::Irregular;
    ///
    /// let load = Irregular::heavy_tailed(1000, 1_000_000, 3);
    /// let mut costs = load.additions().to_vec();
    /// costs.sort();
    /// let top_fifth: u32 = costs[800..].iter().sum();
    /// assert!(top_fifth > 500_000);
    /// ```
    #[must_use]
    pub fn heavy_tailed(iterations: usize, total: u64, seed: u64) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        let shape: Vec<f64> = (0..iterations)
            // 1 - f64() is in (0, 1], so this never divides by zero.
            .map(|_| (1.0 - random.f64()).powf(-1.0 / EXPONENT).min(LARGEST))
            .collect();
        Self::from_shape(&shape, total, seed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_decides() {
        let costs = |seed| Irregular::heavy_tailed(100, 100_000, seed).additions;
        assert_eq!(costs(1), costs(1));
        assert_ne!(costs(1), costs(2));
    }
}
