//! How many bodies, and SPLASH's numbers.

use super::slot::MOST_NODES;
use std::fmt;
use std::str::FromStr;

/// A problem by its name: SPLASH's own, and the sizes in which PARSEC carries the program.
///
/// ```
/// use manycore_kernels::spmd::barnes::Input;
///
/// let input: Input = "simmedium".parse()?;
/// assert_eq!(input.problem().bodies(), 32_768);
/// # Ok::<(), manycore_kernels::spmd::barnes::UnknownInput>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Input {
    /// 512 bodies, for tests; ours.
    Tiny,
    /// 16,384 bodies: SPLASH's base problem.
    Base,
    /// The same.
    SimSmall,
    /// 32,768 bodies.
    SimMedium,
    /// 262,144 bodies.
    SimLarge,
    /// 4,194,304 bodies.
    Native,
}

impl Input {
    /// All of them, the smallest first.
    pub const ALL: [Self; 6] = [
        Self::Tiny,
        Self::Base,
        Self::SimSmall,
        Self::SimMedium,
        Self::SimLarge,
        Self::Native,
    ];

    /// The name in commands and reports.
    ///
    /// ```
    /// assert_eq!(manycore_kernels::spmd::barnes::Input::SimLarge.name(), "simlarge");
    /// ```
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Tiny => "tiny",
            Self::Base => "base",
            Self::SimSmall => "simsmall",
            Self::SimMedium => "simmedium",
            Self::SimLarge => "simlarge",
            Self::Native => "native",
        }
    }

    /// SPLASH's numbers, with so many bodies.
    ///
    /// ```
    /// use manycore_kernels::spmd::barnes::Input;
    /// assert_eq!(Input::Native.problem().bodies(), 4_194_304);
    /// ```
    #[must_use]
    pub fn problem(self) -> Problem {
        let bodies = match self {
            Self::Tiny => 512,
            Self::Base | Self::SimSmall => 16_384,
            Self::SimMedium => 32_768,
            Self::SimLarge => 262_144,
            Self::Native => 4_194_304,
        };
        Problem {
            bodies,
            ..Problem::SPLASH
        }
    }
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// No input has this name.
///
/// ```
/// use manycore_kernels::spmd::barnes::Input;
/// let error = "large".parse::<Input>().unwrap_err();
/// let said = "barnes has no input `large`; there are tiny, base, simsmall, simmedium, \
///             simlarge, native";
/// assert_eq!(error.to_string(), said);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("barnes has no input `{0}`; there are {list}", list = Input::ALL.map(Input::name).join(", "))]
pub struct UnknownInput(pub String);

impl FromStr for Input {
    type Err = UnknownInput;

    fn from_str(name: &str) -> Result<Self, UnknownInput> {
        let named = Self::ALL.into_iter().find(|input| input.name() == name);
        named.ok_or_else(|| UnknownInput(name.to_owned()))
    }
}

/// Bodies, and how exactly they are followed.
///
/// ```
/// use manycore_kernels::spmd::barnes::Problem;
///
/// let problem = Problem::new(1_000)?.with_theta(0.5)?;
/// assert_eq!((problem.bodies(), problem.steps()), (1_000, 4));
/// # Ok::<(), manycore_kernels::spmd::barnes::InvalidProblem>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Problem {
    pub(super) bodies: usize,
    pub(super) seed: u64,
    pub(super) theta: f64,
    pub(super) softening: f64,
    pub(super) time: f64,
    pub(super) steps: usize,
}

/// A problem that cannot be posed.
///
/// ```
/// use manycore_kernels::spmd::barnes::{InvalidProblem, Problem};
/// assert_eq!(Problem::new(1), Err(InvalidProblem::Bodies(1)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidProblem {
    /// Nothing attracts anything, or bodies cannot be told apart.
    #[error("there must be at least 2 bodies and at most 2^27, not {0}")]
    Bodies(usize),
    /// Cells whose bodies may be anywhere around the one that they attract.
    #[error("theta must be more than 0 and at most 1, not {0}")]
    Theta(f64),
}

impl Problem {
    const SPLASH: Self = Self {
        bodies: 16_384,
        seed: 123,
        theta: 1.0,
        softening: 0.05,
        time: 0.025,
        steps: 4,
    };

    /// SPLASH's numbers, with so many bodies: theta 1, 4 steps of a time of 0.025,
    /// distances softened by 0.05.
    ///
    /// # Errors
    ///
    /// For less than 2 bodies, or more than 2^27.
    pub fn new(bodies: usize) -> Result<Self, InvalidProblem> {
        if !(2..=MOST_NODES / 2).contains(&bodies) {
            return Err(InvalidProblem::Bodies(bodies));
        }
        Ok(Self {
            bodies,
            ..Self::SPLASH
        })
    }

    /// With cells of this part of their distance taken as a whole.
    ///
    /// # Errors
    ///
    /// If theta is not more than 0 and at most 1.
    ///
    /// ```
    /// use manycore_kernels::spmd::barnes::Problem;
    /// let error = Problem::new(10)?.with_theta(1.5).unwrap_err();
    /// assert_eq!(error.to_string(), "theta must be more than 0 and at most 1, not 1.5");
    /// # Ok::<(), manycore_kernels::spmd::barnes::InvalidProblem>(())
    /// ```
    pub fn with_theta(self, theta: f64) -> Result<Self, InvalidProblem> {
        if theta > 0.0 && theta <= 1.0 {
            Ok(Self { theta, ..self })
        } else {
            Err(InvalidProblem::Theta(theta))
        }
    }

    /// With bodies at other places.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// How many bodies there are.
    #[must_use]
    pub fn bodies(self) -> usize {
        self.bodies
    }

    /// How often they are moved.
    #[must_use]
    pub fn steps(self) -> usize {
        self.steps
    }

    /// A cell is taken as a whole where its edge is less than this times its distance.
    #[must_use]
    pub fn theta(self) -> f64 {
        self.theta
    }
}
