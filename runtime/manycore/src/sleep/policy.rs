//! The interface between a pool and its sleep policy.

use super::{Idle, Seen};
use manycore_platform::Platform;
use std::sync::Arc;

/// Counts of sleeps and wake-ups of a pool's workers since the pool's start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tally {
    /// How often a worker blocked.
    pub sleeps: u64,
    /// How often a thread woke a worker.
    pub wakeups: u64,
    /// How often a worker's watchdog found work for which no thread had woken the worker. Only the published policies
    /// of other runtimes count this.
    pub recovered: u64,
}

/// A pool's data for its sleep policy.
pub struct Setup<'a, P: Platform> {
    /// The cluster of each worker. A cluster is a group of cores that are near one another.
    pub clusters: &'a [u32],
    /// Data about the pool's loops and idle times.
    pub idle: &'a Arc<Idle<P>>,
}

/// What a worker has seen after a nap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// The worker has seen no work.
    Nothing,
    /// The worker has seen jobs that no worker has begun.
    Jobs,
    /// The worker has seen work that [it must do itself](Scan::wants_it).
    ForIt,
}

/// How a worker that is about to sleep looks for work.
pub trait Scan {
    /// Whether there is work outside the workers' deques: a job in the injector or this worker's mailbox, a posted
    /// loop, or the pool's end.
    fn injected(&self) -> bool;

    /// Whether there is any work: work as in [`injected`](Self::injected), or a job on any worker's deque.
    fn anything(&self) -> bool;

    /// Whether this worker must act even if other workers are awake. The reasons are jobs that were sent to it, a loop
    /// that was posted since the last search, the pool's end, or a thread that wants its permit (the right to run
    /// jobs). By default the worker leaves nothing to other workers.
    fn wants_it(&self) -> bool {
        true
    }

    /// After a nap, reads the event count again (each post changes it) and looks for work that other workers have left.
    fn look_again(&self) -> Left {
        match self.anything() {
            true => Left::Jobs,
            false => Left::Nothing,
        }
    }

    /// The event count before the last search. If it has changed, something was posted since.
    fn seen(&self) -> Seen;

    /// Whether the worker may take any job. If not, it waits for a stolen job and takes only that job's
    /// descendants.
    fn is_free(&self) -> bool;

    /// Whether the pool's threads may have had work for all its cores at some time since `since`. This is a hint: if
    /// so, a thread that runs late may have waited for one of these cores.
    fn has_filled_cores(&self, since: u64) -> bool {
        let _ = since;
        false
    }

    /// Whether a worker is blocked in the system. This looks at a sample of the workers at work.
    fn is_any_blocked(&self) -> bool {
        false
    }

    /// Whether fewer workers than cores were awake a moment ago. If this is not so, a spinning worker may delay a
    /// thread outside the pool that waits for a message from a job.
    fn has_spare_core(&self) -> bool {
        true
    }
}
