//! Sleep policies that the one of `manycore` is compared with, and all of them by name.

pub mod published;
mod registry;

pub use registry::{PolicyVisitor, UnknownPolicy, policies, with_policy};
