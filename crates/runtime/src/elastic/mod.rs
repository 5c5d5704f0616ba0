//! Cores that come and go: how many this process may use now, and runtimes that follow.

mod allotment;
#[cfg(test)]
mod checked;
mod watch;

pub use allotment::{Allotment, Seen};
pub use watch::{Limits, Watch};
