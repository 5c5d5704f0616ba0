//! Fibonacci's numbers, with a join at each call or as an iterator that splits.

use crate::Program;
use rayon::prelude::*;

pub fn programs() -> Vec<Program> {
    vec![
        Program::giving("fibonacci_left_first", || joined(24), 46_368),
        Program::giving("fibonacci_right_first", || mirrored(24), 46_368),
        Program::giving("fibonacci_split", || split(24), 46_368),
    ]
}

fn joined(n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (a, b) = rayon::join(|| joined(n - 1), || joined(n - 2));
    a + b
}

fn mirrored(n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (a, b) = rayon::join(|| mirrored(n - 2), || mirrored(n - 1));
    a + b
}

/// The iterator splits numbers down to 12. Smaller numbers are computed serially.
fn split(n: u32) -> u64 {
    rayon::iter::split(n, |n| match n {
        0..12 => (n, None),
        _ => (n - 1, Some(n - 2)),
    })
    .map(serial)
    .sum()
}

fn serial(n: u32) -> u64 {
    match n {
        0 | 1 => n.into(),
        _ => serial(n - 1) + serial(n - 2),
    }
}
