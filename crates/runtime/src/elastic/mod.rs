//! Cores that come and go: how many this process may use now, and runtimes that follow.
//! `README.md` beside this file says where the number comes from, and argues that no
//! job is lost when it changes.

mod allotment;
#[cfg(test)]
mod checked;
pub mod fiber;
mod watch;

pub use allotment::{Allotment, Seen};
pub use watch::{Limits, Watch};
