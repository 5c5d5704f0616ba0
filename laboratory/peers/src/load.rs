//! The work of a loop, in a form that can be sent between processes.

use crate::levels::Grid;
use crate::peer::Loops;
use crate::tasks::{self, Unit};
use serde::{Deserialize, Serialize};
use std::fmt;

/// One parallel loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Load {
    /// Calls a function that returns at once.
    Empty { n: usize },
    /// One inlined cycle for each index.
    Trivial { n: usize },
    /// About 5 ns for each index, inlined or called through the pointer.
    Tiny { n: usize, inlined: bool },
    /// Computes for `ns` nanoseconds for each index.
    Spin { n: usize, ns: u64 },
    /// The folded unit task with 1,024 computations.
    Unit { n: usize, read: usize, write: usize },
    /// Work that depends on the index.
    Irregular { n: usize, shape: Shape },
    /// Breadth-first search on a grid, with a short loop for each level.
    Levels { side: usize, steps: u32 },
}

manycore_programs::by_name! {
    /// The distribution of work over the indices of an irregular loop.
    pub enum Shape: "no shape is called", "there are" {
        /// Proportional to the index.
        Triangular = "triangular",
        /// Proportional to the distance from the end.
        Reversed = "reversed",
        /// Pareto with exponent 1.5, in random order, at most 64 times the mean.
        HeavyTailed = "heavy-tailed",
    }
}

impl Shape {
    /// Steps for each index. The mean falls with `n`, so that a loop of each used length lasts
    /// milliseconds.
    fn steps(self, n: usize) -> Vec<u32> {
        let mean = match n {
            0..10_000 => 800.0,
            10_000..300_000 => 40.0,
            _ => 8.0,
        };
        let mut random = fastrand::Rng::with_seed(1);
        let step = |i: usize, random: &mut fastrand::Rng| match self {
            Shape::Triangular => 2.0 * mean * i as f64 / n as f64,
            Shape::Reversed => 2.0 * mean * (n - 1 - i) as f64 / n as f64,
            Shape::HeavyTailed => {
                // The mean of this Pareto is three times its minimum.
                let draw = (mean / 3.0) * (1.0 - random.f64()).powf(-1.0 / 1.5);
                draw.min(64.0 * mean)
            }
        };
        (0..n)
            .map(|i| step(i, &mut random).round() as u32)
            .collect()
    }
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Load::Empty { n } => write!(f, "{n} empty"),
            Load::Trivial { n } => write!(f, "{n} trivial"),
            Load::Tiny { n, inlined: true } => write!(f, "{n} x 5 ns inlined"),
            Load::Tiny { n, inlined: false } => write!(f, "{n} x 5 ns called"),
            Load::Spin { n, ns } => write!(f, "{n} x {} us", ns as f64 / 1e3),
            Load::Unit { n: _, read, write } => write!(f, "read {read} write {write}"),
            Load::Irregular { n, shape } => write!(f, "{shape} {n}"),
            Load::Levels { side, steps } => write!(f, "{side} x {side} cells, {steps} steps"),
        }
    }
}

/// A load, and the memory that its task reads.
pub struct Prepared {
    load: Load,
    ticks: u64,
    steps: Vec<u32>,
    unit: Unit,
    grid: Grid,
}

impl Prepared {
    pub fn new(load: Load) -> Self {
        let (mut ticks, mut steps, mut unit) = (0, Vec::new(), Unit::new(1, 1, 0));
        let mut grid = Grid::new(1, 0);
        match load {
            Load::Spin { ns, .. } => ticks = (ns as f64 * tasks::ticks_per_ns()) as u64,
            Load::Irregular { n, shape } => steps = shape.steps(n),
            Load::Unit { read, write, .. } => unit = Unit::new(read, write, 1024),
            Load::Levels { side, steps } => grid = Grid::new(side, steps),
            Load::Empty { .. } | Load::Trivial { .. } | Load::Tiny { .. } => (),
        }
        Self {
            load,
            ticks,
            steps,
            unit,
            grid,
        }
    }

    pub fn load(&self) -> Load {
        self.load
    }

    /// Runs the loop once. Always inlined: a call would add 1.2 ns to every peer's shortest loop.
    #[inline(always)]
    pub fn run(&self, loops: &mut dyn Loops) {
        match self.load {
            Load::Empty { n } => loops.call(n, tasks::empty()),
            Load::Trivial { n } => loops.trivial(n),
            Load::Tiny { n, inlined: true } => loops.tiny(n),
            Load::Tiny { n, inlined: false } => loops.call(n, tasks::tiny()),
            Load::Spin { n, .. } => loops.call(n, tasks::spin(&self.ticks)),
            Load::Unit { n, .. } => loops.call(n, self.unit.task()),
            Load::Irregular { n, .. } => loops.call(n, tasks::steps(&self.steps)),
            Load::Levels { side, .. } => {
                let reached = self.grid.search(loops);
                assert_eq!(reached, (2 * side - 1, side * side), "levels and cells");
            }
        }
    }
}
