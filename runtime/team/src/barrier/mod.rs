//! Barriers: no member leaves before every member has arrived.
//!
//! A [`TeamBarrier`] chooses one of three barriers. Two members meet at one word (`pair.rs`). If
//! each member has a core, the members meet in groups, and then the groups meet (`grouped.rs`).
//! Members that share cores have one count and one word (`sense.rs`).
//!
//! In each of the three, a member that waits long sleeps. So it does not keep a core from the
//! member that it waits for. `waiting.rs` has the protocol of sleep and wake-up; `pair.rs` has its
//! own.
//!
//! An *episode* is one meeting of all members. Episodes are numbered from 1.

pub(crate) mod chosen;
pub(crate) mod exchange;
pub(crate) mod grouped;
mod groups;
pub(crate) mod node;
mod pair;
mod placement;
pub(crate) mod sense;
mod team;
pub(crate) mod waiting;

pub use placement::Placement;
pub use team::{TeamBarrier, TeamMember};
