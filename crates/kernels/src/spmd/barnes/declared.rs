//! What a run of Barnes does, without its bodies.

use super::{Input, Problem};
use crate::spmd::{Cost, Declaration, Phase};

/// Bodies that a zone has in the mean.
const BODIES_A_ZONE: usize = 4;

/// The phases of Barnes for a number of bodies.
///
/// ```
/// use manycore_kernels::spmd::Declaration;
/// use manycore_kernels::spmd::barnes::{Declared, Input};
///
/// let native = Declared::of(Input::Native);
/// let names = native.step().map(|phase| phase.name);
/// assert_eq!(names, ["barnes root", "barnes load", "barnes moments", "barnes forces"]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Declared {
    problem: Problem,
}

impl Declared {
    /// One of the named sizes.
    #[must_use]
    pub fn of(input: Input) -> Self {
        Self::new(input.problem())
    }

    /// Any problem.
    #[must_use]
    pub fn new(problem: Problem) -> Self {
        Self { problem }
    }

    pub(super) fn forces(&self) -> Phase {
        let [.., forces] = self.phases();
        forces
    }

    /// Those of a step.
    pub(super) fn phases(&self) -> [Phase; 4] {
        let bodies = self.problem.bodies;
        let phase = |name, items, grain, instructions, bytes| Phase {
            name,
            items,
            grain,
            cost: Cost {
                instructions,
                bytes,
            },
        };
        [
            phase("barnes root", 1, 1, 150.0, 0.0),
            phase("barnes load", bodies, 32, 150.0, 0.0),
            phase("barnes moments", bodies, 32, 150.0, 0.0),
            phase(
                "barnes forces",
                bodies.div_ceil(BODIES_A_ZONE),
                1,
                150.0,
                0.0,
            ),
        ]
    }
}

impl Declaration for Declared {
    fn step(&self) -> Vec<Phase> {
        self.phases().into()
    }

    fn steps(&self) -> usize {
        self.problem.steps
    }
}
