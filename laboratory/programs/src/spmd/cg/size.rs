//! The size of each class.

use crate::spmd::Class;

/// The size of a class and its expected result.
#[derive(Clone, Copy, Debug)]
pub(super) struct CgSize {
    /// Rows and columns.
    pub(super) rows: usize,
    /// Nonzero elements of each random vector. The matrix is made of these vectors.
    pub(super) nonzeros: usize,
    /// Iterations of the power method.
    pub(super) iterations: usize,
    /// The shift of the diagonal.
    pub(super) shift: f64,
    /// The expected zeta of the last iteration.
    pub(super) zeta: f64,
    /// Nonzero elements of the matrix, counted in the matrix that the random numbers give.
    pub(super) entries: usize,
}

impl CgSize {
    /// The constants of RNR-94-007, and NPB's zetas.
    pub(super) fn of(class: Class) -> Self {
        let (rows, nonzeros, iterations, shift, zeta, entries) = match class {
            Class::S => (1_400, 7, 15, 10.0, 8.597_177_507_864_8, 78_148),
            Class::W => (7_000, 8, 15, 12.0, 10.362_595_087_124, 508_402),
            Class::A => (14_000, 11, 15, 20.0, 17.130_235_054_029, 1_853_104),
            Class::B => (75_000, 13, 75, 60.0, 22.712_745_482_631, 13_708_072),
            Class::C => (150_000, 15, 75, 110.0, 28.973_605_592_845, 36_121_058),
        };
        Self {
            rows,
            nonzeros,
            iterations,
            shift,
            zeta,
            entries,
        }
    }
}
