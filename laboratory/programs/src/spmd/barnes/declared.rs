//! The work of a run of Barnes, computed without the bodies.

use super::{BarnesInput, BarnesProblem};
use crate::spmd::{Cost, Declaration, Phase, Preparation};

/// The mean number of bodies of a zone.
const BODIES_A_ZONE: usize = 2;

/// The phases of Barnes for a number of bodies.
///
/// The interactions of a body were counted in the last of the four steps of runs of this program, see
/// [`wholes`](Self::wholes). The numbers depend on the depth of the tree and on the model, which has a dense core and a
/// few bodies far out. With few bodies, a doubling fills the halo and adds more interactions. With many bodies, each
/// factor of eight adds a level to the tree, and this level adds 61 cells around each body. So the counts are a table.
/// Beyond its end they grow as in the last two doublings of the table.
///
/// ```
/// use manycore_programs::spmd::Declaration;
/// use manycore_programs::spmd::barnes::{BarnesPhases, BarnesInput};
///
/// let native = BarnesPhases::of(BarnesInput::Native);
/// let names: Vec<&str> = native.step().iter().map(|phase| phase.name).collect();
/// assert_eq!(names, ["barnes root", "barnes load", "barnes moments", "barnes forces"]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BarnesPhases {
    problem: BarnesProblem,
}

/// The mean counts for one body.
#[derive(Clone, Copy, Debug)]
struct Counts {
    /// The cells and leaves that attract the body as a whole.
    wholes: f64,
    /// The other bodies that attract the body one by one.
    bodies: f64,
    /// The cells and leaves that the walk looks at.
    looks: f64,
    /// The cells on the body's way into the tree.
    levels: f64,
}

/// The number of bodies of the first row, which also stands for fewer bodies. Each row has twice as many bodies as the
/// row before. Counts are means of 20 seeds for up to 256 bodies, of five for up to 32,768, and of one for more.
const FIRST: f64 = 32.0;
const COUNTED: [[f64; 4]; 14] = [
    [3.7, 11.2, 9.6, 1.35],
    [6.0, 21.0, 15.7, 1.90],
    [13.5, 31.8, 28.4, 2.64],
    [26.2, 46.7, 47.5, 3.48],
    [44.8, 60.3, 72.7, 3.95],
    [75.9, 62.0, 109.7, 4.76],
    [118.1, 64.8, 157.7, 5.26],
    [167.3, 60.6, 213.7, 5.95],
    [212.6, 59.5, 264.1, 6.60],
    [269.4, 34.0, 325.4, 7.16],
    [306.5, 28.0, 363.6, 7.52],
    [343.2, 29.0, 402.4, 7.89],
    [363.5, 18.5, 422.3, 8.26],
    [384.1, 18.2, 445.0, 8.66],
];
/// The growth of the counts by each further doubling, which adds a third of a level.
const DOUBLING: [f64; 4] = [61.0 / 3.0, 0.0, 22.7, 1.0 / 3.0];

/// The number of cells, and of leaves, in the tree for each body.
const CELLS: f64 = 0.05;
const LEAVES: f64 = 0.31;

/// Instructions that callgrind counted in runs of 512, 2,048 and 8,192 bodies on optimised x86-64, split by the counts
/// above: for making the root, for inserting a body, for each cell on the body's way, for a body's share of all
/// moments.
const ROOT: f64 = 150.0;
const INSERT: f64 = 86.0;
const LEVEL: f64 = 40.0;
const MOMENTS: f64 = 289.0;
/// Instructions to look at a cell or leaf, to open it, to compute its pull as a whole, and to compute a body's pull.
const LOOK: f64 = 95.0;
const OPEN: f64 = 48.0;
const WHOLE: f64 = 82.0;
const BODY: f64 = 32.0;
/// Instructions to draw a body before the first step, from the difference between runs of 8,192 and 16,384 bodies under
/// callgrind.
const DRAW: f64 = 694.0;
/// Instructions to move a body, to find its zone, and for each level of the tree on the way to the
/// zone.
const MOVE: f64 = 181.0;
const FIND: f64 = 290.0;
const FIND_LEVEL: f64 = 250.0;

/// Bytes of a cell, of a leaf, of the moments of either, of a body's place, mass, number and cost, and of its motion.
const CELL: f64 = 64.0;
const LEAF: f64 = 48.0;
const OF_NODE: f64 = 104.0;
const POINT: f64 = 40.0;
const MOTION: f64 = 48.0;

