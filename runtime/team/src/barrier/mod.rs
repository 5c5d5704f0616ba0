//! Barriers: nobody leaves before everybody has arrived.
//!
//! A [`TeamBarrier`] is one of three, chosen by where its members run: two members meet at one word
//! (`pair.rs`); members with a core each meet in groups, and then the groups with each other
//! (`grouped.rs`); members that share cores have one count and one word (`sense.rs`).
//!
//! In every one of them a member that waits long sleeps, so that it cannot keep a core from the
//! member that it waits for. `waiting.rs` has their protocol, but for that of two members, which is
//! in `pair.rs`.

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
