//! Blocks of five by five numbers.

use super::gas::State;
use super::lanes::Real;

/// A matrix, by rows.
pub(super) type Block<T> = [[T; 5]; 5];

/// The columns in which a row of the equations' derivatives is not zero.
pub(super) const PATTERN: [&[usize]; 5] = [
    &[0, 1],
    &[0, 1, 2, 3, 4],
    &[0, 1, 2],
    &[0, 1, 3],
    &[0, 1, 2, 3, 4],
];

/// `target -= matrix * block`, and the same for a vector, where the matrix has the
/// pattern.
#[inline(always)]
pub(super) fn subtract_product<T: Real>(
    target: (&mut Block<T>, &mut State<T>),
    matrix: &Block<T>,
    (block, vector): (&Block<T>, &State<T>),
) {
    let (blocks, vectors) = target;
    for row in 0..5 {
        for column in 0..5 {
            let mut value = blocks[row][column];
            for &k in PATTERN[row] {
                value = value - matrix[row][k] * block[k][column];
            }
            blocks[row][column] = value;
        }
        let mut value = vectors[row];
        for &k in PATTERN[row] {
            value = value - matrix[row][k] * vector[k];
        }
        vectors[row] = value;
    }
}

/// Replaces `block` and `vector` by what `matrix` makes them of: Gaussian elimination
/// without a search for pivots, which the benchmark's matrices, with large diagonals, do
/// not need.
#[inline(always)]
pub(super) fn divide<T: Real>(matrix: &mut Block<T>, block: &mut Block<T>, vector: &mut State<T>) {
    for pivot in 0..5 {
        let inverse = T::of(1.0) / matrix[pivot][pivot];
        for column in pivot + 1..5 {
            matrix[pivot][column] = matrix[pivot][column] * inverse;
        }
        for column in 0..5 {
            block[pivot][column] = block[pivot][column] * inverse;
        }
        vector[pivot] = vector[pivot] * inverse;
        for row in pivot + 1..5 {
            let factor = matrix[row][pivot];
            for column in pivot + 1..5 {
                matrix[row][column] = matrix[row][column] - factor * matrix[pivot][column];
            }
            for column in 0..5 {
                block[row][column] = block[row][column] - factor * block[pivot][column];
            }
            vector[row] = vector[row] - factor * vector[pivot];
        }
    }
    for row in (0..4).rev() {
        for k in row + 1..5 {
            let factor = matrix[row][k];
            for column in 0..5 {
                block[row][column] = block[row][column] - factor * block[k][column];
            }
            vector[row] = vector[row] - factor * vector[k];
        }
    }
}

/// `vector - block * other`.
#[inline(always)]
pub(super) fn minus_product<T: Real>(
    vector: &State<T>,
    block: &Block<T>,
    other: &State<T>,
) -> State<T> {
    let mut result = *vector;
    for row in 0..5 {
        for column in 0..5 {
            result[row] = result[row] - block[row][column] * other[column];
        }
    }
    result
}
