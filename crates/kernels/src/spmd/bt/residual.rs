//! The right side of the equations: what changes a point by the flow, and what the
//! benchmark adds so that no wiggles grow.

use super::gas::{Motion, State, Weights, flux, spread};
use super::grid::{DIRECTIONS, Direction, Grid};
use super::lanes::{LANES, Lanes, Real};
use std::ops::Range;

/// Fourth differences are damped by so much: a quarter of the largest diffusion.
const DAMPING: f64 = 0.25;

/// The fourth difference at a point of a line, as factors of five neighbours, without
/// what lies on the line's ends or beyond; `point` counts from 0 to `points - 1`.
pub(super) fn damping(point: usize, points: usize) -> [f64; 5] {
    let difference = match (point, points - 1 - point) {
        (1, _) => [0.0, 0.0, 5.0, -4.0, 1.0],
        (2, _) => [0.0, -4.0, 6.0, -4.0, 1.0],
        (_, 1) => [1.0, -4.0, 5.0, 0.0, 0.0],
        (_, 2) => [1.0, -4.0, 6.0, -4.0, 0.0],
        _ => [1.0, -4.0, 6.0, -4.0, 1.0],
    };
    difference.map(|factor| -DAMPING * factor)
}

/// What one direction adds, from the states of five neighbours in line.
#[inline(always)]
pub(super) fn along<T: Real>(
    states: &[State<T>; 5],
    weights: &Weights,
    damping: &[T; 5],
) -> State<T> {
    let [_, last, point, next, _] = states;
    let motions = [last, point, next].map(Motion::of);
    let into = flux(last, &motions[0]);
    let out = flux(next, &motions[2]);
    let before = spread(last, &motions[0], weights.diffusion);
    let here = spread(point, &motions[1], weights.diffusion);
    let after = spread(next, &motions[2], weights.diffusion);
    let mut sums = [T::of(0.0); 5];
    for (c, sum) in sums.iter_mut().enumerate() {
        *sum = (into[c] - out[c]) * weights.first
            + (before[c] - here[c] - here[c] + after[c]) * weights.second;
        for (state, &factor) in states.iter().zip(damping) {
            *sum = *sum + state[c] * factor;
        }
    }
    sums
}

/// Computes right sides on a grid, row by row.
#[derive(Clone, Debug)]
pub(super) struct Residual {
    grid: Grid,
    weights: [Weights; 3],
    /// Where groups of neighbours in a row begin, and the damping along the row. The
    /// last group may overlap with the one before.
    groups: Vec<(usize, [Lanes; 5])>,
}

impl Residual {
    pub(super) fn new(grid: Grid) -> Self {
        let last = grid.points - 1 - LANES;
        let groups = (1..=grid.inner()).step_by(LANES).map(|first| {
            let first = first.min(last);
            let lanes: [_; LANES] = std::array::from_fn(|lane| damping(first + lane, grid.points));
            let factors = std::array::from_fn(|i| Lanes(lanes.map(|factors| factors[i])));
            (first, factors)
        });
        Self {
            grid,
            weights: DIRECTIONS.map(|direction| grid.weights(direction)),
            groups: groups.collect(),
        }
    }

    /// The rows that [`row`](Self::row) reads: those within two of it, in its plane and in
    /// the planes before and after. As ranges of the field.
    pub(super) fn reads(&self, [_, y, z]: [usize; 3], mut visit: impl FnMut(Range<usize>)) {
        let near = |point: usize| point.saturating_sub(2)..(point + 3).min(self.grid.points);
        for z in near(z).filter(|other| *other != z) {
            visit(self.grid.row(self.grid.at([0, y, z])));
        }
        for y in near(y) {
            visit(self.grid.row(self.grid.at([0, y, z])));
        }
    }

    /// The right side, without forcing, at all inner points of a row that is not on a face: `found` is
    /// called with the first of several neighbours.
    #[inline(always)]
    pub(super) fn row(
        &self,
        field: &[f64],
        [_, y, z]: [usize; 3],
        mut found: impl FnMut(usize, State<Lanes>),
    ) {
        let Self { grid, weights, .. } = self;
        let across = [y, z].map(|point| damping(point, grid.points).map(Lanes::of));
        for (x, factors) in &self.groups {
            let point = [*x, y, z];
            let mut sum = [Lanes::of(0.0); 5];
            for (axis, direction) in DIRECTIONS.into_iter().enumerate() {
                let states = neighbours(grid, field, point, axis, direction);
                let factors = if axis == 0 {
                    factors
                } else {
                    &across[axis - 1]
                };
                let added = direction.turn(&along(&states, &weights[axis], factors));
                for (sum, added) in sum.iter_mut().zip(added) {
                    *sum = *sum + added;
                }
            }
            found(*x, sum);
        }
    }
}

/// The states of a group of points and of their neighbours up to two away. Beyond the
/// end of a line is any number, which is not damped by.
#[inline(always)]
fn neighbours(
    grid: &Grid,
    field: &[f64],
    point: [usize; 3],
    axis: usize,
    direction: Direction,
) -> [State<Lanes>; 5] {
    let here = grid.at(point);
    let mut states = [[Lanes::of(0.0); 5]; 5];
    for (i, state) in states.iter_mut().enumerate() {
        let there = if axis == 0 {
            // In memory before and after a row that is not on a face there are others.
            here + i - 2
        } else {
            let moved = (point[axis] + i).clamp(2, grid.points + 1) - 2;
            here + moved * grid.stride(direction) - point[axis] * grid.stride(direction)
        };
        for (quantity, value) in direction.turn(&[0, 1, 2, 3, 4]).iter().zip(state) {
            *value = Lanes::load(&field[there + quantity * grid.quantity()..]);
        }
    }
    states
}
