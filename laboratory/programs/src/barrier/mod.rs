//! All barriers by name: the barriers of `manycore-team`, barriers over a broadcast network, and baselines.
//! All implement [`Barrier`].
//!
//! | name | | cycles on the simulated `atac-64`, 64 and 1,024 cores |
//! |---|---|---|
//! | `channel` | each member broadcasts, and counts the others (the thesis's barrier) | 638, 10,238 |
//! | `counted` | the same, but the network interfaces count | 24, 28 |
//! | `grouped` | first the members of each group meet, then the groups | 166, 646 |
//! | `dissemination` | log2 N rounds of messages between pairs | 1,102, 4,881 |
//! | `tournament` | losers wait for winners | 1,618, 7,847 |
//! | `combining` | a tree of counts | 2,260, 6,919 |
//! | `mcs` | a tree of words | 2,312, 7,177 |
//! | `sense` | one count, and one word on which members wait | 12,420, 325,033 |
//! | `futex` | as in glibc since 2.25: one count, and sleep | 25,457, 684,708 |
//! | `glibc-2011` | as in glibc until 2.24: a lock, a count, and sleep | 79,543, 1,707,862 |
//! | `sense-on-a-line` | count and word are neighbours | 26,557, 527,627 |
//! | `spin-sleep` | as in PARSEC: a lock, spinning, and sleep | 192,306, 4,631,995 |
//! | `default` | the placement of the members decides | as for `counted` |
//!
//! The cycles are those of an isolated episode (one use of the barrier) at which all members arrive in the same cycle:
//! `cargo run --release -p manycore-chip --example barriers`.

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

    /// Makes the member of a rank (the number of a thread). The thread that will wait calls this, and if the barrier
    /// uses a broadcast network, it calls this on its core. Each rank has at most one member at a time.
    ///
    /// After a member is dropped, it can be made again. The new member continues in the state of the former one. Until
    /// then the others wait at their next episode, as for any late member. The former member's work must happen before
    /// the call, for example by joining its thread. On a broadcast network the call must be on the core of the former
    /// member.
    ///
    /// # Panics
    ///
    /// If there is no such rank. On a broadcast network this also panics if the former member was on another core.
    fn member(&self, rank: usize) -> Self::Member;

    /// Waits until all members have arrived at this episode.
    fn wait(&self, member: &mut Self::Member);
}
