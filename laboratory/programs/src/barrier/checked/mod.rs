//! The barriers under loom, exhaustively up to a bound, and under shuttle with more members. No member leaves an
//! episode (use of the barrier) before all have arrived, all members see the earlier work of the others, and no member
//! waits forever.

mod few;
mod many;

use crate::barrier::Barrier;
use manycore_check::team;
use manycore_platform::{Ordering, Platform};
use manycore_team::barrier::Placement;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

/// A placement of `members` members that sleep after `patience` microseconds.
fn placement(members: usize, patience: u64) -> Placement {
    Placement::flat(members).with_patience(Duration::from_micros(patience))
}

/// The episode of each member. The atomics are from the standard library, so that they are no step of the model. They
/// need no ordering, since the checkers run one thread at a time.
struct Attendance(Vec<AtomicU32>);

impl Attendance {
    fn new(members: usize) -> Self {
        Self((0..members).map(|_| AtomicU32::new(0)).collect())
    }

    fn arrives(&self, rank: usize, episode: u32) {
        self.0[rank].store(episode, Ordering::Relaxed);
    }

    /// A member calls this when it has left `episode`. Checks that all have arrived at the episode, and that none has
    /// left the next.
    fn left(&self, episode: u32) {
        for (rank, at) in self.0.iter().enumerate() {
            let at = at.load(Ordering::Relaxed);
            assert!(at >= episode, "one leaves {episode} before {rank} arrives");
            assert!(at <= episode + 1, "{rank} is at {at}, and one at {episode}");
        }
    }
}

/// The members of a new barrier meet a number of times. Before and after each episode they call the
/// given functions with their rank and the episode, from 1.
fn meet<P: Platform, B: Barrier<P>>(
    barrier: &B,
    members: usize,
    episodes: u32,
    before: impl Fn(usize, u32) + Sync,
    after: impl Fn(usize, u32) + Sync,
) {
    let attendance = Attendance::new(members);
    team::<P>(members, |rank| {
        let mut member = barrier.member(rank);
        for episode in 1..=episodes {
            before(rank, episode);
            attendance.arrives(rank, episode);
            barrier.wait(&mut member);
            attendance.left(episode);
            after(rank, episode);
        }
    });
}
