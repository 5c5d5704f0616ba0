//! Quicksort: partition, then both sides in parallel.

use super::sorted::{insertion_sort, numbers, verify};
use super::{Fork, Kernel, Wrong};
use manycore_platform::Platform;

/// Instructions a number looked at by a partition; and what a call of the
/// recursion takes besides.
const PARTITION: u64 = 10;
const CALL: u64 = 27;

/// Sorts random numbers in place by partitioning.
///
/// ```
/// use manycore_kernels::fork::{Kernel, QuickSort, Serial};
/// use manycore_platform::Native;
///
/// let mut kernel = QuickSort::new(10_000, 1, 42);
/// kernel.run(&Serial::<Native>::default());
/// kernel.verify().unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct QuickSort {
    input: Vec<u32>,
    data: Vec<u32>,
    cutoff: usize,
}

impl QuickSort {
    /// Sorts `length` numbers from `seed`; at most `cutoff` of them by insertion
    /// instead. With 1, as in the document, there is a `join` for nearly every
    /// number; 0 counts as 1.
    ///
    /// ```
    /// use manycore_kernels::fork::{Kernel, QuickSort};
    /// assert!(QuickSort::new(1000, 16, 1).verify().is_err()); // not yet sorted
    /// ```
    #[must_use]
    pub fn new(length: usize, cutoff: usize, seed: u64) -> Self {
        let input = numbers(length, seed);
        Self {
            data: input.clone(),
            input,
            cutoff: cutoff.max(1),
        }
    }
}

impl Kernel for QuickSort {
    fn reset(&mut self) {
        self.data.copy_from_slice(&self.input);
    }

    fn run<F: Fork>(&mut self, fork: &F) {
        sort(fork, self.cutoff, &mut self.data);
    }

    fn sequential<P: Platform>(&mut self) {
        sort_alone::<P>(self.cutoff, &mut self.data);
    }

    fn verify(&self) -> Result<(), Wrong> {
        verify(&self.data, &self.input)
    }
}

fn sort<F: Fork>(fork: &F, cutoff: usize, data: &mut [u32]) {
    if let Some((left, right)) = divide::<F::Platform>(cutoff, data) {
        fork.join(|| sort(fork, cutoff, left), || sort(fork, cutoff, right));
    }
}

fn sort_alone<P: Platform>(cutoff: usize, data: &mut [u32]) {
    if let Some((left, right)) = divide::<P>(cutoff, data) {
        sort_alone::<P>(cutoff, left);
        sort_alone::<P>(cutoff, right);
    }
}

/// The two sides of the pivot, which is in its place; or sorts `data`, if it is
/// short.
fn divide<P: Platform>(cutoff: usize, data: &mut [u32]) -> Option<(&mut [u32], &mut [u32])> {
    if data.len() <= cutoff {
        if data.len() > 1 {
            insertion_sort::<P>(data);
        }
        return None;
    }
    let middle = partition(data);
    P::write(data);
    P::compute(PARTITION * data.len() as u64 + CALL);
    let (left, rest) = data.split_at_mut(middle);
    Some((left, &mut rest[1..]))
}

/// Puts what is less than the middle number before it and the rest behind, in
/// one pass; returns where it is then. There must be a number.
fn partition(data: &mut [u32]) -> usize {
    let last = data.len() - 1;
    data.swap(last / 2, last);
    let pivot = data[last];
    let mut place = 0;
    for at in 0..last {
        if data[at] < pivot {
            data.swap(at, place);
            place += 1;
        }
    }
    data.swap(place, last);
    place
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::*;

    #[test]
    fn it_sorts_in_every_schedule() {
        for length in [0, 1, 2, 3, 16, 17, 1000, 4097] {
            for cutoff in [0, 1, 5, 100] {
                check(&mut QuickSort::new(length, cutoff, length as u64));
            }
        }
    }

    #[test]
    fn a_partition_puts_the_middle_number_in_its_place() {
        let mut data = [5, 9, 4, 1, 7, 4];
        let place = partition(&mut data);
        assert_eq!((place, data[place]), (1, 4));
        assert!(data[2..].iter().all(|&number| number >= 4));
    }
}
