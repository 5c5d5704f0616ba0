//! The interface between a pool and its sleep policy.

use super::{Idle, Seen};
use manycore_platform::Platform;
use std::sync::Arc;

/// Counts of the sleeps and wake-ups of a pool's workers since its start.
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

/// A pool's data for its policy.
pub struct Setup<'a, P: Platform> {
    /// The cluster of each worker: cores that are near one another.
    pub clusters: &'a [u32],
    /// Data about the pool's loops.
    pub idle: &'a Arc<Idle<P>>,
}

/// The result of a worker's look after a nap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// Nothing.
    Nothing,
    /// Jobs that no worker has begun.
    Jobs,
    /// Something that [this worker](Scan::wants_it) must see to.
    ForIt,
}

/// The last looks of a worker that is about to sleep.
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

    /// Whether at some time since `since` the pool's threads may have had work for all of its
    /// cores, as a hint: a thread that is late may have waited for a core.
    fn has_filled_cores(&self, since: u64) -> bool {
        let _ = since;
        false
    }

    /// Whether a worker that is at work is blocked in the system, as far as some of them show.
    fn is_any_blocked(&self) -> bool {
        false
    }

    /// Whether fewer workers are awake than there are cores, as seen a moment ago. If not, a
    /// spinning worker may delay a thread outside the pool that waits for a message from a job.
    fn has_spare_core(&self) -> bool {
        true
    }
}
