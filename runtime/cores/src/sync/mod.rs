//! Primitives that threads wait on, for runtimes over any [`Platform`](manycore_platform::Platform).

mod bell;
#[cfg(test)]
mod checked;
mod events;
mod lock;
mod parker;
mod payload;
mod sleepers;

pub use bell::Bell;
pub use events::EventCount;
pub use lock::Lock;
pub use parker::Parker;
pub use payload::{Payload, let_go};
pub use sleepers::{AfterRmw, Asymmetric, Fences, Sleepers};
