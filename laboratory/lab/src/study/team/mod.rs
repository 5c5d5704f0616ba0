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

pub(in crate::study) use barrier_loop::{APART, Arrivals};
pub(in crate::study) use measured::TeamMeasured;
pub(in crate::study) use names::{barriers_of, ideas, left_out};
pub(in crate::study) use point::{PointSummary, TeamPoint};
pub(in crate::study) use program::TeamProgram;
pub(in crate::study) use race::{BASELINES, CHANNEL, Contest, Race};
