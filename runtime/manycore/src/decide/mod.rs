//! Decisions from noisy times: which value represents a few samples, and whether a loop is shared or runs on its
//! caller alone.
//!
//! A measured time is the time of the work plus the time of whatever the operating system did meanwhile: it may
//! handle an interrupt, or put a thread aside for a time slice. So no decision here uses the mean of a few
//! samples. [`Recent`] takes the second smallest of the last four times. [`Choice`] keeps an account of the time
//! that sharing has saved or lost.

mod choice;
mod explain;
mod recent;

pub(crate) use choice::{Choice, Run, Units, Way};
pub use explain::{Decision, Reason};
pub(crate) use explain::{Explained, print_at_exit};
pub(crate) use recent::{Recent, Samples};
