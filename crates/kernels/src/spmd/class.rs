//! The classes of the NAS parallel benchmarks: how large a problem is.

use std::fmt;
use std::str::FromStr;

/// A size of problem, from seconds' fractions to many gigabytes' minutes.
///
/// ```
/// use manycore_kernels::spmd::Class;
///
/// assert_eq!("W".parse(), Ok(Class::W));
/// assert_eq!(Class::ALL.map(|class| class.to_string()).concat(), "SWABC");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// A sample, for tests.
    S,
    /// For what was a workstation in 1994.
    W,
    /// The smallest that is a benchmark.
    A,
    /// About four times `A`; for `CG` about twenty.
    B,
    /// About four times `B`.
    C,
}

impl Class {
    /// All of them, the smallest first.
    pub const ALL: [Self; 5] = [Self::S, Self::W, Self::A, Self::B, Self::C];

    /// Its letter.
    ///
    /// ```
    /// assert_eq!(manycore_kernels::spmd::Class::A.name(), "A");
    /// ```
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::S => "S",
            Self::W => "W",
            Self::A => "A",
            Self::B => "B",
            Self::C => "C",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// No class has this name.
///
/// ```
/// use manycore_kernels::spmd::Class;
///
/// let error = "D".parse::<Class>().unwrap_err();
/// assert_eq!(error.to_string(), "no class is called `D`; there are S, W, A, B, C");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no class is called `{0}`; there are {list}", list = Class::ALL.map(Class::name).join(", "))]
pub struct UnknownClass(pub String);

impl FromStr for Class {
    type Err = UnknownClass;

    /// One of the five letters, in capitals.
    fn from_str(name: &str) -> Result<Self, UnknownClass> {
        let found = Self::ALL.into_iter().find(|class| class.name() == name);
        found.ok_or_else(|| UnknownClass(name.to_owned()))
    }
}
