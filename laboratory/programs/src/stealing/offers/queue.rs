use super::super::Task;
use manycore_platform::Platform;

/// What a victim keeps its tasks in, and how it offers them.
pub trait OfferedQueue<P: Platform>: Send + 'static {
    /// The name of the discipline.
    const NAME: &'static str;

    /// What thieves see of it.
    type Shared: Send + Sync;

    /// An empty one.
    fn shared() -> Self::Shared;

    /// The owner's side of `all[rank]`.
    fn new(rank: usize, all: &[Self::Shared]) -> Self;

    /// Adds a task at the owner's end.
    fn put(&mut self, mine: &Self::Shared, task: Task);

    /// Takes the task at the owner's end; an acquire, if there is none (see `Termination`).
    fn pop(&mut self, mine: &Self::Shared) -> Option<Task>;

    /// How many tasks there are, as far as the owner knows.
    fn length(&self, mine: &Self::Shared) -> usize;

    /// Before it answers the requests that have come.
    fn begin_offering(&mut self, mine: &Self::Shared);

    /// Something for one thief, none twice since the last
    /// [`begin_offering`](Self::begin_offering).
    fn offer(&mut self, mine: &Self::Shared) -> Option<u64>;

    /// What a thief goes by when it chooses among offers: it takes one of the greatest.
    fn worth(_offer: u64) -> u64 {
        0
    }

    /// Takes what was offered, if it is still there; a release, if it is (see `Termination`).
    ///
    /// # Safety
    ///
    /// A queue of `all` has made this offer.
    unsafe fn take(all: &[Self::Shared], offer: u64) -> Option<Task>;
}
