//! Merge sort: the halves are sorted in parallel and merged in parallel.

use super::sorted::{insertion_sort, numbers, verify};
use super::{Fork, Kernel, Wrong};
use manycore_platform::Platform;

/// Instructions for each merged number.
const MERGE: u64 = 15;
/// Instructions for each step of a binary search.
const SEARCH: u64 = 8;

/// Runs of this length are sorted by insertion.
const RUN: usize = 16;

/// Sorts random numbers by merging.
///
/// ```
/// use manycore_programs::fork::{Kernel, MergeSort, Serial};
/// use manycore_platform::Native;
///
/// let mut kernel = MergeSort::new(10_000, 1024, 2048, 42);
/// kernel.run(&Serial::<Native>::default());
/// kernel.verify().unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct MergeSort {
    input: Vec<u32>,
    data: Vec<u32>,
    buffer: Vec<u32>,
    chunks: Chunks,
}

/// The most numbers that one thread sorts or merges without dividing.
#[derive(Clone, Copy, Debug)]
struct Chunks {
    sort: usize,
    merge: usize,
}

impl MergeSort {
    /// Sorts `length` numbers from `seed`. One thread sorts at most `sort_chunk` numbers at a time, and merges at most
    /// `merge_chunk`. A value below 2 counts as 2.
    ///
    /// ```
    /// use manycore_programs::fork::{Kernel, MergeSort};
    /// assert!(MergeSort::new(1000, 32, 64, 1).verify().is_err()); // not yet sorted
    /// ```
    #[must_use]
    pub fn new(length: usize, sort_chunk: usize, merge_chunk: usize, seed: u64) -> Self {
        let input = numbers(length, seed);
        Self {
            data: input.clone(),
            buffer: vec![0; length],
            input,
            chunks: Chunks {
                sort: sort_chunk.max(2),
                merge: merge_chunk.max(2),
            },
        }
    }
}

impl Kernel for MergeSort {
    fn reset(&mut self) {
        self.data.copy_from_slice(&self.input);
    }

    fn run<F: Fork>(&mut self, fork: &F) {
        sort(
            fork,
            self.chunks,
            &mut self.data,
            &mut self.buffer,
            Target::Data,
        );
    }

    fn sequential<P: Platform>(&mut self) {
        sort_alone::<P>(&mut self.data, &mut self.buffer, Target::Data);
    }

    fn verify(&self) -> Result<(), Wrong> {
        verify(&self.data, &self.input)
    }
}

/// The array that receives the sorted numbers. Each level of merging goes from one array to the other.
#[derive(Clone, Copy)]
enum Target {
    Data,
    Buffer,
}

impl Target {
    fn other(self) -> Self {
        match self {
            Self::Data => Self::Buffer,
            Self::Buffer => Self::Data,
        }
    }

    /// The source and the destination of the last merge.
    fn merge<'a>(self, data: &'a mut [u32], buffer: &'a mut [u32]) -> (&'a [u32], &'a mut [u32]) {
        match self {
            Self::Data => (buffer, data),
            Self::Buffer => (data, buffer),
        }
    }
}

fn sort<F: Fork>(fork: &F, chunks: Chunks, data: &mut [u32], buffer: &mut [u32], into: Target) {
    if data.len() <= chunks.sort {
        return sort_alone::<F::Platform>(data, buffer, into);
    }
    let middle = data.len() / 2;
    let (data_left, data_right) = data.split_at_mut(middle);
    let (buffer_left, buffer_right) = buffer.split_at_mut(middle);
    fork.join(
        || sort(fork, chunks, data_left, buffer_left, into.other()),
        || sort(fork, chunks, data_right, buffer_right, into.other()),
    );
    let (from, to) = into.merge(data, buffer);
    let (left, right) = from.split_at(middle);
    merge(fork, chunks, left, right, to);
}

fn sort_alone<P: Platform>(data: &mut [u32], buffer: &mut [u32], into: Target) {
    if data.len() <= RUN {
        insertion_sort::<P>(data);
        if let Target::Buffer = into {
            buffer.copy_from_slice(data);
            P::write(buffer);
        }
        return;
    }
    let middle = data.len() / 2;
    let (data_left, data_right) = data.split_at_mut(middle);
    let (buffer_left, buffer_right) = buffer.split_at_mut(middle);
    sort_alone::<P>(data_left, buffer_left, into.other());
    sort_alone::<P>(data_right, buffer_right, into.other());
    let (from, to) = into.merge(data, buffer);
    let (left, right) = from.split_at(middle);
    merge_alone::<P>(left, right, to);
}

/// Halves the longer side, and divides the shorter side at the same value.
fn merge<F: Fork>(fork: &F, chunks: Chunks, left: &[u32], right: &[u32], to: &mut [u32]) {
    if to.len() <= chunks.merge {
        return merge_alone::<F::Platform>(left, right, to);
    }
    let (left_middle, right_middle) = if left.len() >= right.len() {
        let middle = left.len() / 2;
        (
            middle,
            right.partition_point(|&number| number < left[middle]),
        )
    } else {
        let middle = right.len() / 2;
        (
            left.partition_point(|&number| number <= right[middle]),
            middle,
        )
    };
    let shorter = left.len().min(right.len());
    F::Platform::compute(SEARCH * u64::from(usize::BITS - shorter.leading_zeros()));
    let (left_low, left_high) = left.split_at(left_middle);
    let (right_low, right_high) = right.split_at(right_middle);
    let (low, high) = to.split_at_mut(left_middle + right_middle);
    fork.join(
        || merge(fork, chunks, left_low, right_low, low),
        || merge(fork, chunks, left_high, right_high, high),
    );
}

fn merge_alone<P: Platform>(left: &[u32], right: &[u32], to: &mut [u32]) {
    let (mut from_left, mut from_right) = (0, 0);
    for slot in &mut *to {
        let is_left = match (left.get(from_left), right.get(from_right)) {
            (Some(left), Some(right)) => left <= right,
            (some, _) => some.is_some(),
        };
        if is_left {
            *slot = left[from_left];
            from_left += 1;
        } else {
            *slot = right[from_right];
            from_right += 1;
        }
    }
    P::read(left);
    P::read(right);
    P::write(to);
    P::compute(MERGE * to.len() as u64);
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::*;

    #[test]
    fn it_sorts_in_every_schedule() {
        for length in [0, 1, 2, 3, 16, 17, 1000, 4097] {
            for chunks in [(2, 2), (16, 8), (100, 300)] {
                check(&mut MergeSort::new(
                    length,
                    chunks.0,
                    chunks.1,
                    length as u64,
                ));
            }
        }
    }

    #[test]
    fn equal_numbers_are_kept() {
        let mut kernel = MergeSort::new(1000, 10, 10, 1);
        kernel.input.iter_mut().for_each(|number| *number %= 5);
        kernel.reset();
        check(&mut kernel);
    }
}
