//! Lets the laboratory replace the sleep policy [`Nearest`] (feature `policies`). Without the feature this
//! module is absent, and each pool's policy has the type [`Nearest`].

use super::nearest;
use super::policy::{Scan, Setup, Tally};
use super::{Latch, Nearest, Woken};
use crate::clusters::Invited;
use manycore_platform::Platform;

/// The state that another policy keeps for a worker that looks for work.
pub type Remembered = [u32; 2];

/// The constructor of another policy.
pub type Make<P> = fn(&Setup<'_, P>) -> Box<dyn Sleep<P>>;

/// How the idle workers of a pool wait for jobs and are woken.
///
/// # The pool's part
///
/// A worker without work calls [`start_looking`](Self::start_looking), then searches. After each search in
/// vain, the worker calls [`no_work_found`](Self::no_work_found), which may yield, announce a sleep, or sleep.
/// Once the worker has found a job, or no longer needs one, it calls [`work_found`](Self::work_found).
///
/// A worker that pushes on its own deque calls [`posted`](Self::posted) after the push. A thread that makes
/// work available in another way then calls [`injected`](Self::injected). A thread that sets the latch of a
/// sleeper calls [`notify`](Self::notify).
pub trait Sleep<P: Platform>: Send + Sync {
    /// Names the policy's atomic words for a simulator's statistics.
    fn name(&self);

    /// Worker `poster` has pushed a job. `was_empty` says whether its deque held no job before.
    fn posted(&self, poster: usize, was_empty: bool);

    /// `jobs` jobs that any worker can find were added near worker `near`. `was_empty` says whether there were no such
    /// jobs before. Makes a full fence.
    fn injected(&self, near: usize, jobs: u32, was_empty: bool);

    /// Wakes `worker` if it sleeps.
    fn notify(&self, worker: usize);

    /// The number of sleeping workers, as a hint.
    fn sleepers(&self) -> u32;

    /// Wakes up to `count` sleepers, near worker `near` first if it can.
    fn wake_any(&self, near: usize, count: u32);

    /// `worker` begins to look for work.
    fn start_looking(&self, worker: usize) -> Remembered;

    /// `worker` stops looking: it has work, or need not look any longer.
    fn work_found(&self, worker: usize, remembered: Remembered);

    /// `worker` has searched once more in vain. The call waits until the worker should search again, or until the latch
    /// may be set. Returns whether the worker has slept.
    fn no_work_found(
        &self,
        worker: usize,
        remembered: &mut Remembered,
        latch: &Latch<P>,
        scan: &dyn Scan,
    ) -> bool;

    /// Counts of the workers' sleeps and wake-ups.
    fn tally(&self) -> Tally;
}

/// A pool's policy.
pub struct Policy<P: Platform>(Which<P>);

enum Which<P: Platform> {
    Nearest(Nearest<P>),
    Other(Box<dyn Sleep<P>>),
}

/// A worker that looks for work.
pub struct Looking(Looks);

enum Looks {
    Nearest(nearest::Looking),
    Other(Remembered),
}

/// Calls a method of the pool's policy.
macro_rules! of_either {
    ($policy:expr, $call:ident($($argument:expr),*)) => {
        match &$policy.0 {
            Which::Nearest(nearest) => nearest.$call($($argument),*),
            Which::Other(other) => other.$call($($argument),*),
        }
    };
}

impl<P: Platform> Policy<P> {
    /// Makes a policy with `other`, or makes [`Nearest`] if `other` is `None`.
    pub fn new(setup: &Setup<'_, P>, other: Option<Make<P>>) -> Self {
        Self(match other {
            None => Which::Nearest(Nearest::new(setup)),
            Some(make) => Which::Other(make(setup)),
        })
    }

    pub(crate) fn name(&self) {
        of_either!(self, name());
    }

    #[inline(always)]
    pub(crate) fn asks_empty(&self) -> bool {
        match &self.0 {
            Which::Nearest(nearest) => nearest.asks_empty(),
            Which::Other(_) => true,
        }
    }

    /// A worker has pushed a job. `was_empty` says whether its deque held no job before. Returns `true` if no worker is
    /// awake for the job and a permit (a right to run jobs) is vacant.
    #[inline(always)]
    #[must_use]
    pub fn posted_by(&self, poster: impl FnOnce() -> usize, was_empty: bool) -> bool {
        match &self.0 {
            Which::Nearest(nearest) => nearest.posted_by(poster, was_empty),
            Which::Other(other) => {
                other.posted(poster(), was_empty);
                false
            }
        }
    }

    pub(crate) fn injected(&self, near: usize, jobs: u32, was_empty: bool) -> bool {
        match &self.0 {
            Which::Nearest(nearest) => nearest.injected(near, jobs, was_empty),
            Which::Other(other) => {
                other.injected(near, jobs, was_empty);
                false
            }
        }
    }

    pub(crate) fn set_vacant(&self, vacant: bool) {
        if let Which::Nearest(nearest) = &self.0 {
            nearest.set_vacant(vacant);
        }
    }

    pub(crate) fn tells_of_vacancies(&self) -> bool {
        match &self.0 {
            Which::Nearest(nearest) => nearest.tells_of_vacancies(),
            Which::Other(_) => false,
        }
    }

    pub(crate) fn notify(&self, worker: usize) {
        of_either!(self, notify(worker));
    }

    /// The number of sleeping workers, as a hint.
    pub fn sleepers(&self) -> u32 {
        of_either!(self, sleepers())
    }

    pub(crate) fn borrow(&self) -> Option<usize> {
        match &self.0 {
            Which::Nearest(nearest) => nearest.borrow(),
            Which::Other(_) => None,
        }
    }

    pub(crate) fn lay_back(&self, worker: usize, scan: &dyn Scan) {
        if let Which::Nearest(nearest) = &self.0 {
            nearest.lay_back(worker, scan);
        }
    }

    pub(crate) fn give_back(&self, worker: usize) {
        if let Which::Nearest(nearest) = &self.0 {
            nearest.give_back(worker);
        }
    }

    pub(crate) fn is_lent(&self, worker: usize) -> bool {
        match &self.0 {
            Which::Nearest(nearest) => nearest.is_lent(worker),
            Which::Other(_) => false,
        }
    }

    pub(crate) fn sleepers_in(&self, invited: Invited) -> u32 {
        match &self.0 {
            Which::Nearest(nearest) => nearest.sleepers_in(invited),
            Which::Other(other) => other.sleepers(),
        }
    }

    pub(crate) fn wake_any(&self, near: usize, count: u32, within: Option<Invited>) {
        match &self.0 {
            Which::Nearest(nearest) => nearest.wake_any(near, count, within),
            Which::Other(other) => other.wake_any(near, count),
        }
    }

    /// `worker` begins to look for work.
    pub fn start_looking(&self, worker: usize) -> Looking {
        Looking(match &self.0 {
            Which::Nearest(nearest) => Looks::Nearest(nearest.start_looking(worker)),
            Which::Other(other) => Looks::Other(other.start_looking(worker)),
        })
    }

    /// `worker` stops looking. Returns the same as [`posted_by`](Self::posted_by), for the jobs that are left.
    #[must_use]
    pub fn work_found(&self, worker: usize, looking: Looking) -> bool {
        match (&self.0, looking.0) {
            (Which::Nearest(nearest), Looks::Nearest(looking)) => {
                nearest.work_found(worker, looking)
            }
            (Which::Other(other), Looks::Other(remembered)) => {
                other.work_found(worker, remembered);
                false
            }
            _ => unreachable!("a worker looks by the policy of its pool"),
        }
    }

    /// `worker` has searched once more in vain. Returns whether it has slept.
    pub fn no_work_found(
        &self,
        worker: usize,
        looking: &mut Looking,
        latch: &Latch<P>,
        scan: &dyn Scan,
    ) -> bool {
        match (&self.0, &mut looking.0) {
            (Which::Nearest(nearest), Looks::Nearest(looking)) => {
                nearest.no_work_found(worker, looking, latch, scan)
            }
            (Which::Other(other), Looks::Other(remembered)) => {
                other.no_work_found(worker, remembered, latch, scan)
            }
            _ => unreachable!("a worker looks by the policy of its pool"),
        }
    }

    /// Counts of the workers' sleeps and wake-ups.
    pub fn tally(&self) -> Tally {
        of_either!(self, tally())
    }
}

impl Looking {
    pub(crate) fn woken(&self) -> Option<Woken> {
        match &self.0 {
            Looks::Nearest(looking) => looking.woken(),
            Looks::Other(_) => None,
        }
    }

    pub(crate) fn helped(&mut self) {
        if let Looks::Nearest(looking) = &mut self.0 {
            looking.helped();
        }
    }
}
