//! Iterations of about 5 ns. A claim per iteration would cost more than the iteration.

use crate::{Load, opaque_additions};
use manycore_platform::Platform;
use std::hint::black_box;

/// Many iterations of a few nanoseconds each.
///
/// ```
/// use manycore_programs::{Load, Tiny};
/// use manycore_platform::Native;
///
/// Tiny::new(1_000_000, 42).sequential::<Native>();
/// ```
#[derive(Clone, Debug)]
pub struct Tiny {
    iterations: usize,
    seed: u8,
}

impl Tiny {
    /// Dependent additions in an iteration. With the loop around them they take 5 ns at 3 GHz.
    pub const ADDITIONS: u64 = 14;

    /// A loop of `iterations`. The seed decides where their sums begin.
    ///
    /// ```
    /// use manycore_programs::{Load, Tiny};
    /// assert_eq!(Tiny::new(10, 1).iterations(), 10);
    /// ```
    #[must_use]
    pub fn new(iterations: usize, seed: u64) -> Self {
        Self {
            iterations,
            seed: seed as u8,
        }
    }

    fn start(&self, index: usize) -> u8 {
        self.seed ^ index as u8
    }
}

impl Load for Tiny {
    fn iterations(&self) -> usize {
        self.iterations
    }

    #[inline]
    fn run<P: Platform>(&self, index: usize) {
        // black_box hides the constant number of additions. Otherwise the compiler might unroll them into
        // the caller's loop for some partitioners and not for others.
        let _ = opaque_additions(self.start(index), black_box(Self::ADDITIONS));
        P::compute(Self::ADDITIONS);
    }

    fn run_and_check<P: Platform>(&self, index: usize) -> bool {
        let sum = opaque_additions(self.start(index), black_box(Self::ADDITIONS));
        P::compute(Self::ADDITIONS);
        sum == self.start(index).wrapping_add(Self::ADDITIONS as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit;
    use manycore_platform::Native;

    #[test]
    fn it_passes_its_own_audit() {
        let load = Tiny::new(10_000, 0xfeed);
        audit::<Native, _>(&load, |n, body| (0..n).for_each(body)).unwrap();
    }
}
