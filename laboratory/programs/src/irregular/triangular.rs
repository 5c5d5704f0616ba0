//! Cost grows with the index. A static split gives the last thread the most work. A guided split ends with the most
//! expensive iterations.

use super::Irregular;

impl Irregular {
    /// The cost of iteration `i` is proportional to `2i + 1`. All iterations together cost `total`
    /// additions.
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
