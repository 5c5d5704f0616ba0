//! Barriers: no member leaves before every member has arrived.
//!
//! A [`TeamBarrier`] chooses one of three barriers. Two members meet at one word (`pair.rs`).
//! Members with a core each meet in groups, and then the groups meet (`grouped.rs`). Members that
//! share cores have one count and one word (`sense.rs`).
//!
//! In all three, a member that waits for a long time sleeps, so that it does not take the core that
//! the awaited member needs. `waiting.rs` has the protocol for this, and `pair.rs` has a protocol
//! of its own.
//!
//! An *episode* is one meeting of all members.

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
