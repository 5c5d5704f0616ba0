//! rayon's own sorts.

use super::random_numbers;
use crate::Program;
use rayon::prelude::*;

const COUNT: usize = 1 << 17;

pub fn programs() -> Vec<Program> {
    let random = || random_numbers(COUNT);
    let ascending = || (0..COUNT as u64).collect();
    // Sorted, with some exchanges.
    let mostly = || {
        let mut numbers: Vec<u64> = (0..COUNT as u64).collect();
        let mut random = fastrand::Rng::with_seed(5);
        for _ in 0..COUNT / 50 {
            numbers.swap(random.usize(..COUNT), random.usize(..COUNT));
        }
        numbers
    };
    let words = || {
        random_numbers(COUNT / 8)
            .into_iter()
            .map(|x| format!("{x:x}"))
            .collect()
    };
    vec![
        sorting("par_sort_random", random, |x| x.par_sort()),
        sorting("par_sort_ascending", ascending, |x| x.par_sort()),
        sorting("par_sort_mostly", mostly, |x| x.par_sort()),
        sorting("par_sort_strings", words, |x: &mut [String]| x.par_sort()),
        sorting("par_sort_unstable_random", random, |x| {
            x.par_sort_unstable()
        }),
        sorting("par_sort_unstable_mostly", mostly, |x| {
            x.par_sort_unstable()
        }),
    ]
}

/// A program that sorts `input`.
pub fn sorting<T: Ord + Send + Sync + 'static>(
    name: &str,
    input: impl Fn() -> Vec<T> + Send + Sync + 'static,
    sort: impl Fn(&mut [T]) + Send + Sync + 'static,
) -> Program {
    let mut expected = input();
    expected.sort();
    Program::new(
        name,
        input,
        move |mut items| {
            sort(&mut items);
            items
        },
        move |items: Vec<T>| assert!(items == expected, "not sorted"),
    )
}
