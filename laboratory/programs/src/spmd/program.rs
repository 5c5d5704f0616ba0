//! The common interface of programs that meet at barriers.

use super::{Phase, Worksharing};
use std::fmt;

/// A program that is written once and is run by a team of ranks, or as parallel loops; once.
///
/// It owns its data, made from its class before it is timed. Between two phases it
/// computes, on every rank, only what hangs on sums, which are the same for all.
pub trait Program: Send + Sync {
    /// The most grains of a phase with a sum over its items.
    fn grains(&self) -> usize;

    /// Runs it. Each rank of a team calls this once; over loops one thread does.
    ///
    /// # Safety
    ///
    /// All ranks of one team call this, or one thread over loops, once each: bodies write the
    /// program's data, which only [`Worksharing`] protects. No code reads the program, for example
    /// to [verify](Self::verify) it, before all have returned.
    unsafe fn run(&self, sharing: &mut dyn Worksharing);

    /// After the run: what it found, if that is right.
    ///
    /// # Errors
    ///
    /// For a wrong answer: the result, the expected result and the tolerance.
    fn verify(&self) -> Result<Verified, WrongAnswer>;
}

/// A right answer, in short.
///
/// ```
/// use manycore_programs::spmd::Verified;
///
/// assert_eq!(Verified("zeta 8.6".into()).to_string(), "zeta 8.6");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified(pub String);

/// A wrong answer.
///
/// ```
/// use manycore_programs::spmd::WrongAnswer;
///
/// let wrong = WrongAnswer {
///     what: "zeta".into(),
///     found: 8.0,
///     expected: 8.6,
///     tolerance: 1e-10,
/// };
/// assert_eq!(wrong.to_string(), "zeta is 8; expected 8.6, within 0.0000000001");
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{what} is {found}; expected {expected}, within {tolerance}")]
pub struct WrongAnswer {
    /// The checked quantity.
    pub what: String,
    /// Its value.
    pub found: f64,
    /// Its expected value.
    pub expected: f64,
    /// How far it may be off, in the terms of the program's specification.
    pub tolerance: f64,
}

/// The work of one run of a program, of any size, without its data: the declaration for a simulated
/// chip.
pub trait Declaration: Send + Sync {
    /// The work of one thread alone, before the others begin.
    fn preparation(&self) -> Preparation {
        Preparation::default()
    }

    /// The phases before the first step, run once.
    fn before(&self) -> Vec<Phase> {
        Vec::new()
    }

    /// The phases that are repeated, one after the other, in one step of the program.
    fn step(&self) -> Vec<Phase>;

    /// How often they are.
    fn steps(&self) -> usize;
}

/// The work of one thread before the ranks of a program begin: it reads the input, and makes the
/// ranks' data. Counted in runs of this crate's programs.
///
/// ```
/// use manycore_programs::spmd::{CgPhases, Class, Declaration};
///
/// let matrix = CgPhases::of(Class::C).preparation();
/// assert!(matrix.file_bytes == 0.0 && matrix.instructions > 1e9);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Preparation {
    /// Bytes of the files that it reads.
    pub file_bytes: f64,
    /// Instructions, those on memory included.
    pub instructions: f64,
}

impl fmt::Display for Verified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
