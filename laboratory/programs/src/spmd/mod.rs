//! Programs of a fixed team of ranks that meet at barriers: single program,
//! multiple data.
//!
//! Each thread of the team runs the whole program on its part of the data, and
//! says where all must have come before any goes on. Such a program knows no
//! barrier: each rank is handed one wait at whichever barrier is to be studied,
//! natively or on a simulated chip.
//!
//! [`Streamcluster`] is run by a team only. Each of the others is a [`Program`] of phases, written
//! once for teams ([`Ranked`]) and for loops of a pool ([`Looped`]). Among them are the programs of
//! the NAS parallel benchmarks ([`Npb`], in the sizes of [`Class`]).

pub mod barnes;
mod bt;
pub mod canneal;
mod cg;
mod class;
mod ft;
mod npb;
#[cfg(test)]
mod npb_tests;
mod part;
mod phase;
mod program;
mod randlc;
mod shared;
mod streamcluster;
#[cfg(test)]
mod testing;
mod worksharing;

pub use bt::{Bt, BtPhases, Norms};
pub use cg::{Cg, CgPhases};
pub use class::Class;
pub use ft::{Ft, FtPhases};
pub use npb::Npb;
pub use part::{Alone, Member, Part};
pub use phase::{Cost, Phase};
pub use program::{Declaration, Preparation, Program, Verified, WrongAnswer};
pub use shared::Shared;
pub use streamcluster::{
    Centre, InvalidStreamcluster, NotFinished, Solution, Streamcluster, StreamclusterInput,
    StreamclusterProblem, WrongSolution,
};
pub use worksharing::{Looped, Ranked, Sums, Worksharing};
