//! The right side of the equations: the change of the field by the flow, and damping that keeps oscillations from
//! growing.

use super::gas::{GasMotion, State, Weights, flux, spread};
use super::grid::{DIRECTIONS, Grid};
use super::lanes::{LANES, Lanes, Real};
use std::ops::Range;

/// The factor of the damping of fourth differences: a quarter of the largest diffusion.
const DAMPING: f64 = 0.25;

/// The damping at a point of a line, as factors of five neighbours. Points on the line's ends or
/// beyond have the factor zero. `point` is from 0 to `points - 1`.
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

/// The contribution of one direction, from the states of five neighbours on a line.
#[inline(always)]
pub(super) fn along<T: Real>(
    states: &[State<T>; 5],
    weights: &Weights,
    damping: &[T; 5],
) -> State<T> {
    let [_, last, point, next, _] = states;
    let motions = [
        GasMotion::of(last),
        GasMotion::of(point),
        GasMotion::of(next),
    ];
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
    /// The first point of each group of `LANES` points in a row, and the group's damping along the row. The last group
    /// can overlap the group before.
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

    /// Visits the rows that [`row`](Self::row) reads, as ranges of the field. These are the rows at a distance of up to
    /// 2 in y or z.
    pub(super) fn reads(&self, [_, y, z]: [usize; 3], mut visit: impl FnMut(Range<usize>)) {
        let near = |point: usize| point.saturating_sub(2)..(point + 3).min(self.grid.points);
        for z in near(z).filter(|other| *other != z) {
            visit(self.grid.row(self.grid.at([0, y, z])));
        }
        for y in near(y) {
            visit(self.grid.row(self.grid.at([0, y, z])));
        }
    }

    /// Computes the right side, without forcing, at the inner points of a row that is not on a
    /// face. Calls `found` with the first point of each group and the group's values.
    pub(super) fn row(
        &self,
        field: &[f64],
        [_, y, z]: [usize; 3],
        mut found: impl FnMut(usize, &State<Lanes>),
    ) {
        let across = [y, z].map(|point| damping(point, self.grid.points).map(Lanes::of));
        let starts: [_; 3] = std::array::from_fn(|axis| self.neighbours([0, y, z], axis));
        for (x, along) in &self.groups {
            let mut sums = [Lanes::of(0.0); 5];
            let [xs, ys, zs] = starts.map(|starts| starts.map(|start| start + x));
            self.add::<0>(&mut sums, field, &xs, along);
            self.add::<1>(&mut sums, field, &ys, &across[0]);
            self.add::<2>(&mut sums, field, &zs, &across[1]);
            found(*x, &sums);
        }
    }

    /// Adds the contribution of one direction. `neighbours` are the places of five neighbours, plus
    /// two.
    ///
    /// The function is not inlined. With three copies in each caller, compilation took most of a minute.
    #[inline(never)]
    fn add<const AXIS: usize>(
        &self,
        sums: &mut State<Lanes>,
        field: &[f64],
        neighbours: &[usize; 5],
        damping: &[Lanes; 5],
    ) {
        let order = DIRECTIONS[AXIS].order;
        let quantity = self.grid.quantity();
        let states = neighbours.map(|start| {
            // A row that is not on a face has other rows before and after it in memory. Values
            // beyond the row's end have a damping of zero.
            let near = &field[start - 2..start - 2 + 4 * quantity + LANES];
            // SAFETY: the last of the five quantities ends where `near` does.
            order.map(|index| unsafe { Lanes::load_unchecked(near, index * quantity) })
        });
        let added = along(&states, &self.weights[AXIS], damping);
        for (added, index) in added.into_iter().zip(order) {
            sums[index] = sums[index] + added;
        }
    }

    /// The places of the neighbours of a row's points along an axis, plus two so that none is negative. The places of
    /// neighbours beyond the end of a line are arbitrary.
    fn neighbours(&self, row: [usize; 3], axis: usize) -> [usize; 5] {
        std::array::from_fn(|i| {
            if axis == 0 {
                return self.grid.at(row) + i;
            }
            let mut other = row;
            other[axis] = (row[axis] + i).clamp(2, self.grid.points + 1) - 2;
            self.grid.at(other) + 2
        })
    }
}
