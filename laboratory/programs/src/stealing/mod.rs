//! The work-stealing disciplines of Park 2013 (sections 5.2 and 6.2), natively and on the simulated chip:
//! each worker has a deque of tasks, and idle workers take tasks from others.
//!
//! Each discipline has a file, and implements [`Discipline`] and [`TaskDeque`]. The pool does not use them:
//! its own stack of jobs is for joins.
//!
//! | name | tasks are | a worker without tasks |
//! |---|---|---|
//! | `global-queue` | in one queue with a mutex | sleeps until the queue has a task |
//! | `random` | in a deque and mutex per worker | tries the deques of others at random |
//! | `offer-mutex` | in a deque and mutex per worker | broadcasts a request; takes from a worker that offers tasks |
//! | `offer-cas` | in a queue per worker, taken by compare-and-swap | broadcasts a request; takes the offered item |
//!
//! The names of the thesis's table 5.2 are search aliases: `DWorkPileMaster` is a [`Discipline`],
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

/// A task: an index, or a pointer. Deques do not look at its value.
///
/// ```
/// use manycore_programs::stealing::Task;
///
/// let third = Task::new(3).unwrap();
/// assert_eq!(third.get(), 3);
/// ```
#[doc(alias = "IWorkTask")]
pub type Task = NonZeroU64;

/// A way to share tasks between a fixed number of workers. It is used for one run. The run ends when the first tasks,
/// and all tasks that tasks add, are done.
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
///             // Each task puts the smaller tasks.
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
    /// The name, as in `manycore study stealing --only NAME`.
    const NAME: &'static str;

    /// One worker's deque.
    type Deque: TaskDeque<P>;

    /// Makes empty deques for the ranks (numbers of workers) of `placement`. Random choices follow from `seed`, the
    /// rank, and the course of the run.
    fn new(placement: &Placement, seed: u64) -> Self;

    /// Makes the deque of a rank, once. The thread that will use the deque calls this. If the discipline uses a
    /// broadcast network, the thread must already be on its core, and the deque owns the core's message filter while
    /// the deque is in use. The filter also passes messages of other channels: those with the signature 0, and perhaps
    /// more.
    ///
    /// # Panics
    ///
    /// If there is no such rank.
    #[doc(alias = "generateLocalWorkPile")]
    fn deque(&self, rank: usize) -> Self::Deque;
}

/// One worker's end of a [`Discipline`].
///
/// Each task that is put is taken once. The worker that takes the task sees all work from before the call of
/// [`put`](Self::put).
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
    /// Adds a task. The worker calls this while it runs a task, or before its first call of [`get`](Self::get).
    fn put(&mut self, task: Task);

    /// Adds the initial tasks.
    fn fill(&mut self, tasks: impl IntoIterator<Item = Task>) {
        tasks.into_iter().for_each(|task| self.put(task));
    }

    /// Takes the next task, from this worker or another. The call marks the worker's previous task as done: that task
    /// adds no more tasks.
    ///
    /// Waits while there is no task but a worker may still put one. Returns `None` when all tasks are done. Their work
    /// then happened before the return, and later calls return `None` too. Also returns `None` after a worker has
    /// called [`finish`](Self::finish). Each worker must call this until the result is `None`, since all tasks count as
    /// done only after all workers have called this.
    fn get(&mut self) -> Option<Task>;

    /// Answers requests of other workers. [`get`](Self::get) calls this. Long tasks may call it too.
    #[doc(alias = "process_pending_request")]
    fn process_pending_requests(&mut self) {}

    /// Makes the network's filter pass or stop requests, depending on the number of tasks in this deque.
    /// [`put`](Self::put) and [`get`](Self::get) call this.
    fn update_filter(&mut self) {}

    /// Ends the run for all workers. A worker's `get` returns `None` once the worker learns of the call. The remaining
    /// tasks are not done.
    fn finish(&mut self);

    /// This worker's counts so far.
    fn counts(&self) -> Counts;
}

/// How often a worker has taken each kind of step to get work.
///
/// ```
/// use manycore_programs::stealing::Counts;
///
/// let both = Counts { steals: 1, ..Counts::default() } + Counts { steals: 2, ..Counts::default() };
/// assert_eq!(both.steals, 3);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Tasks that the worker took from other deques.
    pub steals: u64,
    /// Attempts to take a task from another worker.
    pub attempts: u64,
    /// Messages that the worker sent.
    pub sent: u64,
    /// Messages that the worker took from its port.
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
