//! Barriers: nobody leaves before everybody has arrived.
//!
//! Applications take a [`TeamBarrier`]. It is one of those below, chosen by where the members
//! run, which can also be had by type, natively, on the chip, and model-checked; one file a
//! barrier. [`Barrier`] is what they have in common. Barriers to compare with, and all of them
//! by name, are in the crate `manycore-programs`.
//!
//! | type | |
//! |---|---|
//! | [`CountedBarrier`] | each member broadcasts, and the network interfaces count |
//! | [`GroupedBarrier`] | groups first, then the groups with each other |
//! | [`SenseBarrier`] | one count, one word |
//! | [`ChosenBarrier`] | one of these by the placement; two members meet at one word |
//!
//! In every one of them a member that waits long sleeps, so that it cannot keep a core from the
//! member that it waits for. `waiting.rs` has their protocol, but for that of two members, which is
//! in `pair.rs`.

mod chosen;
mod counted;
mod exchange;
mod grouped;
mod node;
mod opening;
mod pair;
mod placement;
mod sense;
mod shelf;
mod team;
mod waiting;

pub use chosen::{ChosenBarrier, ChosenMember};
pub use counted::{CountedBarrier, CountedMember};
pub use grouped::{GroupedBarrier, GroupedMember};
pub use placement::Placement;
pub use sense::{SenseBarrier, SenseMember};
pub use team::{TeamBarrier, TeamMember};

use manycore_platform::Platform;
use waiting::Waiting;

/// What barriers are made of, for those of `manycore-programs`.
#[doc(hidden)]
pub mod parts {
    pub use super::exchange::Exchange;
    pub use super::node::Node;
    pub use super::opening::Opening;
    pub use super::shelf::{Kept, Shelf};
    pub use super::waiting::Waiting;
}

/// A barrier for a fixed number of members, to be used again and again.
///
/// One round of it, from the first arrival to the last departure, is an episode.
/// What a member did before it arrived is visible to all once they have left.
///
/// ```
/// use manycore_platform::Native;
/// use manycore_team::barrier::{Barrier, Placement};
/// use manycore_programs::barrier::ChannelBarrier;
///
/// let barrier = ChannelBarrier::<Native>::new(&Placement::flat(2));
/// std::thread::scope(|scope| {
///     for rank in 0..2 {
///         let barrier = &barrier;
///         scope.spawn(move || {
///             let mut member = barrier.member(rank);
///             for _ in 0..100 {
///                 barrier.wait(&mut member);
///             }
///         });
///     }
/// });
/// ```
pub trait Barrier<P: Platform>: Send + Sync + Sized + 'static {
    /// As in `manycore study barrier --only NAME`.
    const NAME: &'static str;

    /// What one member keeps between episodes.
    type Member: Send + 'static;

    /// A barrier for the ranks of `placement`.
    fn new(placement: &Placement) -> Self;

    /// The member of that rank, made by the thread that will wait: on its core, if the
    /// barrier uses a broadcast network. There is one of each rank at a time.
    ///
    /// A member that was dropped can be made again: it goes on where the former one was. Until
    /// it does, the others wait for it at their next episode, as for anybody who is late.
    /// What the former one did must happen before, as by joining its thread. On a broadcast
    /// network it is made again on the same core.
    ///
    /// # Panics
    ///
    /// If there is no such rank; on a broadcast network, if the former member was on another
    /// core.
    fn member(&self, rank: usize) -> Self::Member;

    /// Waits until all members have arrived at this episode.
    fn wait(&self, member: &mut Self::Member);
}
