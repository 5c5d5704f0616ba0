//! Cores that come and go: how many this process may use now, and runtimes that follow.

mod allotment;
pub mod team;

pub use allotment::{Allotment, Seen};
pub use team::{Body, Cursor, Policy, Report, Site, Step, Team, TeamBuilder, Turn};
