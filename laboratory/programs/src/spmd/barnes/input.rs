//! Problems: the number of bodies, and SPLASH's parameters.

use super::slot::MOST_NODES;
use crate::by_name;

by_name! {
    /// A problem by name: the size of SPLASH's program, or a size of PARSEC's version.
    ///
    /// ```
    /// use manycore_programs::spmd::barnes::BarnesInput;
    ///
    /// let input: BarnesInput = "simmedium".parse()?;
    /// assert_eq!(input.problem().bodies(), 32_768);
    /// # Ok::<(), manycore_programs::UnknownName>(())
    /// ```
    pub enum BarnesInput: "barnes has no input", "there are" {
        /// 512 bodies, for tests.
        Tiny = "tiny",
        /// 16,384 bodies: SPLASH's base problem.
        Base = "base",
        /// 16,384 bodies.
        SimSmall = "simsmall",
        /// 32,768 bodies.
        SimMedium = "simmedium",
        /// 262,144 bodies.
        SimLarge = "simlarge",
        /// 4,194,304 bodies.
        Native = "native",
    }
}

impl BarnesInput {
    /// The problem: SPLASH's parameters and this input's number of bodies.
    ///
    /// ```
    /// use manycore_programs::spmd::barnes::BarnesInput;
    /// assert_eq!(BarnesInput::Native.problem().bodies(), 4_194_304);
    /// ```
    #[must_use]
    pub fn problem(self) -> BarnesProblem {
        let bodies = match self {
            Self::Tiny => 512,
            Self::Base | Self::SimSmall => 16_384,
            Self::SimMedium => 32_768,
            Self::SimLarge => 262_144,
            Self::Native => 4_194_304,
        };
        BarnesProblem {
            bodies,
            ..BarnesProblem::SPLASH
        }
    }
}

/// The number of bodies, and the parameters of their simulation.
///
/// ```
/// use manycore_programs::spmd::barnes::BarnesProblem;
///
/// let problem = BarnesProblem::new(1_000)?.with_seed(7);
/// assert_eq!((problem.bodies(), problem.steps()), (1_000, 4));
/// # Ok::<(), manycore_programs::spmd::barnes::InvalidBarnes>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BarnesProblem {
    pub(super) bodies: usize,
    pub(super) seed: u64,
    pub(super) theta: f64,
    pub(super) softening: f64,
    pub(super) time: f64,
    pub(super) steps: usize,
}

/// The reason why a problem is invalid.
///
/// ```
/// use manycore_programs::spmd::barnes::{InvalidBarnes, BarnesProblem};
/// assert_eq!(BarnesProblem::new(1), Err(InvalidBarnes::Bodies(1)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidBarnes {
    /// Too few bodies, or too many.
    #[error("there must be at least 2 bodies and at most 2^27, not {0}")]
    Bodies(usize),
}

impl BarnesProblem {
    const SPLASH: Self = Self {
        bodies: 16_384,
        seed: 123,
        theta: 1.0,
        softening: 0.05,
        time: 0.025,
        steps: 4,
    };

    /// A problem of `bodies` bodies with SPLASH's parameters: theta 1, 4 steps of length 0.025,
    /// softening 0.05.
    ///
    /// # Errors
    ///
    /// If there are less than 2 bodies, or more than 2^27.
    pub fn new(bodies: usize) -> Result<Self, InvalidBarnes> {
        if !(2..=MOST_NODES / 2).contains(&bodies) {
            return Err(InvalidBarnes::Bodies(bodies));
        }
        Ok(Self {
            bodies,
            ..Self::SPLASH
        })
    }

    /// Draws the bodies from another seed.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// The number of bodies.
    #[must_use]
    pub fn bodies(self) -> usize {
        self.bodies
    }

    /// The number of steps.
    #[must_use]
    pub fn steps(self) -> usize {
        self.steps
    }

    /// The parameter theta: a cell counts as a whole if its edge is less than theta times its distance.
    #[must_use]
    pub fn theta(self) -> f64 {
        self.theta
    }
}
