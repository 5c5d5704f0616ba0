//! Programs of a fixed team of ranks (threads) that meet at a barrier. The studies `barrier`, `streamcluster` and
//! `robustness` run them. "The thesis" in this folder is S. J. Park's (MIT, 2013).
//!
//! A [`TeamPoint`] names a machine, a number of cores, a barrier and a program. The same code ([`run`]) runs it
//! natively and on a simulated machine. Each rank notes when it arrives at the barrier and when it leaves, in its own
//! memory. From these times [`log`] computes how long an episode (wait of the whole team) delays the team.

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
pub(in crate::study) const HOW: &str = "\"End to end\" is the time from the last member's start to the last \
     member's end; two waits before it do not count. Each member notes its arrivals and departures in its \
     own memory. On a simulated machine each member is bound to a core. Members fill one core group after \
     the other, and nothing is random. On this host each round runs every barrier at every size, in \
     shuffled order.";
