//! The layout of a point's quantities in memory, and lines through the grid.

use super::gas::{State, Weights};
use super::lanes::{LANES, Lanes};
use std::ops::Range;

/// Numbers of a cache line.
const LINE: usize = 8;

/// A cube of points. Neighbours in memory differ in the first coordinate: a row of one quantity,
/// then of the next; rows make a plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Grid {
    /// On an edge.
    pub(super) points: usize,
    /// From one row to the next, and from one plane to the next: odd numbers of cache
    /// lines, so that a line across rows or planes does not fall into a few sets of a
    /// cache.
    row: usize,
    plane: usize,
}

/// A direction of the three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Direction {
    axis: usize,
    /// The quantities, that momentum first which is along.
    pub(super) order: [usize; 5],
}

pub(super) const DIRECTIONS: [Direction; 3] = [
    Direction {
        axis: 0,
        order: [0, 1, 2, 3, 4],
    },
    Direction {
        axis: 1,
        order: [0, 2, 1, 3, 4],
    },
    Direction {
        axis: 2,
        order: [0, 3, 2, 1, 4],
    },
];

impl Direction {
    /// Diffusion along it.
    fn diffusion(self) -> f64 {
        [0.75, 0.75, 1.0][self.axis]
    }
}

impl Grid {
    pub(super) fn new(points: usize) -> Self {
        let odd_lines = |numbers: usize| (numbers.div_ceil(LINE) | 1) * LINE;
        let row = odd_lines(5 * points);
        Self {
            points,
            row,
            plane: odd_lines(row * points),
        }
    }

    /// Numbers of a field.
    pub(super) fn len(&self) -> usize {
        self.plane * self.points
    }

    /// Points of a line without its ends.
    #[inline]
    pub(super) fn inner(&self) -> usize {
        self.points - 2
    }

    /// Lines of a direction that are not on a face.
    pub(super) fn lines(&self) -> usize {
        self.inner() * self.inner()
    }

    /// From one point to the next.
    #[inline]
    pub(super) fn stride(&self, direction: Direction) -> usize {
        [1, self.row, self.plane][direction.axis]
    }

    /// From one quantity of a point to the next.
    #[inline]
    pub(super) fn quantity(&self) -> usize {
        self.points
    }

    /// The first quantity of a point.
    #[inline]
    pub(super) fn at(&self, [x, y, z]: [usize; 3]) -> usize {
        z * self.plane + y * self.row + x
    }

    /// The coordinates of a point in the unit cube.
    pub(super) fn coordinates(&self, point: [usize; 3]) -> [f64; 3] {
        point.map(|index| index as f64 / (self.points - 1) as f64)
    }

    /// A field that has these values.
    pub(super) fn filled(&self, value: impl Fn([f64; 3]) -> [f64; 5]) -> Vec<f64> {
        let mut field = vec![0.0; self.len()];
        for z in 0..self.points {
            for y in 0..self.points {
                for x in 0..self.points {
                    let values = value(self.coordinates([x, y, z]));
                    for (quantity, value) in values.into_iter().enumerate() {
                        field[self.at([x, y, z]) + quantity * self.quantity()] = value;
                    }
                }
            }
        }
        field
    }

    /// All quantities of a row, from its first point's first on.
    pub(super) fn row(&self, first: usize) -> Range<usize> {
        first..first + 5 * self.points
    }

    /// The point that a line of a direction begins with: neighbouring lines have
    /// neighbouring numbers.
    pub(super) fn line(&self, direction: Direction, number: usize) -> [usize; 3] {
        let slow = number / self.inner() + 1;
        let fast = number % self.inner() + 1;
        match direction.axis {
            0 => [0, fast, slow],
            1 => [fast, 0, slow],
            _ => [fast, slow, 0],
        }
    }

    /// The lines that are solved side by side from this one on.
    pub(super) fn bundle(&self, direction: Direction, first: usize) -> Bundle {
        Bundle {
            starts: std::array::from_fn(|lane| self.at(self.line(direction, first + lane))),
            stride: self.stride(direction),
            quantity: self.quantity(),
            direction,
        }
    }

    /// The factors of differences along a direction.
    pub(super) fn weights(&self, direction: Direction) -> Weights {
        let intervals = (self.points - 1) as f64;
        Weights {
            first: 0.5 * intervals,
            second: intervals * intervals,
            diffusion: direction.diffusion(),
        }
    }
}

/// Lines side by side.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bundle {
    starts: [usize; LANES],
    stride: usize,
    quantity: usize,
    direction: Direction,
}

impl Bundle {
    /// The states at a point of each line, from the quantities that `get` returns, turned into the
    /// direction.
    #[inline(always)]
    pub(super) fn states(&self, point: usize, get: impl Fn(usize) -> f64) -> State<Lanes> {
        let mut states = [Lanes([0.0; LANES]); 5];
        for (states, quantity) in states.iter_mut().zip(self.direction.order) {
            let offset = point * self.stride + quantity * self.quantity;
            for (state, start) in states.0.iter_mut().zip(self.starts) {
                *state = get(start + offset);
            }
        }
        states
    }

    /// The other way round.
    #[inline(always)]
    pub(super) fn store(
        &self,
        point: usize,
        states: &State<Lanes>,
        mut set: impl FnMut(usize, f64),
    ) {
        for (state, quantity) in states.iter().zip(self.direction.order) {
            let offset = point * self.stride + quantity * self.quantity;
            for (start, value) in self.starts.iter().zip(state.0) {
                set(start + offset, value);
            }
        }
    }

    /// All quantities of some points, as runs of neighbours in memory.
    pub(super) fn runs(&self, points: Range<usize>, mut visit: impl FnMut(Range<usize>)) {
        for point in points {
            for quantity in 0..5 {
                let offset = point * self.stride + quantity * self.quantity;
                for run in self.starts.chunk_by(|one, next| one + 1 == *next) {
                    visit(run[0] + offset..run[0] + run.len() + offset);
                }
            }
        }
    }
}
