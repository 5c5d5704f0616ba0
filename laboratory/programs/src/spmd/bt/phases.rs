//! The phases of a time step.

use super::grid::Grid;
use super::lanes::LANES;
use super::reference::reference;
use crate::spmd::{Class, Cost, Declaration, Phase, Preparation};

/// Floating-point operations of the right side at a point.
pub(super) const RIGHT_SIDE: usize = 604;
/// Floating-point operations of the implicit equations at a point, in one direction.
pub(super) const SOLUTION: usize = 751;
/// The quantities of a point.
const STATE: usize = 5;
/// Instructions to make a point's state and forcing, from the difference between classes S and W under callgrind, on
/// optimised x86-64.
const MAKE: f64 = 1_668.0;
/// Numbers in a point's row of the implicit equations after elimination: a block and a vector.
const ROW: usize = 30;

/// The phases that [`Bt`](super::Bt) runs in a time step.
///
/// An item is a line through the cube. A grain is the set of lines that are solved together. It takes about 2 us in
/// class S, 20 us in A, and 50 us in C.
///
/// # How costs are counted
///
/// *Instructions*: each floating-point operation counts as one, as in code without vectors. A test counts the
/// operations of the equations. Each load or store of a number of the fields, or of a row of the implicit equations,
/// counts as one. A row is written once and read twice. *Bytes*: a read transfers a number once. A write transfers it
/// twice, whether or not the number is also read. Caches hold the few planes for the right side, and the lines of a
/// grain.
///
/// ```
/// use manycore_programs::spmd::{BtPhases, Class, Declaration};
///
/// let bt = BtPhases::of(Class::C);
/// assert_eq!((bt.step().len(), bt.steps()), (3, 200));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct BtPhases {
    grid: Grid,
    steps: usize,
}

impl BtPhases {
    /// The phases of a class.
    #[must_use]
    pub fn of(class: Class) -> Self {
        let reference = reference(class);
        Self {
            grid: Grid::new(reference.points),
            steps: reference.steps,
        }
    }

    /// The phase for the right side of the equations, and the first direction.
    pub(super) fn first(&self) -> Phase {
        // The loads are five neighbours in each direction, the forcing, and two more reads of a state by the solver.
        let loads = 3 * 5 * STATE + STATE + 2 * STATE;
        let operations = RIGHT_SIDE + SOLUTION;
        // The field and the forcing are read, the change is written.
        self.lines("bt right side, x", operations + loads + 2 * STATE, 4)
    }

    /// The phase for the second direction.
    pub(super) fn second(&self) -> Phase {
        // The field is read, the change is read and written.
        self.lines("bt y", SOLUTION + 3 * STATE, 3)
    }

    /// The phase for the third direction, and for the addition of the change to the field.
    pub(super) fn third(&self) -> Phase {
        // The change is read, the field is read twice and written.
        self.lines("bt z, sum", SOLUTION + STATE + 4 * STATE, 3)
    }

    /// A phase with lines as items. Each point takes `instructions` and those for its row, and transfers `transfers`
    /// states.
    fn lines(&self, name: &'static str, instructions: usize, transfers: usize) -> Phase {
        let inner = self.grid.inner() as f64;
        Phase {
            name,
            items: self.grid.lines(),
            grain: LANES,
            cost: Cost {
                instructions: inner * (instructions + 3 * ROW) as f64,
                bytes: inner * (8 * STATE * transfers) as f64,
            },
        }
    }
}

impl Declaration for BtPhases {
    /// Makes the fields.
    fn preparation(&self) -> Preparation {
        let points = self.grid.inner() as f64 + 2.0;
        Preparation {
            file_bytes: 0.0,
            instructions: MAKE * points.powi(3),
        }
    }

    fn step(&self) -> Vec<Phase> {
        vec![self.first(), self.second(), self.third()]
    }

    fn steps(&self) -> usize {
        self.steps
    }
}
