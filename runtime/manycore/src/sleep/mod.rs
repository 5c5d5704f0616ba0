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
#[cfg(feature = "policies")]
mod other;
#[cfg(test)]
mod outsiders;
mod policy;
mod rhythm;
mod strangers;

pub use idle::Idle;
pub(crate) use idle::Woken;
pub use latch::Latch;
#[cfg(any(test, feature = "policies"))]
pub(crate) use nearest::Nearest;
#[cfg(not(feature = "policies"))]
pub(crate) use nearest::{Looking, Nearest as Policy};
#[cfg(feature = "policies")]
pub use other::{Looking, Make, Policy, Remembered, Sleep};
pub use policy::{Left, Scan, Setup, Tally};
