//! What threads wait by, for this crate and for those that are built on it: not for others.

mod events;
mod lock;
mod payload;

pub use events::EventCount;
pub use lock::Lock;
pub use payload::{Payload, let_go};
