//! Blocks of five by five numbers.

use super::gas::State;
use super::lanes::Real;

/// A matrix, by rows.
pub(super) type BtBlock<T> = [[T; 5]; 5];

/// A matrix with a vector as its last column.
pub(super) type Extended<T> = [[T; 6]; 5];

/// Calls `$function` for each row of the Jacobians, with the columns that are not zero.
macro_rules! by_pattern {
    ($function:ident($($argument:expr),*)) => {
        $function::<T, 0, 2>([0, 1], $($argument),*);
        $function::<T, 1, 5>([0, 1, 2, 3, 4], $($argument),*);
        $function::<T, 2, 3>([0, 1, 2], $($argument),*);
        $function::<T, 3, 3>([0, 1, 3], $($argument),*);
        $function::<T, 4, 5>([0, 1, 2, 3, 4], $($argument),*);
    };
}

/// `(target, extended's last column) -= matrix * other`. The matrix has zeros at the same places as the Jacobians.
#[inline(always)]
pub(super) fn subtract_product<T: Real>(
    target: &mut BtBlock<T>,
    extended: &mut Extended<T>,
    matrix: &BtBlock<T>,
    other: &Extended<T>,
) {
    by_pattern!(subtract_row(target, extended, matrix, other));
}

#[inline(always)]
fn subtract_row<T: Real, const ROW: usize, const COLUMNS: usize>(
    columns: [usize; COLUMNS],
    target: &mut BtBlock<T>,
    extended: &mut Extended<T>,
    matrix: &BtBlock<T>,
    other: &Extended<T>,
) {
    let [a, b, c, d, e] = target[ROW];
    let mut sum = [a, b, c, d, e, extended[ROW][5]];
    for k in columns {
        subtract(&mut sum, matrix[ROW][k], &other[k]);
    }
    let [a, b, c, d, e, f] = sum;
    target[ROW] = [a, b, c, d, e];
    extended[ROW][5] = f;
}

#[inline(always)]
fn subtract<T: Real, const N: usize>(row: &mut [T; N], factor: T, other: &[T; N]) {
    for column in 0..N {
        row[column] = row[column] - factor * other[column];
    }
}

/// Multiplies `extended` by the inverse of `matrix`, by Gaussian elimination without pivoting. The
/// benchmark's matrices have large diagonals and need no pivoting.
#[inline(always)]
pub(super) fn divide<T: Real>(matrix: &mut BtBlock<T>, extended: &mut Extended<T>) {
    eliminate::<T, 0>(matrix, extended);
    eliminate::<T, 1>(matrix, extended);
    eliminate::<T, 2>(matrix, extended);
    eliminate::<T, 3>(matrix, extended);
    eliminate::<T, 4>(matrix, extended);
    substitute::<T, 3>(matrix, extended);
    substitute::<T, 2>(matrix, extended);
    substitute::<T, 1>(matrix, extended);
    substitute::<T, 0>(matrix, extended);
}

#[inline(always)]
fn eliminate<T: Real, const ROW: usize>(matrix: &mut BtBlock<T>, extended: &mut Extended<T>) {
    let mut row = matrix[ROW];
    for k in 0..ROW {
        let factor = row[k];
        for column in k + 1..5 {
            row[column] = row[column] - factor * matrix[k][column];
        }
    }
    let inverse = T::of(1.0) / row[ROW];
    matrix[ROW] = row;
    for column in ROW + 1..5 {
        matrix[ROW][column] = row[column] * inverse;
    }
    let mut sum = extended[ROW];
    for k in 0..ROW {
        subtract(&mut sum, matrix[ROW][k], &extended[k]);
    }
    for column in 0..6 {
        extended[ROW][column] = sum[column] * inverse;
    }
}

#[inline(always)]
fn substitute<T: Real, const ROW: usize>(matrix: &BtBlock<T>, extended: &mut Extended<T>) {
    let mut sum = extended[ROW];
    for k in ROW + 1..5 {
        subtract(&mut sum, matrix[ROW][k], &extended[k]);
    }
    extended[ROW] = sum;
}

/// The vector of `extended` minus its matrix times `other`.
#[inline(always)]
pub(super) fn minus_product<T: Real>(extended: &Extended<T>, other: &State<T>) -> State<T> {
    let mut result = [T::of(0.0); 5];
    for row in 0..5 {
        result[row] = extended[row][5];
        for column in 0..5 {
            result[row] = result[row] - extended[row][column] * other[column];
        }
    }
    result
}
