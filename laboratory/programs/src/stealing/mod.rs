//! Deques of tasks, one a worker, with tasks for idle workers to take: the work-stealing
//! disciplines of Park 2013 (sections 5.2 and 6.2), natively and on the simulated chip.
//!
//! One file a discipline; [`Discipline`] and [`TaskDeque`] are what they have in common.
//! The pool does not use them: its own stack of jobs is for joins.
//!
//! | name | tasks are | a worker that has none |
//! |---|---|---|
//! | `global-queue` | in one queue with a mutex | sleeps until there is one |
//! | `random` | in a deque with a mutex a worker | tries others' at random |
//! | `offer-mutex` | in a deque with a mutex a worker | broadcasts a request; takes from a worker that offers |
//! | `offer-cas` | in a queue a worker, whose items are taken by compare-and-swap | broadcasts a request; takes the item that is offered |
//!
//! Table 5.2 of the thesis is found by its names: `DWorkPileMaster` is a [`Discipline`],
//! `DWorkPile` a [`TaskDeque`].

#[cfg(test)]
mod checked;
mod deque;
mod distribution;
mod global_queue;
mod offers;
mod patience;
mod random;
mod ranges;
mod registry;
mod rng;
mod termination;
#[cfg(test)]
mod termination_checked;

pub use distribution::Distribution;
pub use global_queue::{GlobalDeque, GlobalQueue};
pub use offers::{OfferCas, OfferDeque, OfferMutex, OfferStealing};
pub use random::{RandomDeque, RandomStealing};
pub use ranges::{RangeDeque, RangeStealing};
pub use registry::{DisciplineVisitor, disciplines, with_discipline};

use manycore_platform::Platform;
use manycore_team::barrier::Placement;
use std::num::NonZeroU64;

/// The work: an index, or a pointer. Deques do not look at it.
///
/// ```
/// use manycore_programs::stealing::Task;
///
/// let third = Task::new(3).unwrap();
/// assert_eq!(third.get(), 3);
/// ```
#[doc(alias = "IWorkTask")]
pub type Task = NonZeroU64;

/// A way to share tasks between a fixed number of workers. It is used once, until the tasks, and
/// the tasks that they put, are done.
///
/// ```
/// use manycore::Native;
/// use manycore_team::barrier::Placement;
/// use manycore_programs::stealing::{Discipline, GlobalQueue, TaskDeque, Task};
/// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
///
/// let discipline = GlobalQueue::<Native>::new(&Placement::flat(2), 1);
/// let sum = AtomicU64::new(0);
/// std::thread::scope(|scope| {
///     for rank in 0..2 {
///         let (discipline, sum) = (&discipline, &sum);
///         scope.spawn(move || {
///             let mut deque = discipline.deque(rank);
///             if rank == 0 {
///                 deque.fill([Task::new(20).unwrap()]);
///             }
///             // Each task is followed by the smaller ones.
///             while let Some(task) = deque.get() {
///                 sum.fetch_add(task.get(), Relaxed);
///                 Task::new(task.get() - 1).into_iter().for_each(|next| deque.put(next));
///             }
///         });
///     }
/// });
/// assert_eq!(sum.into_inner(), 20 * 21 / 2);
/// ```
#[doc(alias = "DWorkPileMaster")]
pub trait Discipline<P: Platform>: Send + Sync + Sized + 'static {
    /// As in `manycore study stealing --only NAME`.
    const NAME: &'static str;

    /// One worker's part.
    type Deque: TaskDeque<P>;

    /// Deques for the ranks of `placement`, all empty. Random choices follow from `seed`, the rank,
    /// and the course of the run.
    fn new(placement: &Placement, seed: u64) -> Self;

    /// The deque of that rank, made once for each, by the thread that will use it: on its core, if
    /// the discipline uses a broadcast network. While such a deque is in use, it owns the filter of
    /// its core. Messages of other channels with the signature 0 are heard there, and others
    /// perhaps.
    ///
    /// # Panics
    ///
    /// If there is no such rank.
    #[doc(alias = "generateLocalWorkPile")]
    fn deque(&self, rank: usize) -> Self::Deque;
}

/// One worker's end of a [`Discipline`].
///
/// Each put task is got once. The worker that gets it sees the work before the put.
///
/// ```
/// use manycore::Native;
/// use manycore_team::barrier::Placement;
/// use manycore_programs::stealing::{Discipline, GlobalQueue, TaskDeque, Task};
///
/// let mut deque = GlobalQueue::<Native>::new(&Placement::flat(1), 0).deque(0);
/// deque.put(Task::MIN);
/// assert_eq!((deque.get(), deque.get()), (Some(Task::MIN), None));
/// ```
#[doc(alias = "DWorkPile")]
pub trait TaskDeque<P: Platform>: Send + 'static {
    /// Adds a task, while this worker has one in hand or before its first
    /// [`get`](Self::get).
    fn put(&mut self, task: Task);

    /// Adds tasks that are there from the beginning.
    fn fill(&mut self, tasks: impl IntoIterator<Item = Task>) {
        tasks.into_iter().for_each(|task| self.put(task));
    }

    /// The next task, of this worker or of another. It also marks the task before as done: it will
    /// put no more.
    ///
    /// Waits while there is no task, but a worker that may put one. `None` means that all tasks are
    /// done, all their work happened before, and it will be `None` again; or that a worker has
    /// called [`finish`](Self::finish). So each worker must call it until it is `None`, and all
    /// must have come before it is.
    fn get(&mut self) -> Option<Task>;

    /// Answers the others' requests. [`get`](Self::get) does; long tasks may.
    #[doc(alias = "process_pending_request")]
    fn process_pending_requests(&mut self) {}

    /// Has requests come through according to how many tasks are here.
    /// [`put`](Self::put) and [`get`](Self::get) do.
    fn update_filter(&mut self) {}

    /// Ends it for all: `get` is `None` once its worker has heard of it, and tasks
    /// that are left are not done.
    fn finish(&mut self);

    /// The counts of this worker so far.
    fn counts(&self) -> Counts;
}

/// The steps of a worker to get work.
///
/// ```
/// use manycore_programs::stealing::Counts;
///
/// let both = Counts { steals: 1, ..Counts::default() } + Counts { steals: 2, ..Counts::default() };
/// assert_eq!(both.steals, 3);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Tasks taken from other workers' deques.
    pub steals: u64,
    /// Times it tried to take one.
    pub attempts: u64,
    /// Messages that it sent.
    pub sent: u64,
    /// Messages that it took from its port.
    pub received: u64,
}

impl std::ops::Add for Counts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            steals: self.steals + other.steals,
            attempts: self.attempts + other.attempts,
            sent: self.sent + other.sent,
            received: self.received + other.received,
        }
    }
}
