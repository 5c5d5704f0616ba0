//! Cores that come and go: how many this process may use now, and runtimes that follow.

mod allotment;
#[cfg(test)]
mod checked;
pub mod fiber;
pub mod team;
mod watch;

pub use allotment::{Allotment, Seen};
pub use team::{
    Body, Cursor, Policy, Rank, RankLocal, Report, Site, Stackful, Step, Team, TeamBuilder, Turn,
};
pub use watch::{Limits, Watch};
