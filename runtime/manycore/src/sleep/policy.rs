//! What a pool and a sleep policy ask of each other.

use super::{Idle, Latch, Woken};
use manycore_platform::Platform;
use std::sync::Arc;

/// What the workers of a pool have done about sleeping, since it was made.
///
/// ```
/// let pool = manycore::Pool::builder().threads(1).build()?;
/// assert_eq!(pool.sleep_tally().wakeups, 0);
/// # Ok::<(), manycore::BuildError>(())
/// ```
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
    /// The core group of each worker.
    pub groups: &'a [u32],
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

    /// Whether something waits that this worker must see to though others are awake: its own
    /// mail, a loop that was posted since the last search, the pool's end, a thread that wants its place.
    /// Unless said otherwise it leaves nothing to others.
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
    fn seen(&self) -> u32;

    /// Whether the worker may take anything; if not, it waits for a stolen job,
    /// and takes descendants of that.
    fn is_free(&self) -> bool;

    /// Whether at some time `since` then the pool's threads may have had work for all of its
    /// cores, as a hint: a thread that is late may have waited for one of them.
    fn has_filled_cores(&self, since: u64) -> bool {
        let _ = since;
        false
    }

    /// Whether fewer workers are awake than there are cores, as seen a moment ago. If not, a
    /// worker that spins may keep a thread from running that the pool knows nothing of: one that
    /// waits for what a job sends it.
    fn has_spare_core(&self) -> bool {
        true
    }
}

/// How the idle workers of a pool wait for jobs and are woken: part of the pool's
/// [world](crate::World).
///
/// The one of applications is [`Nearest`](crate::sleep::Nearest); those that it is compared
/// with are in the crate `manycore-programs`.
///
/// # The pool's part
///
/// A worker without work calls [`start_looking`](Self::start_looking), then
/// searches; after each search without success it calls
/// [`no_work_found`](Self::no_work_found), which may yield, announce itself, or
/// sleep; when it has found a job, or what it waits for has come, it calls
/// [`work_found`](Self::work_found).
///
/// A worker that pushes on its own deque calls [`posted`](Self::posted) after the push;
/// a thread that makes work available otherwise calls [`injected`](Self::injected) after
/// that; one that sets a latch whose owner sleeps calls [`notify`](Self::notify).
pub trait Sleep<P: Platform>: Sized + Send + Sync + 'static {
    /// Whether [`posted`](Self::posted) wants to know if the deque was empty,
    /// which takes a look at two lines.
    const ASKS_EMPTY: bool = true;

    /// What a worker remembers while it looks for work.
    type Idle;

    /// Names its words, for a simulator's accounts.
    fn name(&self);

    /// Worker `poster` has pushed a job; its deque `was_empty` before. This is
    /// on the path of every `join`. `true`: nobody is there for it, and a place is
    /// [vacant](Self::set_vacant).
    #[must_use]
    fn posted(&self, poster: usize, was_empty: bool) -> bool;

    /// [`posted`](Self::posted), for a policy that need not know who it is as long
    /// as nobody sleeps.
    #[inline(always)]
    #[must_use]
    fn posted_by(&self, poster: impl FnOnce() -> usize, was_empty: bool) -> bool {
        self.posted(poster(), was_empty)
    }

    /// `jobs` jobs were put where any worker finds them, near worker `near`;
    /// none `was_empty` before. Contains a full fence. Returns as
    /// [`posted`](Self::posted).
    #[must_use]
    fn injected(&self, near: usize, jobs: u32, was_empty: bool) -> bool;

    /// Says whether a place is vacant: a worker could be had if all others are busy.
    /// From then on it is like a sleeper, the last to be called.
    fn set_vacant(&self, vacant: bool) {
        let _ = vacant;
    }

    /// Whether posters are told of a vacant place. If not, the pool finds a worker at once.
    fn tells_of_vacancies(&self) -> bool {
        false
    }

    /// Wakes `worker` if it sleeps.
    fn notify(&self, worker: usize);

    /// Workers asleep, as a hint.
    fn sleepers(&self) -> u32;

    /// Wakes up to `count` sleepers, near worker `near` first if it can.
    fn wake_any(&self, near: usize, count: u32);

    /// `worker` begins to look for work.
    fn start_looking(&self, worker: usize) -> Self::Idle;

    /// `worker` stops looking: it has work, or need not look any longer. Returns as
    /// [`posted`](Self::posted), for the jobs that are left.
    #[must_use]
    fn work_found(&self, worker: usize, idle: Self::Idle) -> bool;

    /// `worker` has searched once more in vain. Returns when it should search
    /// again, the latch may be set then; and whether it has slept.
    fn no_work_found(
        &self,
        worker: usize,
        idle: &mut Self::Idle,
        latch: &Latch<P>,
        scan: &dyn Scan,
    ) -> bool;

    /// What the worker was woken by, for the loops, if the policy knows.
    fn woken(idle: &Self::Idle) -> Option<Woken> {
        let _ = idle;
        None
    }

    /// The worker has just helped with a loop.
    fn helped(idle: &mut Self::Idle) {
        let _ = idle;
    }

    /// What the workers have done about sleeping.
    fn tally(&self) -> Tally;
}
