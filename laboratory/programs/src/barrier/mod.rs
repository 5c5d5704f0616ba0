//! All barriers by name: the barriers of `manycore-team`, barriers over a broadcast network, and baselines.
//! All implement [`Barrier`].
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
//! | `futex` | as glibc since 2.25: one count, and sleep | 25,457, 684,708 |
//! | `glibc-2011` | as glibc until 2.24: a lock, a count, and sleep | 79,543, 1,707,862 |
//! | `sense-on-a-line` | count and word are neighbours | 26,557, 527,627 |
//! | `spin-sleep` | as PARSEC: a lock, spinning, and sleep | 192,306, 4,631,995 |
//! | `default` | chosen by the placement | as `counted` |
//!
//! An isolated episode at which all members arrive in the same cycle:
//! `cargo run --release -p manycore-chip --example barriers`.
//!

mod channel;
mod combining;
mod counted;
mod default;
mod dissemination;
mod futex;
mod glibc_2011;
mod grouped;
mod mcs;
mod opening;
mod registry;
mod sense;
mod sense_on_a_line;
mod shelf;
mod spin_sleep;
mod tournament;

#[cfg(test)]
mod checked;

pub use channel::{ChannelBarrier, ChannelMember};
pub use combining::{CombiningBarrier, CombiningMember};
pub use counted::{CountedBarrier, CountedMember};
pub use default::{DefaultBarrier, DefaultMember};
pub use dissemination::{DisseminationBarrier, DisseminationMember};
pub use futex::{FutexBarrier, FutexMember};
pub use glibc_2011::{Glibc2011Barrier, Glibc2011Member};
pub use grouped::{GroupedBarrier, GroupedMember};
pub use mcs::{McsBarrier, McsMember};
pub use registry::{BarrierVisitor, barriers, with_barrier};
pub use sense_on_a_line::{SenseOnALineBarrier, SenseOnALineMember};
pub use spin_sleep::{SpinSleepBarrier, SpinSleepMember};
pub use tournament::{TournamentBarrier, TournamentMember};

use manycore_platform::Platform;
use manycore_team::barrier::Placement;

/// A reusable barrier for a fixed number of members.
///
/// One round, from the first arrival to the last departure, is an episode. Each member's work before its
/// arrival is visible to all members once they have left.
///
/// ```
/// use manycore_platform::Native;
/// use manycore_programs::barrier::{Barrier, ChannelBarrier};
/// use manycore_team::barrier::Placement;
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
    /// The name, as in `manycore study barrier --only NAME`.
    const NAME: &'static str;

    /// The state of a member between episodes.
    type Member: Send + 'static;

    /// A barrier for the ranks of `placement`.
    fn new(placement: &Placement) -> Self;

    /// Makes the member of a rank. The thread that will wait calls this, on its core if the barrier uses a
    /// broadcast network. There is one member of each rank at a time.
    ///
    /// A dropped member can be made again, and continues in the state of the former member. Until then the
    /// others wait for it at their next episode, as for any late member. The work of the former member must
    /// happen before, as by joining its thread. On a broadcast network it must be made again on the same
    /// core.
    ///
    /// # Panics
    ///
    /// If there is no such rank. On a broadcast network, also if the former member was on another core.
    fn member(&self, rank: usize) -> Self::Member;

    /// Waits until all members have arrived at this episode.
    fn wait(&self, member: &mut Self::Member);
}
