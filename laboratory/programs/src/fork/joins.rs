//! Joins with almost no work, so that they measure the scheduler.

use super::{Fork, Kernel, SlicePart, Wrong};
use manycore_platform::Platform;

/// Instructions for eight incremented numbers.
const INCREMENT_EIGHT: u64 = 9;
/// Instructions for each call of the sequential recursion.
const CALL: u64 = 11;

/// A loop that adds one to each of many numbers.
///
/// ```
/// use manycore_programs::fork::{IncrementAll, Kernel, Serial};
/// use manycore_platform::Native;
///
/// let mut kernel = IncrementAll::new(1000, 42);
/// kernel.run(&Serial::<Native>::default());
/// kernel.verify().unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct IncrementAll {
    input: Vec<u32>,
    data: Vec<u32>,
}

impl IncrementAll {
    /// Numbers from `seed`.
    ///
    /// ```
    /// use manycore_programs::fork::{IncrementAll, Kernel};
    /// assert!(IncrementAll::new(10, 1).verify().is_err()); // not yet incremented
    /// ```
    #[must_use]
    pub fn new(length: usize, seed: u64) -> Self {
        let input = super::sorted::numbers(length, seed);
        Self {
            data: input.clone(),
            input,
        }
    }
}

impl Kernel for IncrementAll {
    fn reset(&mut self) {
        self.data.copy_from_slice(&self.input);
    }

    fn run<F: Fork>(&mut self, fork: &F) {
        let leaf = |part: SlicePart<u32>| increment::<F::Platform>(part.items);
        fork.reduce(SlicePart::new(&mut self.data, 1), &leaf, &|(), ()| ());
    }

    fn sequential<P: Platform>(&mut self) {
        increment::<P>(&mut self.data);
    }

    fn verify(&self) -> Result<(), Wrong> {
        let right: Vec<u32> = self
            .input
            .iter()
            .map(|number| number.wrapping_add(1))
            .collect();
        Wrong::unless_all_equal("number", &self.data, &right)
    }
}

fn increment<P: Platform>(numbers: &mut [u32]) {
    for number in &mut *numbers {
        *number = number.wrapping_add(1);
    }
    P::write(numbers);
    P::compute(INCREMENT_EIGHT * numbers.len().div_ceil(8) as u64);
}

/// A tree of joins. Each leaf only counts as one.
///
/// ```
/// use manycore_programs::fork::{JoinRecursively, Kernel, Serial};
/// use manycore_platform::Native;
///
/// let mut kernel = JoinRecursively::new(10); // 1,024 leaves, 1,023 joins
/// kernel.run(&Serial::<Native>::default());
/// kernel.verify().unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct JoinRecursively {
    depth: u32,
    leaves: Option<u64>,
}

impl JoinRecursively {
    /// A tree with two to the power of `depth` leaves. `depth` is at most 63. There is no seed.
    ///
    /// ```
    /// use manycore_programs::fork::{JoinRecursively, Kernel, Wrong};
    /// assert_eq!(JoinRecursively::new(3).verify(), Err(Wrong::NotRun));
    /// ```
    #[must_use]
    pub fn new(depth: u32) -> Self {
        Self {
            depth: depth.min(63),
            leaves: None,
        }
    }
}

impl Kernel for JoinRecursively {
    fn reset(&mut self) {
        self.leaves = None;
    }

    fn run<F: Fork>(&mut self, fork: &F) {
        self.leaves = Some(leaves(fork, self.depth));
    }

    fn sequential<P: Platform>(&mut self) {
        self.leaves = Some(leaves_alone::<P>(self.depth));
    }

    fn verify(&self) -> Result<(), Wrong> {
        let found = self.leaves.ok_or(Wrong::NotRun)?;
        Wrong::unless_equal("the number of leaves", found, 1 << self.depth)
    }
}

fn leaves<F: Fork>(fork: &F, depth: u32) -> u64 {
    F::Platform::compute(CALL);
    if depth == 0 {
        return 1;
    }
    let (a, b) = fork.join(|| leaves(fork, depth - 1), || leaves(fork, depth - 1));
    a + b
}

fn leaves_alone<P: Platform>(depth: u32) -> u64 {
    P::compute(CALL);
    if depth == 0 {
        return 1;
    }
    // The depth is opaque, since otherwise the compiler might see that both calls return the same value.
    let depth = std::hint::black_box(depth);
    leaves_alone::<P>(depth - 1) + leaves_alone::<P>(depth - 1)
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::*;
    use manycore_platform::Native;

    #[test]
    fn every_schedule_increments_each_number_once() {
        for length in [0, 1, 2, 3, 1001] {
            check(&mut IncrementAll::new(length, length as u64));
        }
    }

    #[test]
    fn every_schedule_counts_the_leaves() {
        for depth in [0, 1, 2, 10] {
            check(&mut JoinRecursively::new(depth));
        }
    }

    #[test]
    fn a_number_missed_and_a_leaf_missed_are_caught() {
        let mut kernel = IncrementAll::new(100, 1);
        kernel.sequential::<Native>();
        kernel.data[99] -= 1;
        assert!(kernel.verify().is_err());
        let mut kernel = JoinRecursively::new(4);
        kernel.leaves = Some(15);
        assert!(kernel.verify().is_err());
    }
}
