//! The program's phases, without its data.

use super::size::CgSize;
use crate::spmd::{Class, Cost, Declaration, Phase, Preparation};

/// Iterations of the conjugate gradient method.
pub(super) const INNER: usize = 25;

/// Instructions of making the matrix, for each pair of elements of a random vector with one more,
/// as callgrind counts them between classes S and W, built for x86-64 with optimisation.
const MAKE: f64 = 124.4;

/// The phases of [`Cg`](super::Cg), which takes them from here as well.
///
/// # How costs are counted
///
/// *Instructions*: each operation on a floating-point number, and each load or store of a number or
/// an index, is one; a row of a product takes 10 more for its loop. *Bytes*: a number that is read
/// comes once, a number that is written comes and goes, whether or not it is also read. An element
/// of the matrix has 12 bytes, and 4 more say where its row starts. The gathered vector is assumed
/// to come once: it fits into caches long after the matrix does not. The elements of the matrix
/// were counted.
///
/// In class S that makes 169 million instructions; the x86-64 code executes some 160
/// million, by callgrind.
///
/// ```
/// use manycore_programs::spmd::{CgPhases, Class, Declaration};
///
/// let cg = CgPhases::of(Class::C);
/// assert_eq!((cg.step().len(), cg.steps()), (76, 75));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct CgPhases {
    pub(super) size: CgSize,
}

impl CgPhases {
    /// The phases of a class.
    #[must_use]
    pub fn of(class: Class) -> Self {
        let size = CgSize::of(class);
        Self { size }
    }

    /// x is z, made 1 long; r and p are x; z is 0. The sum of x².
    pub(super) fn start(&self) -> Phase {
        self.elements("cg start", 1.0 + 4.0 + 3.0, 4.0 * 16.0)
    }

    /// q = A p. The sum of p q.
    pub(super) fn product(&self) -> Phase {
        self.rows("cg product", 1.0 + 2.0 + 1.0, 16.0)
    }

    /// z += α p; r -= α q. The sum of r².
    pub(super) fn advance(&self) -> Phase {
        self.elements("cg advance", 4.0 + 2.0 + 6.0, 2.0 * 16.0 + 2.0 * 8.0)
    }

    /// p = r + β p.
    pub(super) fn direction(&self) -> Phase {
        self.elements("cg direction", 2.0 + 1.0 + 2.0, 16.0 + 8.0)
    }

    /// The sums of (x - A z)², x z and z².
    pub(super) fn residual(&self) -> Phase {
        self.rows("cg residual", 2.0 + 7.0, 8.0)
    }

    /// The work for each element of the vectors. An element takes a nanosecond or two: a 64th of
    /// them a grain, up to 1,024.
    fn elements(&self, name: &'static str, instructions: f64, bytes: f64) -> Phase {
        Phase {
            name,
            items: self.size.rows,
            grain: whole_lines(self.size.rows / 64).min(1_024),
            cost: Cost {
                instructions,
                bytes,
            },
        }
    }

    /// The work for each row of the matrix; the arguments are for the rest of the row. An element
    /// takes a nanosecond: some 2,000 a grain, or more if there were more than 2,048 sums to be
    /// added up.
    fn rows(&self, name: &'static str, instructions: f64, bytes: f64) -> Phase {
        let CgSize { rows, entries, .. } = self.size;
        let in_a_row = entries as f64 / rows as f64;
        Phase {
            name,
            items: rows,
            grain: whole_lines((2_000 * rows / entries).max(rows / 2_048)),
            cost: Cost {
                // For an element: its column, its value, the vector's; times and plus.
                instructions: instructions + 5.0 * in_a_row + 10.0,
                bytes: bytes + 12.0 * in_a_row + 4.0 + 8.0,
            },
        }
    }
}

/// The nearest number that fills lines of 64 bytes with numbers of 8.
fn whole_lines(numbers: usize) -> usize {
    ((numbers + 4) / 8).max(1) * 8
}

impl Declaration for CgPhases {
    /// Makes the matrix.
    fn preparation(&self) -> Preparation {
        let pairs = self.size.rows as f64 * (self.size.nonzeros as f64 + 1.0).powi(2);
        Preparation {
            file_bytes: 0.0,
            instructions: MAKE * pairs,
        }
    }

    /// An iteration of the power method.
    fn step(&self) -> Vec<Phase> {
        let mut step = vec![self.start()];
        for inner in 1..=INNER {
            step.extend([self.product(), self.advance()]);
            if inner < INNER {
                step.push(self.direction());
            }
        }
        step.push(self.residual());
        step
    }

    fn steps(&self) -> usize {
        self.size.iterations
    }
}
