//! Fibonacci numbers by their definition, with a `join` at every call. The program measures the `join`.

use super::{Fork, Kernel, Wrong};
use manycore_platform::Platform;

/// Instructions for each call of the sequential function.
const CALL: u64 = 10;

/// The `n`th Fibonacci number by plain recursion.
///
/// ```
/// use manycore_programs::fork::{Fibonacci, Kernel, Serial};
/// use manycore_platform::Native;
///
/// let mut kernel = Fibonacci::new(20);
/// kernel.run(&Serial::<Native>::default());
/// kernel.verify().unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct Fibonacci {
    n: u32,
    answer: Option<u64>,
}

impl Fibonacci {
    /// Makes the program for the `n`th number. The time grows in proportion to the number: n = 32 takes about 3.5
    /// million joins. There is no seed.
    ///
    /// ```
    /// use manycore_programs::fork::{Fibonacci, Kernel, Wrong};
    /// assert_eq!(Fibonacci::new(10).verify(), Err(Wrong::NotRun));
    /// ```
    #[must_use]
    pub fn new(n: u32) -> Self {
        Self { n, answer: None }
    }
}

impl Kernel for Fibonacci {
    fn reset(&mut self) {
        self.answer = None;
    }

    fn run<F: Fork>(&mut self, fork: &F) {
        self.answer = Some(parallel(fork, self.n));
    }

    fn sequential<P: Platform>(&mut self) {
        self.answer = Some(sequential::<P>(self.n));
    }

    fn verify(&self) -> Result<(), Wrong> {
        let found = self.answer.ok_or(Wrong::NotRun)?;
        let (right, _) = (0..self.n).fold((0, 1), |(a, b), _| (b, a + b));
        Wrong::unless_equal("the Fibonacci number", found, right)
    }
}

fn parallel<F: Fork>(fork: &F, n: u32) -> u64 {
    F::Platform::compute(CALL);
    if n < 2 {
        return u64::from(n);
    }
    let (a, b) = fork.join(|| parallel(fork, n - 1), || parallel(fork, n - 2));
    a + b
}

fn sequential<P: Platform>(n: u32) -> u64 {
    P::compute(CALL);
    if n < 2 {
        return u64::from(n);
    }
    sequential::<P>(n - 1) + sequential::<P>(n - 2)
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::*;
    use manycore_platform::Native;

    #[test]
    fn every_schedule_agrees() {
        for n in [0, 1, 2, 3, 15] {
            check(&mut Fibonacci::new(n));
        }
    }

    #[test]
    fn the_reference_value() {
        let mut kernel = Fibonacci::new(32);
        kernel.sequential::<Native>();
        assert_eq!(kernel.answer, Some(2_178_309));
        kernel.verify().unwrap();
        kernel.answer = Some(2_178_310);
        assert!(kernel.verify().is_err());
    }
}
