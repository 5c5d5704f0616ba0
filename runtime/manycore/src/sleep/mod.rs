//! How idle workers wait: they spin if they expect a loop soon, and sleep otherwise. `README.md` in this folder
//! proves the protocol.

mod announcements;
mod core_owners;
#[cfg(test)]
mod expecting_checked;
#[cfg(test)]
mod external_threads_timed;
#[cfg(test)]
mod fences_checked;
mod idle;
mod inter_arrival;
mod latch;
mod nearest;
#[cfg(test)]
mod nearest_checked;
#[cfg(feature = "policies")]
mod other;
mod other_processes;
mod oversubscription;
#[cfg(test)]
mod oversubscription_checked;
mod parking_slots;
mod period;
mod policy;

#[cfg(test)]
pub(crate) use announcements::Announcements;
pub use announcements::Seen;
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
