//! Conway's game of life. The cells of a generation are computed in parallel, and the generations one after the other.

use super::{Fork, Kernel, SlicePart, Wrong};
use manycore_platform::Platform;

/// Instructions for each cell.
const CELL: u64 = 126;

/// Offsets of the neighbours: rows down, columns to the right.
const NEIGHBOURS: [(isize, isize); 8] = [
    (-1, -1),
    (-1, 0),
    (-1, 1),
    (0, -1),
    (0, 1),
    (1, -1),
    (1, 0),
    (1, 1),
];

/// A square board of cells. All cells outside are dead.
///
/// ```
/// use manycore_programs::fork::{Kernel, Life, Serial};
/// use manycore_platform::Native;
///
/// let mut kernel = Life::new(20, 10, 42);
/// kernel.run(&Serial::<Native>::default());
/// kernel.verify().unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct Life {
    first: Board,
    now: Board,
    next: Board,
    generations: usize,
}

#[derive(Clone, Debug, PartialEq)]
struct Board {
    side: usize,
    cells: Vec<bool>,
}

impl Life {
    /// A board of `side` times `side` cells, to run for `generations`. The `seed` decides which cells are alive, each
    /// with probability 1/2.
    ///
    /// ```
    /// use manycore_programs::fork::{Kernel, Life};
    /// assert!(Life::new(20, 10, 1).verify().is_err()); // not yet lived
    /// ```
    #[must_use]
    pub fn new(side: usize, generations: usize, seed: u64) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        let cells = (0..side * side).map(|_| random.bool()).collect();
        Self::with(Board { side, cells }, generations)
    }

    fn with(first: Board, generations: usize) -> Self {
        Self {
            now: first.clone(),
            next: first.clone(),
            first,
            generations,
        }
    }
}

impl Kernel for Life {
    fn reset(&mut self) {
        self.now.cells.copy_from_slice(&self.first.cells);
    }

    fn run<F: Fork>(&mut self, fork: &F) {
        for _ in 0..self.generations {
            let part = SlicePart::new(&mut self.next.cells, 1);
            let leaf = |part: SlicePart<bool>| self.now.live::<F::Platform>(part);
            fork.reduce(part, &leaf, &|(), ()| ());
            std::mem::swap(&mut self.now, &mut self.next);
        }
    }

    fn sequential<P: Platform>(&mut self) {
        for _ in 0..self.generations {
            self.now.live::<P>(SlicePart::new(&mut self.next.cells, 1));
            std::mem::swap(&mut self.now, &mut self.next);
        }
    }

    fn verify(&self) -> Result<(), Wrong> {
        let mut board = self.first.clone();
        for _ in 0..self.generations {
            board = board.after_counting();
        }
        Wrong::unless_all_equal("cell", &self.now.cells, &board.cells)
    }
}

impl Board {
    /// Fills a part of the next generation.
    fn live<P: Platform>(&self, part: SlicePart<bool>) {
        let end = part.first + part.items.len();
        // The part reads its own rows, the row before and the row behind.
        let above = part.first.saturating_sub(self.side + 1);
        P::read(&self.cells[above..(end + self.side + 1).min(self.cells.len())]);
        P::compute(CELL * part.items.len() as u64);
        for (cell, index) in part.items.iter_mut().zip(part.first..) {
            *cell = self.lives_on(index);
        }
        P::write(part.items);
    }

    fn lives_on(&self, index: usize) -> bool {
        let (row, column) = (index / self.side, index % self.side);
        let is_alive = |&(down, right): &(isize, isize)| {
            // Before the first row or column the index wraps, so it is also beyond the last one.
            let (y, x) = (
                row.wrapping_add_signed(down),
                column.wrapping_add_signed(right),
            );
            y < self.side && x < self.side && self.cells[y * self.side + x]
        };
        match NEIGHBOURS.iter().filter(|way| is_alive(way)).count() {
            2 => self.cells[index],
            3 => true,
            _ => false,
        }
    }

    /// The next generation by another method: each living cell adds one to its neighbours' counts, on a
    /// board with a margin.
    fn after_counting(&self) -> Self {
        let width = self.side + 2;
        let mut counts = vec![0; width * width];
        let place = |index: usize| (index / self.side + 1) * width + index % self.side + 1;
        for (index, _) in self.cells.iter().enumerate().filter(|(_, alive)| **alive) {
            let at = place(index);
            for row in [at - width, at, at + width] {
                (row - 1..=row + 1).for_each(|at| counts[at] += 1);
            }
            counts[at] -= 1;
        }
        let lives_on = |(index, &alive)| match counts[place(index)] {
            2 => alive,
            3 => true,
            _ => false,
        };
        Self {
            side: self.side,
            cells: self.cells.iter().enumerate().map(lives_on).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::*;
    use manycore_platform::Native;

    #[test]
    fn every_schedule_lives_the_same() {
        for side in [0, 1, 2, 3, 17, 64] {
            for generations in [0, 1, 10] {
                check(&mut Life::new(side, generations, side as u64));
            }
        }
    }

    #[test]
    fn a_glider_glides_one_place_down_and_right_in_four_generations() {
        let glider = |by: usize| {
            let mut cells = vec![false; 100];
            for (row, column) in [(0, 1), (1, 2), (2, 0), (2, 1), (2, 2)] {
                cells[(row + by) * 10 + column + by] = true;
            }
            Board { side: 10, cells }
        };
        let mut kernel = Life::with(glider(1), 4);
        check(&mut kernel);
        assert_eq!(kernel.now, glider(2));
    }

    #[test]
    fn one_wrong_cell_is_caught() {
        let mut kernel = Life::new(20, 5, 1);
        kernel.sequential::<Native>();
        kernel.now.cells[399] ^= true;
        let wrong = Wrong::Element {
            what: "cell",
            index: 399,
        };
        assert_eq!(kernel.verify(), Err(wrong));
    }
}
