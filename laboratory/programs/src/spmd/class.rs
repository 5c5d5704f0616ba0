//! The classes of the NAS parallel benchmarks: how large a problem is.

use crate::names::by_name;

/// A size of problem, from seconds' fractions to many gigabytes' minutes.
///
/// ```
/// use manycore_programs::spmd::Class;
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
    /// assert_eq!(manycore_programs::spmd::Class::A.name(), "A");
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

by_name!(Class, "no class is called");
