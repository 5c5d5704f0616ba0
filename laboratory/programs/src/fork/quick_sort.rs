//! Quicksort: partitions the numbers, then sorts both sides in parallel.

use super::sorted::verify;
use super::{Fork, Kernel, Wrong};
use manycore_platform::Platform;

/// Instructions for each number that a partition looks at, and for each call of the recursion.
const PARTITION: u64 = 10;
const CALL: u64 = 27;

/// Sorts random numbers in place by partitioning.
///
/// ```
/// use manycore_programs::fork::{Kernel, QuickSort, Serial};
/// use manycore_platform::Native;
///
/// let mut kernel = QuickSort::new(10_000, 100, 42);
/// kernel.run(&Serial::<Native>::default());
/// kernel.verify().unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct QuickSort {
    input: Vec<u32>,
    data: Vec<u32>,
    alone: usize,
}

impl QuickSort {
    /// Sorts `length` numbers from `seed`. One thread alone sorts a piece of at most `alone` numbers. 488,281 numbers,
    /// `alone` at 5,120 and seed 1 are the input of Fontena's experiment.
    ///
    /// The input limits the speedup: each pivot is the last number, and one thread partitions around it.
    /// The longest chain of partitions, down to a piece that is sorted alone, has 1/5.84 of all work for
    /// that input. For other inputs it has 1/4 to 1/8.
    ///
    /// ```
    /// use manycore_programs::fork::{Kernel, QuickSort};
    /// assert!(QuickSort::new(1000, 16, 1).verify().is_err()); // not yet sorted
    /// ```
    #[must_use]
    pub fn new(length: usize, alone: usize, seed: u64) -> Self {
        let input = xorshift(length, seed);
        Self {
            data: input.clone(),
            input,
            alone,
        }
    }
}

impl Kernel for QuickSort {
    fn reset(&mut self) {
        self.data.copy_from_slice(&self.input);
    }

    fn run<F: Fork>(&mut self, fork: &F) {
        sort(fork, self.alone, &mut self.data);
    }

    fn sequential<P: Platform>(&mut self) {
        sort_alone::<P>(&mut self.data);
    }

    fn verify(&self) -> Result<(), Wrong> {
        verify(&self.data, &self.input)
    }
}

fn sort<F: Fork>(fork: &F, alone: usize, data: &mut [u32]) {
    if data.len() <= alone {
        sort_alone::<F::Platform>(data);
    } else if let Some((left, right)) = divide::<F::Platform>(data) {
        fork.join(|| sort(fork, alone, left), || sort(fork, alone, right));
    }
}

fn sort_alone<P: Platform>(data: &mut [u32]) {
    if let Some((left, right)) = divide::<P>(data) {
        sort_alone::<P>(left);
        sort_alone::<P>(right);
    }
}

/// Returns the two sides of the pivot, which is then in its place. A single number has no sides.
fn divide<P: Platform>(data: &mut [u32]) -> Option<(&mut [u32], &mut [u32])> {
    if data.len() < 2 {
        return None;
    }
    let middle = partition(data);
    P::write(data);
    P::compute(PARTITION * data.len() as u64 + CALL);
    let (left, rest) = data.split_at_mut(middle);
    Some((left, &mut rest[1..]))
}

/// Puts the last number in its place in one pass: smaller numbers before it, the rest behind it. Returns the place of
/// the former last number. `data` must not be empty.
fn partition(data: &mut [u32]) -> usize {
    let last = data.len() - 1;
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

/// Random numbers by Marsaglia's xorshift with 128 bits of state (Journal of Statistical Software 8 (14),
/// 2003). With seed 1 the state is the bytes 0 to 15, as in Fontena's experiment.
fn xorshift(length: usize, seed: u64) -> Vec<u32> {
    let [low, high] = [seed as u32, (seed >> 32) as u32];
    // The state is never all zero.
    let mut state = [
        0x0302_0100 ^ low ^ 1,
        0x0706_0504 ^ high,
        0x0b0a_0908,
        0x0f0e_0d0c,
    ];
    let next = |_| {
        let [oldest, second, third, last] = state;
        let mixed = oldest ^ (oldest << 11);
        let number = last ^ (last >> 19) ^ mixed ^ (mixed >> 8);
        state = [second, third, last, number];
        number
    };
    (0..length).map(next).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::*;

    #[test]
    fn it_sorts_in_every_schedule() {
        for length in [0, 1, 2, 3, 16, 17, 1000, 4097] {
            for alone in [0, 1, 5, 100] {
                check(&mut QuickSort::new(length, alone, length as u64));
            }
        }
    }

    #[test]
    fn a_partition_puts_the_last_number_in_its_place() {
        let mut data = [5, 9, 4, 1, 7, 4];
        let place = partition(&mut data);
        assert_eq!((place, data[place]), (1, 4));
        assert!(data[2..].iter().all(|&number| number >= 4));
    }

    /// How many numbers all partitions look at, and how many the partitions of the longest chain look at.
    fn work(data: &mut [u32], alone: usize) -> (usize, usize) {
        if data.len() < 2 {
            return (0, 0);
        }
        let (length, middle) = (data.len(), partition(data));
        let (left, rest) = data.split_at_mut(middle);
        let (left, right) = (work(left, alone), work(&mut rest[1..], alone));
        let all = length + left.0 + right.0;
        match length <= alone {
            true => (all, all),
            false => (all, length + left.1.max(right.1)),
        }
    }

    #[test]
    fn the_documents_input_bounds_its_speedup() {
        let (all, longest) = work(&mut xorshift(488_281, 1), 5120);
        let bound = all as f64 / longest as f64;
        assert!((bound - 5.84).abs() < 0.02, "{bound}");
    }
}
