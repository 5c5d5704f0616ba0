//! The interface of every kernel.

use manycore_platform::Platform;

/// A loop with independent iterations, which can check their results.
///
/// ```
/// use manycore_programs::{Irregular, Load};
/// use manycore_platform::Native;
///
/// let load = Irregular::triangular(64, 64_000, 7);
/// assert_eq!(load.iterations(), 64);
/// load.run::<Native>(63);
/// assert!(load.run_and_check::<Native>(63));
/// ```
pub trait Load: Sync {
    /// How many iterations the loop has.
    fn iterations(&self) -> usize;

    /// Runs one iteration and declares its cost to the platform.
    ///
    /// This is the body to time: it records nothing.
    fn run<P: Platform>(&self, index: usize);

    /// Runs one iteration. Returns whether its result is right.
    fn run_and_check<P: Platform>(&self, index: usize) -> bool;

    /// Runs the loop on the calling thread alone, in order.
    fn sequential<P: Platform>(&self) {
        for index in 0..self.iterations() {
            self.run::<P>(index);
        }
    }
}
