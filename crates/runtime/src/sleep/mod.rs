//! How idle workers wait: spinning when a loop is near, asleep when it is not.
//! `README.md` beside this file argues the protocol.

mod beds;
#[cfg(test)]
mod checked;
mod events;
mod gaps;
mod idle;
mod latch;
mod nearest;
#[cfg(test)]
mod nearest_checked;
mod parker;
pub(crate) mod policy;
pub mod published;
mod registry;

pub(crate) use events::EventCount;
pub(crate) use idle::{Idle, Woken};
pub(crate) use latch::Latch;
pub use nearest::Nearest;
pub use policy::{Mode, Sleep, Tally};
pub use registry::{PolicyVisitor, UnknownPolicy, policies, with_policy};
