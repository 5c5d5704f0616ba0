//! Decisions from noisy times: what stands for a few samples, and which of two ways is taken next.
//!
//! A time that was measured is what the work takes, plus whatever the system did meanwhile: an
//! interrupt, a thread that was put aside for a time slice. So no mean of a few samples decides
//! anything here. [`Recent`] takes the second smallest of the last four times; [`Choice`] keeps an
//! account of what one way has cost more than the other, in time.

mod choice;
mod explain;
mod recent;

pub(crate) use choice::{Choice, Run, Units, Way};
pub use explain::{Decision, Reason};
pub(crate) use explain::{Explained, print_at_exit};
pub(crate) use recent::{Recent, Samples};
