//! How idle workers wait: spinning when a loop is near, asleep when it is not.
//! `README.md` beside this file argues the protocol.

mod beds;
mod crowd;
#[cfg(test)]
mod crowd_checked;
#[cfg(test)]
mod expecting_checked;
#[cfg(test)]
mod fences_checked;
mod gaps;
mod idle;
mod latch;
mod nearest;
#[cfg(test)]
mod nearest_checked;
#[cfg(test)]
mod outsiders;
pub(crate) mod policy;
mod rhythm;
mod strangers;

pub(crate) use idle::{Idle, Woken};
pub(crate) use latch::Latch;
pub use nearest::Nearest;
pub use policy::{Sleep, Tally};

/// What policies are made of, for those of `manycore-programs`.
#[doc(hidden)]
pub mod parts {
    pub use super::idle::{Idle, Woken};
    pub use super::latch::Latch;
    pub use super::policy::{Left, Scan, Setup};
}
