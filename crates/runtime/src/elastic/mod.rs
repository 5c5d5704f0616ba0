//! Cores that come and go: how many this process may use now, and runtimes that follow.

mod allotment;
pub mod fiber;
pub mod team;

pub use allotment::{Allotment, Seen};
pub use team::{
    Body, Cursor, Policy, Rank, RankLocal, Report, Site, Stackful, Step, Team, TeamBuilder, Turn,
};
