//! A pool's activity, for observers.

use super::registry::Registry;
use crate::sleep::Tally;
use manycore_platform::Platform;

/// A pool at one moment: how much lies in its queues, and how many of its threads sleep.
///
/// The numbers are read one after the other while the pool goes on, so each of them is right, and
/// their sum may never have been.
///
/// ```
/// let pool = manycore::Pool::builder().threads(2).build()?;
/// let probe = manycore::seam::probe(&pool);
/// assert_eq!((probe.threads, probe.injected, probe.spawned), (2, 0, 0));
/// # Ok::<(), manycore::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Probe {
    /// How many threads run jobs at once, at most.
    pub threads: usize,
    /// Threads that sleep because they have found nothing to do.
    pub sleeping: usize,
    /// Calls and jobs from outside that no thread has begun.
    pub injected: usize,
    /// Spawned jobs that no thread has begun.
    pub spawned: usize,
    /// Threads with a half of a join that no thread has begun.
    pub joining: usize,
}

impl<P: Platform> Registry<P> {
    pub(crate) fn probe(&self) -> Probe {
        Probe {
            threads: self.shared().threads(),
            sleeping: self.sleepers() as usize,
            injected: self.injector().len(),
            spawned: (self.workers().iter())
                .map(|worker| worker.spawned().len())
                .sum(),
            joining: (self.workers().iter())
                .filter(|worker| !worker.stack().is_empty())
                .count(),
        }
    }

    /// The counts of the workers' sleeps and wake-ups since the pool was made.
    pub(crate) fn tally(&self) -> Tally {
        self.sleep().tally()
    }
}
