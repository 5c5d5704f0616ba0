//! A pool's activity, for observers.

use super::registry::Registry;
use crate::sleep::Tally;
use manycore_platform::Platform;

/// A pool at one moment: how many jobs its queues hold, and how many of its threads sleep.
///
/// The numbers are read one after the other while the pool runs. So each number was right at some moment, but perhaps
/// not all at the same moment.
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
    /// The largest number of threads that run jobs at once.
    pub threads: usize,
    /// The number of threads that sleep because they have found nothing to do.
    pub sleeping: usize,
    /// The number of calls and jobs from outside that no thread has begun.
    pub injected: usize,
    /// The number of spawned jobs that no thread has begun.
    pub spawned: usize,
    /// The number of threads with a half of a join that no thread has begun.
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
