//! The phases of a time step.

use super::grid::Grid;
use super::lanes::LANES;
use super::reference::reference;
use crate::spmd::{Class, Cost, Declaration, Phase};

/// Operations on one point, counted by running the equations on numbers that count (the
/// tests do): an addition, subtraction, multiplication, negation or division each.
pub(super) const RIGHT_SIDE: usize = 0;
/// Of a point in the solution of a line.
pub(super) const ELIMINATION: usize = 0;

/// The phases of a step on a grid: the right side and the first direction, the second
/// direction, the third and the sum.
pub(super) fn phases(grid: &Grid) -> [Phase; 3] {
    let phase = |name, operations: usize, moved: usize, bytes: usize| Phase {
        name,
        items: grid.lines(),
        grain: LANES,
        cost: Cost {
            instructions: (grid.inner() * (operations + moved)) as f64,
            bytes: (grid.inner() * bytes) as f64,
        },
    };
    [
        phase("bt right side, x", 0, 0, 0),
        phase("bt y", 0, 0, 0),
        phase("bt z, sum", 0, 0, 0),
    ]
}
