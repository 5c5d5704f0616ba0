//! Loops in loops.

use super::sum_below;
use crate::Program;
use rayon::prelude::*;

const SIDE: u64 = 256;
const CUBE: u64 = 32;

pub fn programs() -> Vec<Program> {
    let square = || {
        let row = |y: u64| (0..SIDE).into_par_iter().map(|x| x * y).sum::<u64>();
        (0..SIDE).into_par_iter().map(row).sum()
    };
    let cube = || {
        let row = |y: u64| (0..CUBE).into_par_iter().map(move |x| x * y).sum::<u64>();
        let plane = |z: u64| {
            (0..CUBE)
                .into_par_iter()
                .map(row)
                .map(move |x| x * z)
                .sum::<u64>()
        };
        (0..CUBE).into_par_iter().map(plane).sum()
    };
    let flat = || {
        let rows = (0..SIDE).into_par_iter();
        rows.flat_map(|y| (0..SIDE).into_par_iter().map(move |x| x * y))
            .sum()
    };
    let expected = sum_below(SIDE).pow(2);
    vec![
        Program::giving("nested_two", square, expected),
        Program::giving("nested_three", cube, sum_below(CUBE).pow(3)),
        Program::giving("nested_flat_map", flat, expected),
    ]
}
