//! Cores that come and go: how many this process may use now, and runtimes that follow.

mod allotment;
pub mod fiber;

pub use allotment::{Allotment, Seen};
