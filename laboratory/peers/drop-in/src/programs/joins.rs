//! The cost of a join, without any other work or with a little.

use crate::Program;
use rayon::prelude::*;

const COUNT: usize = 1 << 18;
const DEPTH: u32 = 15;

pub fn programs() -> Vec<Program> {
    vec![
        increment("increment_by_iterator", |slice| {
            slice.par_iter_mut().for_each(|x| *x += 1);
        }),
        increment("increment_by_joins", |slice| by_joins(slice, 16)),
        increment("increment_by_slices", |slice| by_joins(slice, 4096)),
        increment("increment_by_chunks", |slice| {
            slice.par_chunks_mut(1024).for_each(add_one);
        }),
        Program::giving("empty_joins", || empty(DEPTH), 1 << DEPTH),
    ]
}

fn increment(name: &str, run: impl Fn(&mut [u32]) + Send + Sync + 'static) -> Program {
    let run = move |mut slice: Vec<u32>| {
        run(&mut slice);
        slice
    };
    let input = || (0..COUNT as u32).collect();
    Program::new(name, input, run, |slice: Vec<u32>| {
        assert!(slice.into_iter().eq(1..=COUNT as u32));
    })
}

fn add_one(slice: &mut [u32]) {
    slice.iter_mut().for_each(|x| *x += 1);
}

/// Halves the slice until a part has at most `leaf` numbers.
fn by_joins(slice: &mut [u32], leaf: usize) {
    if slice.len() <= leaf {
        add_one(slice);
    } else {
        let (left, right) = slice.split_at_mut(slice.len() / 2);
        rayon::join(|| by_joins(left, leaf), || by_joins(right, leaf));
    }
}

/// A tree of joins; counts its leaves.
fn empty(depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    let (left, right) = rayon::join(|| empty(depth - 1), || empty(depth - 1));
    left + right
}
