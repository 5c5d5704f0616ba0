//! Programs of a fixed team of ranks that meet at a barrier: what the studies
//! `barrier`, `streamcluster` and `robustness` run.
//!
//! A [`TeamPoint`] says what is run: a machine, cores, a barrier, a program. One
//! piece of code ([`run`]) runs it natively and on a simulated machine; each
//! rank notes when it came to the barrier and when it left, in memory of its
//! own, and [`log`] makes of that how long an episode held the team up.

mod barrier_loop;
pub(in crate::study) mod closed_form;
mod host;
mod kernel;
mod log;
mod measured;
mod names;
mod point;
mod program;
mod race;
mod run;
mod sentence;

pub(in crate::study) use barrier_loop::Arrivals;
pub(in crate::study) use measured::TeamMeasured;
pub(in crate::study) use names::{BARRIERS, barriers_of};
pub(in crate::study) use point::{PointSummary, TeamPoint};
pub(in crate::study) use program::TeamProgram;
pub(in crate::study) use race::{BASELINES, CHANNEL, Contest, Race};
pub(in crate::study) use sentence::{Fastest, sentence};

/// How a team is measured.
pub(in crate::study) const HOW: &str = "End to end is from when the last member has begun until the last has left; two waits before \
     that are not counted. Each member notes its arrivals and departures in memory of its own. On a \
     simulated machine one member is bound to each core, filling one core group after the other, and \
     nothing is random. On this host each round runs every barrier at every size in shuffled order.";
