//! Sorts that divide their work by joins.

use super::{Failure, expect};
use crate::calls::Calls;
use crate::runtime::Runtime;
use crate::work::mix;

const NUMBERS: usize = 16_384;

/// One thread sorts up to this many numbers.
const LEAST: usize = 64;

/// Numbers, and a scratch array of the same length.
struct Numbers {
    numbers: Vec<u64>,
    scratch: Vec<u64>,
}

impl Numbers {
    fn new() -> Self {
        Self {
            numbers: vec![0; NUMBERS],
            scratch: vec![0; NUMBERS],
        }
    }

    fn shuffle(&mut self) {
        let numbers = self.numbers.iter_mut().enumerate();
        numbers.for_each(|(at, number)| *number = mix(at as u64));
    }

    fn expect_sorted(&self) -> Result<(), Failure> {
        let mut right: Vec<u64> = (0..NUMBERS as u64).map(mix).collect();
        right.sort_unstable();
        expect(
            "whether the numbers are sorted",
            self.numbers == right,
            true,
        )
    }
}

pub(super) fn quicksort<R: Runtime>(
    context: &mut R::Context<'_>,
    calls: &mut Calls,
) -> Result<(), Failure> {
    let mut state = Numbers::new();
    calls.make_on(&mut state, Numbers::shuffle, |state, _| {
        let numbers = &mut state.numbers[..];
        R::fork(context, |context| divide::<R>(context, numbers));
    });
    state.expect_sorted()
}

fn divide<R: Runtime>(context: &mut R::Context<'_>, numbers: &mut [u64]) {
    if numbers.len() <= LEAST {
        numbers.sort_unstable();
        return;
    }
    let middle = partition(numbers);
    let (less, rest) = numbers.split_at_mut(middle);
    let more = &mut rest[1..];
    R::join(
        context,
        |context| divide::<R>(context, less),
        |context| divide::<R>(context, more),
    );
}

/// Moves smaller numbers before the pivot, a median of three, and returns its index.
fn partition(numbers: &mut [u64]) -> usize {
    let last = numbers.len() - 1;
    let mut three = [0, last / 2, last];
    three.sort_unstable_by_key(|&at| numbers[at]);
    numbers.swap(three[1], last);
    let pivot = numbers[last];
    let mut less = 0;
    for at in 0..last {
        if numbers[at] < pivot {
            numbers.swap(at, less);
            less += 1;
        }
    }
    numbers.swap(less, last);
    less
}

pub(super) fn mergesort<R: Runtime>(
    context: &mut R::Context<'_>,
    calls: &mut Calls,
) -> Result<(), Failure> {
    let mut state = Numbers::new();
    calls.make_on(&mut state, Numbers::shuffle, |state, _| {
        let (numbers, scratch) = (&mut state.numbers[..], &mut state.scratch[..]);
        R::fork(context, |context| halves::<R>(context, numbers, scratch));
    });
    state.expect_sorted()
}

fn halves<R: Runtime>(context: &mut R::Context<'_>, numbers: &mut [u64], scratch: &mut [u64]) {
    if numbers.len() <= LEAST {
        numbers.sort_unstable();
        return;
    }
    let middle = numbers.len() / 2;
    let (left, right) = numbers.split_at_mut(middle);
    let (left_scratch, right_scratch) = scratch.split_at_mut(middle);
    R::join(
        context,
        |context| halves::<R>(context, left, left_scratch),
        |context| halves::<R>(context, right, right_scratch),
    );
    let (mut a, mut b) = (0, middle);
    for place in &mut *scratch {
        let takes_left = a < middle && (b == numbers.len() || numbers[a] <= numbers[b]);
        let from = if takes_left { &mut a } else { &mut b };
        *place = numbers[*from];
        *from += 1;
    }
    numbers.copy_from_slice(scratch);
}
