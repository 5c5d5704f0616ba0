//! Programs for a fixed team of threads, the *ranks*, that meet at barriers: single program,
//! multiple data.
//!
//! Each rank runs the whole program on its part of the data, and names the points where all ranks
//! wait for each other. The program does not choose a barrier. The caller passes each rank a wait
//! at the barrier under study, on this machine or on a simulated chip.
//!
//! Only a team can run [`Streamcluster`]. Every other program is a [`Program`] of phases, which
//! runs on a team ([`Ranked`]) or as loops of a pool ([`Looped`]). Three are NAS parallel
//! benchmarks ([`Npb`], in the sizes of [`Class`]).

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
