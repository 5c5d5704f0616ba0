//! What a pool and its sleep policy know of each other.

use super::{Idle, Seen};
use manycore_platform::Platform;
use std::sync::Arc;

/// What the workers of a pool have done about sleeping, since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tally {
    /// Times a worker blocked.
    pub sleeps: u64,
    /// Times a worker was woken by another.
    pub wakeups: u64,
    /// Times a worker's watchdog found work that it should have been woken
    /// for (only as published).
    pub recovered: u64,
}

/// What is known of a pool when its policy is made.
pub struct Setup<'a, P: Platform> {
    /// The cluster of each worker: cores that are near one another.
    pub clusters: &'a [u32],
    /// What is known of the loops that the pool is given.
    pub idle: &'a Arc<Idle<P>>,
}

/// What a worker finds that looks once more after a nap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// Nothing.
    Nothing,
    /// Jobs that nobody has begun.
    Jobs,
    /// Something that [this worker](Scan::wants_it) must see to.
    ForIt,
}

/// What a worker that is about to sleep may still look at.
pub trait Scan {
    /// Whether something waits that did not come from a worker's own deque:
    /// in the injector, in this worker's mailbox, a posted loop, the pool's end.
    fn injected(&self) -> bool;

    /// Whether anything waits at all: as [`injected`](Self::injected), or a job
    /// on any worker's deque.
    fn anything(&self) -> bool;

    /// Whether something waits that this worker must see to though others are awake: its own mail,
    /// a loop that was posted since the last search, the pool's end, a thread that wants its
    /// permit. Unless said otherwise it leaves nothing to others.
    fn wants_it(&self) -> bool {
        true
    }

    /// Notes the event count again, after a nap, and looks what has been left meanwhile.
    fn look_again(&self) -> Left {
        match self.anything() {
            true => Left::Jobs,
            false => Left::Nothing,
        }
    }

    /// The event count before the last search: if it has moved on, something
    /// was posted since.
    fn seen(&self) -> Seen;

    /// Whether the worker may take anything; if not, it waits for a stolen job,
    /// and takes descendants of that.
    fn is_free(&self) -> bool;

    /// Whether at some time `since` then the pool's threads may have had work for all of its
    /// cores, as a hint: a thread that is late may have waited for one of them.
    fn has_filled_cores(&self, since: u64) -> bool {
        let _ = since;
        false
    }

    /// Whether a worker that is at work is blocked in the system, as far as some of them show.
    fn is_any_blocked(&self) -> bool {
        false
    }

    /// Whether fewer workers are awake than there are cores, as seen a moment ago. If not, a
    /// worker that spins may keep a thread from running that the pool knows nothing of: one that
    /// waits for what a job sends it.
    fn has_spare_core(&self) -> bool {
        true
    }
}
