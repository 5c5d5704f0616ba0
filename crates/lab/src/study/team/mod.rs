//! Programs of a fixed team of ranks that meet at a barrier: what the studies
//! `barrier`, `streamcluster` and `robustness` run.
//!
//! A [`Point`] says what is run: a machine, cores, a barrier, a program. One
//! piece of code ([`run`]) runs it natively and on a simulated machine; each
//! rank notes when it came to the barrier and when it left, in memory of its
//! own, and [`log`] makes of that how long an episode held the team up.

mod barrier_loop;
pub(in crate::study) mod closed_form;
mod experiment;
mod host;
mod kernel;
mod log;
mod machines;
mod measure;
mod place;
mod point;
mod program;
mod prose;
mod race;
mod run;
mod setup;

pub(in crate::study) use barrier_loop::Arrivals;
pub(in crate::study) use experiment::{Answer, Experiment, Question};
pub(in crate::study) use machines::Machines;
pub(in crate::study) use measure::Measured;
pub(in crate::study) use point::{Point, Summary};
pub(in crate::study) use program::Program;
pub(in crate::study) use prose::what;
pub(in crate::study) use race::{BASELINES, CHANNEL, Contest, Race, point};
pub(in crate::study) use setup::{PIN, RUNS, SECONDS, Setup};
