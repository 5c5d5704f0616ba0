//! What threads wait by, for this crate and for those that are built on it: not for others.

#[cfg(test)]
mod checked;
mod events;
mod lock;
mod parker;
mod payload;
mod sleepers;

pub use events::EventCount;
pub use lock::Lock;
pub(crate) use lock::Word;
pub use parker::Parker;
pub use payload::{Payload, let_go};
pub use sleepers::{AfterRmw, Asymmetric, Fences, Sleepers};