impl BarnesPhases {
    /// The phases for a named size.
    #[must_use]
    pub fn of(input: BarnesInput) -> Self {
        Self::new(input.problem())
    }

    /// The phases for a problem.
    ///
    /// ```
    /// use manycore_programs::spmd::barnes::{BarnesPhases, BarnesProblem};
    ///
    /// let [few, many] = [1_000, 1_000_000].map(|bodies| BarnesProblem::new(bodies).map(BarnesPhases::new));
    /// assert!(5.0 * few?.wholes() < many?.wholes());
    /// # Ok::<(), manycore_programs::spmd::barnes::InvalidBarnes>(())
    /// ```
    #[must_use]
    pub fn new(problem: BarnesProblem) -> Self {
        Self { problem }
    }

    /// The mean number of cells and leaves that attract a body as a whole.
    #[must_use]
    pub fn wholes(&self) -> f64 {
        self.counts().wholes
    }

    /// The mean number of other bodies that attract a body one by one.
    #[must_use]
    pub fn bodies(&self) -> f64 {
        self.counts().bodies
    }

    /// The mean number of cells and leaves that the walk looks at for a body.
    #[must_use]
    pub fn looks(&self) -> f64 {
        self.counts().looks
    }

    /// The mean number of cells on a body's way into the tree.
    #[must_use]
    pub fn levels(&self) -> f64 {
        self.counts().levels
    }

    fn counts(&self) -> Counts {
        let last = COUNTED.len() - 1;
        let row = (self.problem.bodies as f64 / FIRST).log2().max(0.0);
        let of = |column: usize| {
            if row >= last as f64 {
                return COUNTED[last][column] + (row - last as f64) * DOUBLING[column];
            }
            let (above, between) = (row as usize, row.fract());
            let (from, to) = (COUNTED[above][column], COUNTED[above + 1][column]);
            from + (to - from) * between
        };
        let [wholes, bodies, looks, levels] = std::array::from_fn(of);
        Counts {
            wholes,
            bodies,
            looks,
            levels,
        }
    }

    pub(super) fn forces(&self) -> Phase {
        let [.., forces] = self.phases();
        forces
    }

    /// The phases of a step.
    pub(super) fn phases(&self) -> [Phase; 4] {
        let bodies = self.problem.bodies;
        let counts = self.counts();
        let phase = |name, items, grain, instructions, bytes| Phase {
            name,
            items,
            grain,
            cost: Cost {
                instructions,
                bytes,
            },
        };
        let load = INSERT + LEVEL * counts.levels;
        let moments = MOMENTS;
        let opened = counts.looks - counts.wholes;
        let forces = LOOK * counts.looks
            + OPEN * opened
            + WHOLE * counts.wholes
            + BODY * counts.bodies
            + MOVE
            + FIND
            + FIND_LEVEL * counts.levels;
        // A zone (about two bodies) reads nearly the same nodes as the zone before, so each node comes from memory
        // once.
        let tree = CELLS * (CELL + OF_NODE) + LEAVES * (LEAF + OF_NODE);
        [
            phase("barnes root", 1, 1, ROOT, 0.0),
            // Reads and writes the body's place and number, and its share of cells and leaves.
            phase(
                "barnes load",
                bodies,
                32,
                load,
                POINT + 2.0 * (CELLS * CELL + LEAVES * LEAF),
            ),
            // Reads a leaf's bodies, and writes the new moments.
            phase(
                "barnes moments",
                bodies,
                32,
                moments,
                POINT + tree + LEAVES * OF_NODE,
            ),
            phase(
                "barnes forces",
                bodies.div_ceil(BODIES_A_ZONE),
                1,
                // The last zone has the same cost as the others, see `Barnes::forces`.
                forces * bodies as f64 / bodies.div_ceil(BODIES_A_ZONE) as f64,
                BODIES_A_ZONE as f64 * (tree + 2.0 * POINT + 2.0 * MOTION),
            ),
        ]
    }
}

impl Declaration for BarnesPhases {
    /// Draws the bodies.
    fn preparation(&self) -> Preparation {
        Preparation {
            file_bytes: 0.0,
            instructions: DRAW * self.problem.bodies as f64,
        }
    }

    fn step(&self) -> Vec<Phase> {
        self.phases().into()
    }

    fn steps(&self) -> usize {
        self.problem.steps
    }
}
