//! Strassen's algorithm: seven products of half the side instead of eight.

use super::matrix::{quarters, quarters_mut};
use super::{join_four, multiply_block};
use crate::fork::Fork;
use manycore_platform::Platform;

/// Instructions for four elements of a sum, for each matrix in the sum.
const FOUR_SUMS: u64 = 3;

/// Writes the product of `a` and `b` to `c`.
pub(super) fn multiply<F: Fork>(fork: &F, block: usize, a: &[f32], b: &[f32], c: &mut [f32]) {
    if c.len() <= block * block {
        c.fill(0.0);
        return multiply_block::<F::Platform>(block, a, b, c);
    }
    let ([a11, a12, a21, a22], [b11, b12, b21, b22]) = (quarters(a), quarters(b));
    let product = |a: &[f32], b: &[f32]| {
        let mut product = vec![0.0; a.len()];
        multiply(fork, block, a, b, &mut product);
        product
    };
    let sum = |a, b| {
        let mut sum = vec![0.0; c.len() / 4];
        fill::<F::Platform, 2>(&mut sum, [a, b], |[a, b]| a + b);
        sum
    };
    let difference = |a, b| {
        let mut difference = vec![0.0; c.len() / 4];
        fill::<F::Platform, 2>(&mut difference, [a, b], |[a, b]| a - b);
        difference
    };
    let ([m1, m2, m3, m4], ((m5, m6), m7)) = fork.join(
        || {
            join_four(
                fork,
                || product(&sum(a11, a22), &sum(b11, b22)),
                || product(&sum(a21, a22), b11),
                || product(a11, &difference(b12, b22)),
                || product(a22, &difference(b21, b11)),
            )
        },
        || {
            let m5 = || product(&sum(a11, a12), b22);
            let m6 = || product(&difference(a21, a11), &sum(b11, b12));
            let m7 = || product(&difference(a12, a22), &sum(b21, b22));
            fork.join(|| fork.join(m5, m6), m7)
        },
    );
    let [c11, c12, c21, c22] = quarters_mut(c);
    join_four(
        fork,
        || {
            fill::<F::Platform, 4>(c11, [&m1, &m4, &m5, &m7], |[m1, m4, m5, m7]| {
                m1 + m4 - m5 + m7
            })
        },
        || fill::<F::Platform, 2>(c12, [&m3, &m5], |[m3, m5]| m3 + m5),
        || fill::<F::Platform, 2>(c21, [&m2, &m4], |[m2, m4]| m2 + m4),
        || {
            fill::<F::Platform, 4>(c22, [&m1, &m2, &m3, &m6], |[m1, m2, m3, m6]| {
                m1 - m2 + m3 + m6
            })
        },
    );
}

/// Fills a quadrant. `element` computes each value from the elements of other quadrants.
fn fill<P: Platform, const N: usize>(
    to: &mut [f32],
    from: [&[f32]; N],
    element: impl Fn([f32; N]) -> f32,
) {
    // With equal lengths the loop below need not check its indices.
    let from = from.map(|from| &from[..to.len()]);
    for (index, to) in to.iter_mut().enumerate() {
        *to = element(from.map(|from| from[index]));
    }
    from.iter().for_each(|from| P::read(from));
    P::write(to);
    P::compute(FOUR_SUMS * (N * to.len()).div_ceil(4) as u64);
}
