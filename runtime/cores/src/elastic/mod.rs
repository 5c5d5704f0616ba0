//! Cores that come and go: how many this process may use now, and runtimes that follow.
//!
//! An [`Allotment`] is that number. A [`Watch`] keeps it at what the system leaves this
//! process; a pool follows it (`Builder::follow`, in the crate `manycore`), and so does a
//! team of a fixed number of ranks (`Team`, in the crate `manycore-team`).
//! `README.md` beside this file says where the number comes from, and argues that no
//! job is lost when it changes.

mod allotment;
#[cfg(test)]
mod checked;
mod watch;

pub use allotment::{Allotment, Follower, Seen};
pub use watch::{Limits, Watch};
