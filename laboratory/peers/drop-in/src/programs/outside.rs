//! Calls by a thread outside of the pool.

use super::sum_below;
use crate::Program;
use rayon::prelude::*;

const ITEMS: u64 = 1_000;
const CALLS: u64 = 100;

pub fn programs() -> Vec<Program> {
    // One after the other, as in a program with loops on its main thread.
    let sums = || {
        (0..CALLS)
            .map(|_| (0..ITEMS).into_par_iter().sum::<u64>())
            .sum()
    };
    let joins = || (0..CALLS).map(|x| rayon::join(|| x, || 1).0).sum();
    vec![
        Program::giving("outside_thousand_items", sums, CALLS * sum_below(ITEMS)).from_outside(),
        Program::giving("outside_joins", joins, sum_below(CALLS)).from_outside(),
    ]
}
