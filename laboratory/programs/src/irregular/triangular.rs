//! Cost grows with the index: a static split gives the last thread most work,
//! a guided one ends on the dearest iterations.

use super::Irregular;

impl Irregular {
    /// Iteration `i` costs in proportion to `2i + 1`; all together cost
    /// `total` additions.
    ///
    /// ```
    /// use manycore_programs::Irregular;
    /// assert_eq!(Irregular::triangular(3, 90, 0).additions(), [10, 30, 50]);
    /// ```
    #[must_use]
    pub fn triangular(iterations: usize, total: u64, seed: u64) -> Self {
        let shape: Vec<f64> = (0..iterations).map(|i| i as f64 + 0.5).collect();
        Self::from_shape(&shape, total, seed)
    }
}
