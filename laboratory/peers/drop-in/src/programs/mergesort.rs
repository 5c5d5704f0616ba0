//! A mergesort with joined sorts and merges.

use super::random_numbers;
use super::sorts::sorting;
use crate::Program;

const COUNT: usize = 1 << 17;
const SERIAL: usize = 512;

pub fn programs() -> Vec<Program> {
    vec![sorting(
        "mergesort",
        || random_numbers(COUNT),
        |numbers| {
            let mut spare = vec![0; numbers.len()];
            sort(numbers, &mut spare, false);
        },
    )]
}

/// Sorts `numbers`, into `other` if asked.
fn sort(numbers: &mut [u64], other: &mut [u64], into_other: bool) {
    if numbers.len() <= SERIAL {
        numbers.sort();
        if into_other {
            other.copy_from_slice(numbers);
        }
        return;
    }
    let middle = numbers.len() / 2;
    {
        let (left, right) = numbers.split_at_mut(middle);
        let (other_left, other_right) = other.split_at_mut(middle);
        rayon::join(
            || sort(left, other_left, !into_other),
            || sort(right, other_right, !into_other),
        );
    }
    let (from, to) = if into_other {
        (numbers, other)
    } else {
        (other, numbers)
    };
    let (left, right) = from.split_at(middle);
    merge(left, right, to);
}

/// Halves the longer part, and cuts the shorter part where the longer part's middle number would be.
fn merge(a: &[u64], b: &[u64], to: &mut [u64]) {
    let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    if to.len() <= SERIAL {
        merge_serially(long, short, to);
        return;
    }
    let middle = long.len() / 2;
    let cut = short.partition_point(|&x| x < long[middle]);
    let (to_left, to_right) = to.split_at_mut(middle + cut);
    rayon::join(
        || merge(&long[..middle], &short[..cut], to_left),
        || merge(&long[middle..], &short[cut..], to_right),
    );
}

fn merge_serially<'a>(mut a: &'a [u64], mut b: &'a [u64], to: &mut [u64]) {
    for place in to {
        let from = match (a.first(), b.first()) {
            (Some(x), Some(y)) if y < x => &mut b,
            (None, _) => &mut b,
            _ => &mut a,
        };
        *place = from[0];
        *from = &from[1..];
    }
}
