//! The common interface of programs that meet at barriers.

use super::{Phase, Worksharing};
use std::fmt;

/// A program that runs once, on a team of ranks (threads that meet at barriers) or as parallel loops.
///
/// The program owns its data, which are made before the timed run. Between two phases every rank computes the same
/// values, from sums that are the same on all ranks.
pub trait Program: Send + Sync {
    /// The largest number of grains (calls of the body) in any phase that sums over its items.
    fn grains(&self) -> usize;

    /// Runs the program. Each rank of a team calls this once. For parallel loops, one thread calls this.
    ///
    /// # Safety
    ///
    /// Either each rank of one team calls this once, or one thread calls this once, with loops. Bodies of phases write
    /// the program's data, which only [`Worksharing`] protects. Until all calls have returned, no other code reads the
    /// program, for example to [verify](Self::verify) it.
    unsafe fn run(&self, sharing: &mut dyn Worksharing);

    /// Checks the result, after the run. Returns a summary if it is right.
    ///
    /// # Errors
    ///
    /// For a wrong answer, the result, the expected result and the tolerance.
    fn verify(&self) -> Result<Verified, WrongAnswer>;
}

/// A summary of a right answer.
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
    /// The greatest difference that the program's specification allows.
    pub tolerance: f64,
}

/// A description of the work of one run of a program of any size, without the program's data. Simulated chips run this
/// work.
pub trait Declaration: Send + Sync {
    /// The work of one thread before the ranks begin.
    fn preparation(&self) -> Preparation {
        Preparation::default()
    }

    /// The phases before the first step. They run once.
    fn before(&self) -> Vec<Phase> {
        Vec::new()
    }

    /// The phases of one step of the program, in their order.
    fn step(&self) -> Vec<Phase>;

    /// The number of steps.
    fn steps(&self) -> usize;
}

/// The work of one thread before the ranks of a program begin: reading the input and making the data. The numbers were
/// counted in runs of this crate's programs.
///
/// ```
/// use manycore_programs::spmd::{CgPhases, Class, Declaration};
///
/// let matrix = CgPhases::of(Class::C).preparation();
/// assert!(matrix.file_bytes == 0.0 && matrix.instructions > 1e9);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Preparation {
    /// Bytes read from files.
    pub file_bytes: f64,
    /// Instructions, including loads and stores.
    pub instructions: f64,
}

impl fmt::Display for Verified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
