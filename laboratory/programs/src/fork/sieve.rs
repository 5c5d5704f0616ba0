//! The sieve of Eratosthenes, on blocks of the odd numbers in parallel.

use super::{Fork, Kernel, SlicePart, Wrong};
use manycore_platform::Platform;

/// Instructions for each multiple that is struck out, for each prime that is tried on a block, and for each flag that
/// is set and counted.
const STRIKE: u64 = 6;
const PRIME: u64 = 25;
const FLAG: u64 = 1;

/// The odd numbers that are sieved at a time, of 100,000 numbers. Their flags fit in a second-level cache.
const BLOCK: usize = 50_000;

/// All primes below a limit.
///
/// ```
/// use manycore_programs::fork::{Kernel, Serial, Sieve};
/// use manycore_platform::Native;
///
/// let mut kernel = Sieve::new(1000);
/// kernel.run(&Serial::<Native>::default());
/// kernel.verify().unwrap();
/// assert_eq!(kernel.primes(), Some(168));
/// ```
#[derive(Clone, Debug)]
pub struct Sieve {
    limit: usize,
    /// For 1, 3, 5, ... whether the number can still be prime.
    odd: Vec<bool>,
    block: usize,
    primes: Option<usize>,
}

impl Sieve {
    /// A sieve for the primes below `limit`. There is no seed.
    ///
    /// ```
    /// use manycore_programs::fork::{Kernel, Sieve, Wrong};
    /// assert_eq!(Sieve::new(100).verify(), Err(Wrong::NotRun));
    /// ```
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            odd: vec![false; limit / 2],
            block: BLOCK,
            primes: None,
        }
    }

    /// How many primes the sieve found.
    ///
    /// ```
    /// use manycore_programs::fork::Sieve;
    /// assert_eq!(Sieve::new(100).primes(), None); // not yet sieved
    /// ```
    #[must_use]
    pub fn primes(&self) -> Option<usize> {
        self.primes
    }

    /// Adds 2, the only even prime, if it is below the limit.
    fn and_two(&self, odd_primes: usize) -> usize {
        odd_primes + usize::from(self.limit > 2)
    }
}

impl Kernel for Sieve {
    fn reset(&mut self) {
        self.odd.fill(false);
        self.primes = None;
    }

    fn run<F: Fork>(&mut self, fork: &F) {
        let base = odd_primes_to_root::<F::Platform>(self.limit);
        let odd_primes = fork.reduce(
            SlicePart::new(&mut self.odd, self.block),
            &|part| sieve::<F::Platform>(&base, part, self.block),
            &|a, b| a + b,
        );
        self.primes = Some(self.and_two(odd_primes));
    }

    fn sequential<P: Platform>(&mut self) {
        let base = odd_primes_to_root::<P>(self.limit);
        let odd_primes = sieve::<P>(&base, SlicePart::new(&mut self.odd, self.block), self.block);
        self.primes = Some(self.and_two(odd_primes));
    }

    fn verify(&self) -> Result<(), Wrong> {
        let found = self.primes.ok_or(Wrong::NotRun)?;
        let primes = primes_by_factors(self.limit);
        Wrong::unless_equal("the number of primes", found, primes.len())?;
        let mut odd = vec![false; self.odd.len()];
        for prime in primes.into_iter().filter(|prime| prime % 2 == 1) {
            odd[prime / 2] = true;
        }
        Wrong::unless_all_equal("the flag with number", &self.odd, &odd)
    }
}

/// The odd primes up to the root of `limit`.
fn odd_primes_to_root<P: Platform>(limit: usize) -> Vec<usize> {
    let root = limit.isqrt() + 1;
    let mut odd = vec![true; root / 2];
    let mut primes = Vec::new();
    for index in 1..odd.len() {
        if odd[index] {
            let prime = 2 * index + 1;
            primes.push(prime);
            odd.iter_mut()
                .skip(index)
                .step_by(prime)
                .for_each(|flag| *flag = false);
            P::compute(PRIME + STRIKE * (root / 2 / prime) as u64);
        }
    }
    primes
}

/// Sieves a part, block by block, so that the flags stay in the cache. Returns the number of primes in the
/// part.
fn sieve<P: Platform>(base: &[usize], part: SlicePart<bool>, block: usize) -> usize {
    let firsts = (part.first..).step_by(block);
    (part.items.chunks_mut(block).zip(firsts))
        .map(|(flags, first)| sieve_block::<P>(base, flags, first))
        .sum()
}

fn sieve_block<P: Platform>(base: &[usize], flags: &mut [bool], first: usize) -> usize {
    flags.fill(true);
    if first == 0 {
        flags[0] = false; // 1
    }
    let end = first + flags.len();
    let (mut tried, mut struck) = (0, 0);
    for &prime in base {
        // Multiples smaller than p * p have a smaller factor. The index of p * p is p * p / 2, and odd
        // multiples are p indices apart.
        let square = prime * prime / 2;
        if square >= end {
            break;
        }
        let start = match first.checked_sub(square) {
            Some(past) => past.next_multiple_of(prime) - past,
            None => square - first,
        };
        flags
            .iter_mut()
            .skip(start)
            .step_by(prime)
            .for_each(|flag| *flag = false);
        tried += 1;
        struck += (flags.len().saturating_sub(start)).div_ceil(prime);
    }
    P::read(base);
    P::write(flags);
    P::compute(PRIME * tried + STRIKE * struck as u64 + FLAG * flags.len() as u64);
    flags.iter().filter(|is_prime| **is_prime).count()
}

/// The primes below `limit` by another method: each composite is struck out once, by its smallest factor.
fn primes_by_factors(limit: usize) -> Vec<usize> {
    let mut composite = vec![false; limit];
    let mut primes = Vec::new();
    for number in 2..limit {
        if !composite[number] {
            primes.push(number);
        }
        for &prime in primes.iter().take_while(|&&prime| prime * number < limit) {
            composite[prime * number] = true;
            if number % prime == 0 {
                break;
            }
        }
    }
    primes
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::*;
    use manycore_platform::Native;

    #[test]
    fn the_reference_counts() {
        let counts = [4, 25, 168, 1229, 9592, 78_498, 664_579];
        for (count, exponent) in counts.into_iter().zip(1..) {
            let mut kernel = Sieve::new(10_usize.pow(exponent));
            kernel.sequential::<Native>();
            assert_eq!(kernel.primes(), Some(count));
            kernel.verify().unwrap();
        }
    }

    #[test]
    fn every_schedule_finds_the_primes() {
        for limit in (0..30).chain([120, 121, 122, 10_000]) {
            for block in [1, 7, 50_000] {
                let mut kernel = Sieve::new(limit);
                kernel.block = block;
                check(&mut kernel);
            }
        }
    }

    #[test]
    fn a_wrong_count_and_a_wrong_flag_are_caught() {
        let mut kernel = Sieve::new(1000);
        kernel.sequential::<Native>();
        kernel.primes = Some(167);
        assert!(kernel.verify().is_err());
        kernel.primes = Some(168);
        kernel.odd[499] ^= true;
        assert!(kernel.verify().is_err());
    }
}
