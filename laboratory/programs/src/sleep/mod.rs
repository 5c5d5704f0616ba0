//! Sleep policies for comparison with `manycore`'s, and all of them by name.

mod mode;
pub mod published;
mod registry;

pub use mode::Mode;
pub use registry::{policies, policy};
