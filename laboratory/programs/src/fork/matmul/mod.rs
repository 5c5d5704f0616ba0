//! Matrix multiplication by quadrants, plain or by Strassen's seven products.

mod matrix;
mod strassen;

use super::{Fork, Kernel, Serial, Wrong};
use manycore_platform::Platform;
use matrix::{DenseMatrix, quarters, quarters_mut};

/// Instructions for eight multiplications and additions in a row of a block, and for each row.
const EIGHT_PRODUCTS: u64 = 12;
const ROW: u64 = 18;

/// The algorithm for quadrants.
///
/// ```
/// use manycore_programs::fork::Method;
/// assert_ne!(Method::Quadrants, Method::Strassen);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Four products are computed in parallel, then four others, which are added to the first.
    Quadrants,
    /// Seven products of sums are computed in parallel, each in its own memory.
    Strassen,
}

/// The product of two square matrices of `f32`.
///
/// The elements are small whole numbers, so all sums are exact in any order. Every bit of the answer must be right,
/// without a tolerance.
///
/// ```
/// use manycore_programs::fork::{Kernel, MatMul, Method, Serial};
/// use manycore_platform::Native;
///
/// let mut kernel = MatMul::new(Method::Strassen, 3, 8, 42); // 64 times 64
/// kernel.run(&Serial::<Native>::default());
/// kernel.verify().unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct MatMul {
    method: Method,
    a: DenseMatrix,
    b: DenseMatrix,
    c: DenseMatrix,
}

impl MatMul {
    /// Matrices from `seed` with a side of `block` (0 counts as 1) times two to the power of `levels`.
    /// Blocks are multiplied sequentially. All sums stay below 2^24, so they are exact, if the square of
    /// the side is at most 2^18 times `block`.
    ///
    /// ```
    /// use manycore_programs::fork::{Kernel, MatMul, Method};
    /// let kernel = MatMul::new(Method::Quadrants, 2, 4, 1); // 16 times 16
    /// assert!(kernel.verify().is_err()); // not yet multiplied
    /// ```
    #[must_use]
    pub fn new(method: Method, levels: u32, block: usize, seed: u64) -> Self {
        let block = block.max(1);
        let mut random = fastrand::Rng::with_seed(seed);
        let mut matrix = || DenseMatrix::from_fn(levels, block, || f32::from(random.i8(-4..=4)));
        Self {
            method,
            a: matrix(),
            b: matrix(),
            c: DenseMatrix::from_fn(levels, block, || f32::NAN),
        }
    }
}

impl Kernel for MatMul {
    fn reset(&mut self) {
        self.c.elements.fill(f32::NAN);
    }

    fn run<F: Fork>(&mut self, fork: &F) {
        let (a, b, c) = (&self.a.elements, &self.b.elements, &mut self.c.elements);
        match self.method {
            Method::Quadrants => {
                c.fill(0.0);
                F::Platform::write(c);
                multiply(fork, self.a.block, a, b, c);
            }
            Method::Strassen => strassen::multiply(fork, self.a.block, a, b, c),
        }
    }

    fn sequential<P: Platform>(&mut self) {
        self.run(&Serial::<P>::default());
    }

    fn verify(&self) -> Result<(), Wrong> {
        let expected = matrix::product(&self.a.rows(), &self.b.rows());
        let found = self.c.rows();
        Wrong::unless_all_equal("element", &found.concat(), &expected.concat())
    }
}

/// Adds the product of `a` and `b` to `c`.
fn multiply<F: Fork>(fork: &F, block: usize, a: &[f32], b: &[f32], c: &mut [f32]) {
    if c.len() <= block * block {
        return multiply_block::<F::Platform>(block, a, b, c);
    }
    let ([a11, a12, a21, a22], [b11, b12, b21, b22]) = (quarters(a), quarters(b));
    let [c11, c12, c21, c22] = quarters_mut(c);
    let add = |c: &mut [f32], a, b| multiply(fork, block, a, b, c);
    join_four(
        fork,
        || add(c11, a11, b11),
        || add(c12, a11, b12),
        || add(c21, a21, b11),
        || add(c22, a21, b12),
    );
    join_four(
        fork,
        || add(c11, a12, b21),
        || add(c12, a12, b22),
        || add(c21, a22, b21),
        || add(c22, a22, b22),
    );
}

fn join_four<F: Fork, R: Send>(
    fork: &F,
    a: impl FnOnce() -> R + Send,
    b: impl FnOnce() -> R + Send,
    c: impl FnOnce() -> R + Send,
    d: impl FnOnce() -> R + Send,
) -> [R; 4] {
    let ((a, b), (c, d)) = fork.join(|| fork.join(a, b), || fork.join(c, d));
    [a, b, c, d]
}

fn multiply_block<P: Platform>(side: usize, a: &[f32], b: &[f32], c: &mut [f32]) {
    for (a, c) in a.chunks_exact(side).zip(c.chunks_exact_mut(side)) {
        for (a, b) in a.iter().zip(b.chunks_exact(side)) {
            for (b, c) in b.iter().zip(&mut *c) {
                *c += a * b;
            }
        }
    }
    P::read(a);
    P::read(b);
    P::write(c);
    P::compute((ROW + EIGHT_PRODUCTS * side.div_ceil(8) as u64) * (side * side) as u64);
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::*;
    use manycore_platform::Native;

    #[test]
    fn every_schedule_multiplies_exactly() {
        for method in [Method::Quadrants, Method::Strassen] {
            for (levels, block) in [(0, 0), (0, 1), (0, 5), (1, 1), (1, 3), (3, 1), (3, 8)] {
                check(&mut MatMul::new(method, levels, block, u64::from(levels)));
            }
        }
    }

    #[test]
    fn one_wrong_element_is_caught() {
        let mut kernel = MatMul::new(Method::Strassen, 2, 4, 1);
        kernel.sequential::<Native>();
        kernel.c.elements[255] += 1.0;
        assert!(kernel.verify().is_err());
    }
}
