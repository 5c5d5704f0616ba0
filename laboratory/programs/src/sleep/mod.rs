//! Sleep policies to compare with `manycore`'s, and all policies by name.

mod mode;
pub mod published;
mod registry;

pub use mode::Mode;
pub use registry::{policies, policy};
