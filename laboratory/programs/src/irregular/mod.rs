//! Loops whose iterations differ in cost. There is one file for each shape. Iterations are opaque
//! additions, so they differ only in their number.

mod heavy_tailed;
mod reverse_triangular;
mod triangular;

use crate::{Load, opaque_additions};
use manycore_platform::Platform;

/// A loop whose iterations differ in their number of additions. The constructor decides the shape, and the caller
/// decides the total.
///
/// ```
/// use manycore_programs::Irregular;
///
/// let load = Irregular::reverse_triangular(1000, 1_000_000, 7);
/// assert_eq!(load.additions().iter().map(|&a| u64::from(a)).sum::<u64>(), 1_000_000);
/// ```
#[derive(Clone, Debug)]
pub struct Irregular {
    additions: Vec<u32>,
    seed: u8,
}

impl Irregular {
    /// Divides `total` additions in proportion to `shape`.
    ///
    /// The running sum is rounded, not each share, so the shares add up to `total` exactly.
    fn from_shape(shape: &[f64], total: u64, seed: u64) -> Self {
        let whole: f64 = shape.iter().sum();
        let mut sum = 0.0;
        let mut given = 0;
        let mut additions: Vec<u32> = Vec::with_capacity(shape.len());
        for part in shape {
            sum += part;
            let due = (total as f64 * (sum / whole).min(1.0)).round() as u64;
            additions.push(u32::try_from(due.saturating_sub(given)).unwrap_or(u32::MAX));
            given = due.max(given);
        }
        if let Some(last) = additions.last_mut() {
            *last = last.saturating_add((total - given) as u32);
        }
        Self {
            additions,
            seed: seed as u8,
        }
    }

    /// The cost of each iteration, in additions.
    ///
    /// ```
    /// use manycore_programs::Irregular;
    /// assert_eq!(Irregular::triangular(4, 16, 0).additions(), [1, 3, 5, 7]);
    /// ```
    #[must_use]
    pub fn additions(&self) -> &[u32] {
        &self.additions
    }

    fn start(&self, index: usize) -> u8 {
        self.seed ^ index as u8
    }

    #[inline]
    fn work<P: Platform>(&self, index: usize) -> u8 {
        P::read(&self.additions[index..=index]);
        let count = u64::from(self.additions[index]);
        let sum = opaque_additions(self.start(index), count);
        P::compute(count);
        sum
    }
}

impl Load for Irregular {
    fn iterations(&self) -> usize {
        self.additions.len()
    }

    #[inline]
    fn run<P: Platform>(&self, index: usize) {
        self.work::<P>(index);
    }

    fn run_and_check<P: Platform>(&self, index: usize) -> bool {
        let right = self.start(index).wrapping_add(self.additions[index] as u8);
        self.work::<P>(index) == right
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit;
    use manycore_platform::Native;

    fn total(load: &Irregular) -> u64 {
        load.additions.iter().map(|&a| u64::from(a)).sum()
    }

    #[test]
    fn every_shape_keeps_its_total_and_passes_its_audit() {
        for n in [1, 2, 1000, 1024] {
            for load in [
                Irregular::triangular(n, 1_000_003, 5),
                Irregular::reverse_triangular(n, 1_000_003, 5),
                Irregular::heavy_tailed(n, 1_000_003, 5),
            ] {
                assert_eq!(load.iterations(), n);
                assert_eq!(total(&load), 1_000_003);
                audit::<Native, _>(&load, |n, body| (0..n).for_each(body)).unwrap();
            }
        }
    }

    #[test]
    fn no_iterations_are_allowed() {
        assert_eq!(Irregular::triangular(0, 100, 0).iterations(), 0);
    }
}
