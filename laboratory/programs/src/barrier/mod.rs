//! All barriers by name: those of `manycore-team`, and baselines to compare with.
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
//! An isolated episode, all arriving in the same cycle:
//! `cargo run --release -p manycore-chip --example barriers`.
//!

mod channel;
mod combining;
mod dissemination;
mod futex;
mod glibc_2011;
mod mcs;
mod registry;
mod sense_on_a_line;
mod spin_sleep;
mod tournament;

#[cfg(test)]
mod checked;

pub use channel::{ChannelBarrier, ChannelMember};
pub use combining::{CombiningBarrier, CombiningMember};
pub use dissemination::{DisseminationBarrier, DisseminationMember};
pub use futex::{FutexBarrier, FutexMember};
pub use glibc_2011::{Glibc2011Barrier, Glibc2011Member};
pub use mcs::{McsBarrier, McsMember};
pub use registry::{BarrierVisitor, UnknownBarrier, barriers, with_barrier};
pub use sense_on_a_line::{SenseOnALineBarrier, SenseOnALineMember};
pub use spin_sleep::{SpinSleepBarrier, SpinSleepMember};
pub use tournament::{TournamentBarrier, TournamentMember};
