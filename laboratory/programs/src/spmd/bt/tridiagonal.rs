//! The implicit equations of a line.
//!
//! D is the unknown change of a point, f and g are the [`Weights`] times the time step, and E' and V' are the
//! derivatives of the fluxes. The equation at every inner point is
//!
//! D + f (E' D)(next) - f (E' D)(last) - g ((V' D)(next) - 2 V' D + (V' D)(last)) = right side,
//!
//! so a point gives a row of blocks below, on and above the diagonal. D is zero at both ends.

use super::block::{BtBlock, Extended, divide, minus_product, subtract_product};
use super::gas::{State, Weights, jacobians};
use super::lanes::Real;

/// The memory to solve a line. After elimination a point's entry gives
/// `D = right - above * D(next)`. The last column is `right`.
pub(super) struct Workspace<T>(Vec<Extended<T>>);

impl<T: Real> Workspace<T> {
    /// Memory for lines of `inner` inner points.
    pub(super) fn new(inner: usize) -> Self {
        Self(vec![[[T::of(0.0); 6]; 5]; inner])
    }
}

/// The blocks that a point contributes to its own row and to the next row.
#[derive(Clone, Copy)]
struct Column<T> {
    on: BtBlock<T>,
    below: BtBlock<T>,
}

impl<T: Real> Column<T> {
    /// Sets both blocks, and the point's block in the row before.
    #[inline(always)]
    fn set(&mut self, state: &State<T>, weights: &Weights, before: &mut Extended<T>) {
        let one = T::of(1.0);
        jacobians(state, weights, |row, column, carried, spread| {
            before[row][column] = carried - spread;
            self.below[row][column] = -(carried + spread);
            let twice = spread + spread;
            self.on[row][column] = if row == column { twice + one } else { twice };
        });
    }
}

/// Solves a line of as many points as the workspace has. Points are numbered from 1. `found` is called for each point,
/// from the last to the first. The caller has multiplied `weights` by the time step.
#[inline(always)]
pub(super) fn solve<T: Real>(
    Workspace(rows): &mut Workspace<T>,
    weights: &Weights,
    state: impl Fn(usize) -> State<T>,
    right: impl Fn(usize) -> State<T>,
    mut found: impl FnMut(usize, &State<T>),
) {
    let zero = T::of(0.0);
    let zeros = [[zero; 5]; 5];
    // The columns of three consecutive points, by number modulo 3.
    let mut columns = [Column {
        on: zeros,
        below: zeros,
    }; 3];
    columns[1].set(&state(1), weights, &mut [[zero; 6]; 5]);
    for point in 1..=rows.len() {
        let (before, rest) = rows.split_at_mut(point - 1);
        let row = &mut rest[0];
        *row = [[zero; 6]; 5];
        for (extended, right) in row.iter_mut().zip(right(point)) {
            extended[5] = right;
        }
        columns[(point + 1) % 3].set(&state(point + 1), weights, row);
        let mut on = columns[point % 3].on;
        if let Some(last) = before.last() {
            subtract_product(&mut on, row, &columns[(point + 2) % 3].below, last);
        }
        divide(&mut on, row);
    }
    let mut next = [zero; 5];
    for (index, row) in rows.iter().enumerate().rev() {
        next = minus_product(row, &next);
        found(index + 1, &next);
    }
}
