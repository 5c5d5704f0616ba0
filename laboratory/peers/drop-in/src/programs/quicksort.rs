//! A quicksort with joined halves.

use super::random_numbers;
use super::sorts::sorting;
use crate::Program;

const COUNT: usize = 1 << 17;

pub fn programs() -> Vec<Program> {
    let numbers = || random_numbers(COUNT);
    vec![
        sorting("quicksort_to_8", numbers, |numbers| sort(numbers, 8)),
        sorting("quicksort_to_1024", numbers, |numbers| sort(numbers, 1024)),
    ]
}

/// Joins while there are more than `serial` numbers.
fn sort(numbers: &mut [u64], serial: usize) {
    if numbers.len() <= serial {
        numbers.sort_unstable();
        return;
    }
    let pivot = partition(numbers);
    let (low, high) = numbers.split_at_mut(pivot);
    rayon::join(|| sort(low, serial), || sort(&mut high[1..], serial));
}

/// Puts a number in its place, smaller ones before it and the others behind; says where that is.
fn partition(numbers: &mut [u64]) -> usize {
    let last = numbers.len() - 1;
    numbers.swap(last / 2, last);
    let pivot = numbers[last];
    let mut place = 0;
    for i in 0..last {
        if numbers[i] < pivot {
            numbers.swap(i, place);
            place += 1;
        }
    }
    numbers.swap(place, last);
    place
}
