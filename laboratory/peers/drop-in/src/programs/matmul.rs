//! A product of matrices by recursive joins over blocks.

use crate::Program;
use std::sync::Arc;

const SIZE: usize = 192;
const LEAF: usize = 24;

pub fn programs() -> Vec<Program> {
    let mut random = fastrand::Rng::with_seed(11);
    // Small whole numbers: their sums are exact in any order.
    let mut matrix = || -> Vec<f32> { (0..SIZE * SIZE).map(|_| random.u8(..8).into()).collect() };
    let (a, b) = (Arc::new(matrix()), Arc::new(matrix()));
    let expected: Vec<f32> = (0..SIZE * SIZE)
        .map(|i| {
            (0..SIZE)
                .map(|k| a[i / SIZE * SIZE + k] * b[k * SIZE + i % SIZE])
                .sum()
        })
        .collect();
    vec![Program::giving(
        "matmul",
        move || {
            let mut product = vec![0.0; SIZE * SIZE];
            rows(&a, &b, &mut product, 0);
            product
        },
        expected,
    )]
}

/// Computes the rows of the product from `first` on that `product` has room for.
fn rows(a: &[f32], b: &[f32], product: &mut [f32], first: usize) {
    let count = product.len() / SIZE;
    if count > LEAF {
        let (upper, lower) = product.split_at_mut(count / 2 * SIZE);
        rayon::join(
            || rows(a, b, upper, first),
            || rows(a, b, lower, first + count / 2),
        );
        return;
    }
    let rows: Vec<&mut [f32]> = product.chunks_mut(SIZE).collect();
    columns(a, b, rows, first, 0);
}

/// The part of some rows from column `left` on.
fn columns(a: &[f32], b: &[f32], mut rows: Vec<&mut [f32]>, first: usize, left: usize) {
    let width = rows[0].len();
    if width > LEAF {
        let halves = rows.into_iter().map(|row| row.split_at_mut(width / 2));
        let (west, east) = halves.unzip();
        rayon::join(
            || columns(a, b, west, first, left),
            || columns(a, b, east, first, left + width / 2),
        );
        return;
    }
    for (i, row) in rows.iter_mut().enumerate() {
        for k in 0..SIZE {
            let factor = a[(first + i) * SIZE + k];
            let source = &b[k * SIZE + left..][..width];
            row.iter_mut()
                .zip(source)
                .for_each(|(sum, x)| *sum += factor * x);
        }
    }
}
