//! Cores that come and go: the number of cores that this process may use now, and the runtimes that follow it.
//!
//! An [`Allotment`] is that number. A [`Watch`] sets it to the number of cores that the system leaves this process. A
//! pool follows an allotment (`Builder::follow`, in the crate `manycore`), and so does a team of a fixed number of
//! ranks (`Team`, in the crate `manycore-team`). `README.md` in this folder says where the number comes from, and
//! argues that no job is lost when it changes.

mod allotment;
#[cfg(test)]
mod checked;
mod watch;

pub use allotment::{Allotment, Follower, Seen};
pub use watch::{Limits, Watch};
