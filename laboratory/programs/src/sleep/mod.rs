//! Sleep policies that the one of `manycore` is compared with, and all of them by name.

mod mode;
pub mod published;
mod registry;

pub use mode::Mode;
pub use registry::{policies, policy};
