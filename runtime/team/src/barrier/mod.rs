//! Barriers: no member leaves before every member has arrived.
//!
//! A [`TeamBarrier`] chooses from three barriers, by the cores of its members. Two members meet at
//! one word (`pair.rs`). Members with a core each meet in groups, and then the groups meet
//! (`grouped.rs`). Members that share cores have one count and one word (`sense.rs`).
//!
//! In each of them a member that waits long sleeps, so it cannot keep a core from the member that
//! it waits for. `waiting.rs` has the protocol, and `pair.rs` that for two members.

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
