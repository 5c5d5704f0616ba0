//! Cost falls with the index. A partitioner that learns the cost from the first iterations overrates the rest, and
//! large first blocks are expensive.

use super::Irregular;

impl Irregular {
    /// The mirror image of [`triangular`](Self::triangular).
    ///
    /// ```
    /// use manycore_programs::Irregular;
    /// assert_eq!(Irregular::reverse_triangular(3, 90, 0).additions(), [50, 30, 10]);
    /// ```
    #[must_use]
    pub fn reverse_triangular(iterations: usize, total: u64, seed: u64) -> Self {
        let mut load = Self::triangular(iterations, total, seed);
        load.additions.reverse();
        load
    }
}
