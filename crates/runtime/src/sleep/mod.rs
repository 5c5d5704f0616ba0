//! How idle workers wait: spinning when a loop is near, asleep when it is not.
//! `README.md` beside this file argues the protocol.

#[cfg(test)]
mod checked;
mod events;
mod gaps;
mod idle;
mod latch;
mod parker;
pub(crate) mod policy;
pub mod published;

pub(crate) use events::EventCount;
pub(crate) use idle::{After, Idle, Woken};
pub(crate) use latch::Latch;
pub use policy::{Mode, Sleep, Tally};
