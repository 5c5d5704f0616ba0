//! The implicit equations of a line.
//!
//! The step that a direction takes is implicit in it: with f and g the [`Weights`] times
//! the time step and D the difference that is looked for, at every inner point
//!
//! D + f (E' D)(next) - f (E' D)(last) - g ((V' D)(next) - 2 V' D + (V' D)(last)) = right side,
//!
//! a row of blocks below, on and above the diagonal, and D is zero at both ends.

use super::block::{Block, PATTERN, divide, minus_product, subtract_product};
use super::gas::{State, Weights, jacobians};
use super::lanes::Real;

/// A row after elimination: `D = right - above * D(next)`.
#[derive(Clone, Copy)]
pub(super) struct Row<T> {
    above: Block<T>,
    right: State<T>,
}

/// What a point contributes to the rows of its neighbours and its own.
#[derive(Clone, Copy)]
struct Column<T> {
    above: Block<T>,
    on: Block<T>,
    below: Block<T>,
}

impl<T: Real> Column<T> {
    #[inline(always)]
    fn of(state: &State<T>, weights: &Weights) -> Self {
        let (carried, spread) = jacobians(state, weights);
        let mut column = Self {
            above: carried,
            on: spread,
            below: carried,
        };
        for row in 0..5 {
            for &k in PATTERN[row] {
                column.above[row][k] = carried[row][k] - spread[row][k];
                column.below[row][k] = -(carried[row][k] + spread[row][k]);
                column.on[row][k] = spread[row][k] + spread[row][k];
            }
            column.on[row][row] = column.on[row][row] + T::of(1.0);
        }
        column
    }
}

/// Solves a line of `inner` points, numbered from 1; `found` is called from the last to
/// the first. `weights` are multiplied by the time step. `rows` is memory to work in.
#[inline(always)]
pub(super) fn solve<T: Real>(
    inner: usize,
    weights: &Weights,
    state: impl Fn(usize) -> State<T>,
    mut right: impl FnMut(usize) -> State<T>,
    mut found: impl FnMut(usize, &State<T>),
    rows: &mut Vec<Row<T>>,
) {
    rows.clear();
    let column = |point| Column::of(&state(point), weights);
    // The last three points take turns.
    let mut columns = [column(1); 3];
    for point in 1..=inner {
        columns[(point + 1) % 3] = column(point + 1);
        let mut on = columns[point % 3].on;
        rows.push(Row {
            above: columns[(point + 1) % 3].above,
            right: right(point),
        });
        if let [.., last, row] = &mut rows[..] {
            subtract_product(
                (&mut on, &mut row.right),
                &columns[(point + 2) % 3].below,
                (&last.above, &last.right),
            );
        }
        let row = rows.last_mut().expect("just pushed");
        divide(&mut on, &mut row.above, &mut row.right);
    }
    let mut next = [T::of(0.0); 5];
    for (index, row) in rows.iter().enumerate().rev() {
        next = minus_product(&row.right, &row.above, &next);
        found(index + 1, &next);
    }
}
