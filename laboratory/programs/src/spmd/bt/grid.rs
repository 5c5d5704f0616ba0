//! The layout of a point's quantities in memory, and lines through the grid.

use super::gas::{State, Weights};
use super::lanes::{LANES, Lanes};
use std::ops::Range;

/// The numbers in a cache line.
const LINE: usize = 8;

/// A cube of points. In memory, neighbours differ in x. A row holds the first quantity of all its
/// points, then the second, and so on. A plane holds rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Grid {
    /// The number of points on an edge.
    pub(super) points: usize,
    /// Strides of rows and planes. Both are odd numbers of cache lines, so that a line across rows
    /// or planes uses all sets of a cache.
    row: usize,
    plane: usize,
}

/// A direction in the grid, along one of its three axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Direction {
    axis: usize,
    /// The order of the quantities. Among the momenta, the momentum along this direction comes first.
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
    /// Diffusion along the direction.
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

    /// The length of a field's memory.
    pub(super) fn len(&self) -> usize {
        self.plane * self.points
    }

    /// The number of points of a line without its ends.
    #[inline]
    pub(super) fn inner(&self) -> usize {
        self.points - 2
    }

    /// The number of lines of a direction that are not on a face.
    pub(super) fn lines(&self) -> usize {
        self.inner() * self.inner()
    }

    /// The stride from one point to the next.
    #[inline]
    pub(super) fn stride(&self, direction: Direction) -> usize {
        [1, self.row, self.plane][direction.axis]
    }

    /// The stride from one quantity of a point to the next.
    #[inline]
    pub(super) fn quantity(&self) -> usize {
        self.points
    }

    /// The place of a point's first quantity.
    #[inline]
    pub(super) fn at(&self, [x, y, z]: [usize; 3]) -> usize {
        z * self.plane + y * self.row + x
    }

    /// The coordinates of a point in the unit cube.
    pub(super) fn coordinates(&self, point: [usize; 3]) -> [f64; 3] {
        point.map(|index| index as f64 / (self.points - 1) as f64)
    }

    /// A field with `value` at each point.
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

    /// The places of all quantities of the row whose first number is at `first`.
    pub(super) fn row(&self, first: usize) -> Range<usize> {
        first..first + 5 * self.points
    }

    /// The first point of a line. Neighbouring lines have consecutive numbers.
    pub(super) fn line(&self, direction: Direction, number: usize) -> [usize; 3] {
        let slow = number / self.inner() + 1;
        let fast = number % self.inner() + 1;
        match direction.axis {
            0 => [0, fast, slow],
            1 => [fast, 0, slow],
            _ => [fast, slow, 0],
        }
    }

    /// The `LANES` lines from `first`, which are solved together.
    pub(super) fn bundle(&self, direction: Direction, first: usize) -> Bundle {
        Bundle {
            starts: std::array::from_fn(|lane| self.at(self.line(direction, first + lane))),
            stride: self.stride(direction),
            quantity: self.quantity(),
            direction,
        }
    }

    /// The weights of differences along a direction.
    pub(super) fn weights(&self, direction: Direction) -> Weights {
        let intervals = (self.points - 1) as f64;
        Weights {
            first: 0.5 * intervals,
            second: intervals * intervals,
            diffusion: direction.diffusion(),
        }
    }
}

/// Lines that are solved together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bundle {
    starts: [usize; LANES],
    stride: usize,
    quantity: usize,
    direction: Direction,
}

impl Bundle {
    /// The state of each line at a point, with quantities in the order of the direction. `get` returns the number at a
    /// place.
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

    /// Calls `set` with the places and numbers of these states.
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

    /// Visits the places of all quantities of some points, as ranges of neighbours in memory.
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
