//! Barriers: nobody leaves before everybody has arrived.
//!
//! Applications take a [`TeamBarrier`]. It is one of those below, which can also be
//! had by type or by name ([`with_barrier`]), natively, on the chip, and model-checked;
//! one file a barrier. [`Barrier`] is what they have in common.
//!
//! | name | | cycles on the simulated `atac-64`, 64 and 1,024 cores |
//! |---|---|---|
//! | `channel` | each member broadcasts, and counts the others (the thesis') | 638, 10,238 |
//! | `counted` | the same, counted by the network interfaces | 24, 28 |
//! | `grouped` | groups first, then the groups with each other | 166, 646 |
//! | `dissemination` | log2 N rounds, all to all | 1,102, 4,881 |
//! | `tournament` | losers wait for winners | 1,618, 7,847 |
//! | `combining` | a tree of counts | 2,260, 6,919 |
//! | `mcs` | a tree of words | 2,312, 7,177 |
//! | `sense` | one count, one word | 12,420, 325,033 |
//! | `futex` | as glibc: one count, and sleep | 25,457, 684,708 |
//! | `spin-sleep` | as PARSEC: a lock, spinning, and sleep | 192,306, 4,631,995 |
//! | `default` | chosen by the placement | as `counted` |
//!
//! An isolated episode, all arriving in the same cycle:
//! `cargo run --release -p manycore-chip --example barriers`.
//!
//! Whoever waits long sleeps, in every one of them: none can keep the core from whom it
//! waits for. `waiting.rs` has the protocol of those that are not about sleeping.

mod channel;
mod chosen;
mod combining;
mod counted;
mod dissemination;
mod exchange;
mod futex;
mod grouped;
mod mcs;
mod node;
mod opening;
mod placement;
mod registry;
mod sense;
mod spin_sleep;
mod team;
mod tournament;
mod waiting;

#[cfg(test)]
mod checked;

pub use channel::{ChannelBarrier, ChannelMember};
pub use chosen::{ChosenBarrier, ChosenMember};
pub use combining::{CombiningBarrier, CombiningMember};
pub use counted::{CountedBarrier, CountedMember};
pub use dissemination::{DisseminationBarrier, DisseminationMember};
pub use futex::{FutexBarrier, FutexMember};
pub use grouped::{GroupedBarrier, GroupedMember};
pub use mcs::{McsBarrier, McsMember};
pub use placement::Placement;
pub use registry::{BarrierVisitor, UnknownBarrier, barriers, with_barrier};
pub use sense::{SenseBarrier, SenseMember};
pub use spin_sleep::{SpinSleepBarrier, SpinSleepMember};
pub use team::{TeamBarrier, TeamMember};
pub use tournament::{TournamentBarrier, TournamentMember};

use manycore_platform::Platform;
use waiting::Waiting;

/// A barrier for a fixed number of members, to be used again and again.
///
/// One round of it, from the first arrival to the last departure, is an episode.
/// What a member did before it arrived is visible to all once they have left.
///
/// ```
/// use manycore::Native;
/// use manycore::barrier::{Barrier, ChannelBarrier, Placement};
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

    /// The member of that rank, made once for each rank, by the thread that
    /// will wait: on its core, if the barrier uses a broadcast network.
    ///
    /// # Panics
    ///
    /// If there is no such rank.
    fn member(&self, rank: usize) -> Self::Member;

    /// Waits until all members have arrived at this episode.
    fn wait(&self, member: &mut Self::Member);
}
