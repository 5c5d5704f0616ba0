//! The phases of CG, without the program's data.

use super::size::CgSize;
use crate::spmd::{Class, Cost, Declaration, Phase, Preparation};

/// Iterations of the conjugate gradient method.
pub(super) const INNER: usize = 25;

/// Instructions to make the matrix, for each pair of elements of a random vector, from the difference between classes S
/// and W under callgrind, on optimised x86-64.
const MAKE: f64 = 124.4;

/// The phases that [`Cg`](super::Cg) runs.
///
/// # How costs are counted
///
/// *Instructions*: each floating-point operation, and each load or store of a number or an index, counts as one. The
/// loop of each row adds 10. *Bytes*: a read transfers a number once. A write transfers it twice, whether or not the
/// number is also read. An element of the matrix has 12 bytes, and the start of a row has 4. We assume that a product
/// transfers its vector once, since caches that are too small for the matrix still hold the vector.
///
/// Class S has 169 million instructions. The x86-64 code executes 160 million by callgrind.
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

    /// Sets x to z, scaled to length 1, copies x to r and p, and sets z to 0. Sums x².
    pub(super) fn start(&self) -> Phase {
        self.elements("cg start", 1.0 + 4.0 + 3.0, 4.0 * 16.0)
    }

    /// q = A p. Sums p q.
    pub(super) fn product(&self) -> Phase {
        self.rows("cg product", 1.0 + 2.0 + 1.0, 16.0)
    }

    /// z += α p; r -= α q. Sums r².
    pub(super) fn advance(&self) -> Phase {
        self.elements("cg advance", 4.0 + 2.0 + 6.0, 2.0 * 16.0 + 2.0 * 8.0)
    }

    /// p = r + β p.
    pub(super) fn direction(&self) -> Phase {
        self.elements("cg direction", 2.0 + 1.0 + 2.0, 16.0 + 8.0)
    }

    /// Sums (x - A z)², x z and z².
    pub(super) fn residual(&self) -> Phase {
        self.rows("cg residual", 2.0 + 7.0, 8.0)
    }

    /// A phase with the elements of a vector as items. An item takes 1 to 2 ns, so a grain is a 64th of the items, at
    /// most 1,024.
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

    /// A phase with the rows of the matrix as items. The arguments are the costs of a row without those of its
    /// elements. An element takes 1 ns, so a grain has about 2,000 elements. It has more if there would be more than
    /// about 2,048 partial sums.
    fn rows(&self, name: &'static str, instructions: f64, bytes: f64) -> Phase {
        let CgSize { rows, entries, .. } = self.size;
        let in_a_row = entries as f64 / rows as f64;
        Phase {
            name,
            items: rows,
            grain: whole_lines((2_000 * rows / entries).max(rows / 2_048)),
            cost: Cost {
                // An element takes loads of its column, of its value and of the vector's value, a product and a sum.
                instructions: instructions + 5.0 * in_a_row + 10.0,
                bytes: bytes + 12.0 * in_a_row + 4.0 + 8.0,
            },
        }
    }
}

/// The nearest count of 8-byte numbers that fills whole 64-byte cache lines, at least one line.
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
