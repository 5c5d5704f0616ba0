//! How a job gives way: it runs another job of the pool.

use super::leapfrog::PATIENCE;
use super::search::Found;
use super::worker::Worker;
use manycore_platform::Platform;

/// The work that [`yield_now`](crate::yield_now) found.
///
/// ```
/// let pool = manycore::Pool::builder().threads(1).build()?;
/// assert_eq!(pool.install(|| pool.yield_now()), Some(manycore::Yield::Idle));
/// # Ok::<(), manycore::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Yield {
    /// A job was found, and has run.
    Executed,
    /// No job was found.
    Idle,
}

impl<P: Platform> Worker<P> {
    #[inline(never)]
    pub(super) fn yield_now(&self) -> Yield {
        self.run_one(|worker| {
            // Searches until patience has ended, since there may be no second call.
            (0..=PATIENCE)
                // A look is cheaper than a vain search.
                .take_while(|_| worker.sees_jobs())
                .find_map(|search| {
                    worker.note_posts();
                    worker.find_any(search < PATIENCE)
                })
        })
    }

    #[inline(never)]
    pub(super) fn yield_local(&self) -> Yield {
        self.run_one(Self::find_own)
    }

    fn run_one(&self, find: impl FnOnce(&Self) -> Option<Found>) -> Yield {
        match find(self) {
            Some(found) => {
                self.run(found);
                Yield::Executed
            }
            None => Yield::Idle,
        }
    }

    /// Whether there is a job for this worker, as seen a moment ago.
    fn sees_jobs(&self) -> bool {
        let registry = self.registry();
        self.has_mail() || registry.has_jobs() || registry.shared().is_terminating()
    }

    pub(super) fn has_pending(&self) -> bool {
        !self.stack().is_empty() || !self.spawned().is_empty()
    }
}
