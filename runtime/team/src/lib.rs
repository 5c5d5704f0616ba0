//! Teams: ranks, the parts of a program that meet at barriers, on cores that come and go.
//!
//! ```
//! use manycore_team::barrier::TeamBarrier;
//! use manycore_team::channel::Channel;
//!
//! let (barrier, channel) = (TeamBarrier::new(2), Channel::new());
//! let mut ports = [channel.open(), channel.open()];
//! let [one, other] = &mut ports;
//! std::thread::scope(|scope| {
//!     let (mut here, mut there) = (barrier.member(), barrier.member());
//!     scope.spawn(move || {
//!         one.send(42); // to all other ports
//!         here.wait();
//!     });
//!     assert_eq!(other.receive().unwrap().payload, 42);
//!     there.wait();
//! });
//! ```
//!
//! * A [`Team`] runs a fixed number of ranks on the cores that an
//!   [`Allotment`](manycore_cores::elastic::Allotment) leaves it: 16 ranks on 15 cores take 16/15
//!   of the time that they take on 16 cores, and not twice that time.
//! * A [`barrier`] makes threads of your own wait for each other.
//! * A [`channel`] carries words and bytes from each thread to all others.
//! * A [`fiber`] carries a rank from thread to thread.
//!
//! | call | cost |
//! |---|---|
//! | a barrier of two threads, [`TeamBarrier`](barrier::TeamBarrier) | 118 ns |
//! | a barrier of 64 ranks on 2 workers | 1.06 us; 3.35 us if the ranks have stacks |
//! | a switch between two ranks | 14 ns; 40 ns with stacks |
//! | a message of a word, receivers spinning | 12.1 ns |
//!
//! The figures are native, on 2-core virtual machines: the first and the last on an Intel Xeon of
//! 2.6 GHz, the other figures on an Intel Xeon of 2.3 GHz. `docs/figures.md` in the repository has
//! their spreads and commands.
//!
//! The crate `manycore` has a pool for loops, joins and jobs. Use it if a program can be written as
//! loops: the pool divides each loop anew, while a team must learn how long each rank works.

pub mod barrier;
pub mod channel;
pub mod fiber;
pub mod seam;
pub mod team;

pub use team::{
    Body, BuildError, Cursor, Policy, Rank, RankLocal, Report, Site, Stackful, Step, Team,
    TeamBuilder, Turn,
};

/// The README's example, compiled with the other examples.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
