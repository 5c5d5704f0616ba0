//! Sleep policies to compare with the policy of `manycore`, and all policies by name.

mod mode;
pub mod published;
mod registry;

pub use mode::Mode;
pub use registry::{policies, policy};
