use super::super::Task;
use manycore_platform::Platform;

/// A victim's queue of tasks, and its offers (messages that name a task to take).
pub trait OfferedQueue<P: Platform>: Send + 'static {
    /// The name of the discipline (stealing algorithm).
    const NAME: &'static str;

    /// The part that thieves see.
    type Shared: Send + Sync;

    /// An empty shared part.
    fn shared() -> Self::Shared;

    /// The owner's side of `all[rank]`, for worker `rank`.
    fn new(rank: usize, all: &[Self::Shared]) -> Self;

    /// Adds a task at the owner's end.
    fn put(&mut self, mine: &Self::Shared, task: Task);

    /// Takes the task at the owner's end. If there is none, the call is an acquire (see `Termination`).
    fn pop(&mut self, mine: &Self::Shared) -> Option<Task>;

    /// The number of tasks, as far as the owner knows.
    fn length(&self, mine: &Self::Shared) -> usize;

    /// The owner calls this before it answers the pending requests.
    fn begin_offering(&mut self, mine: &Self::Shared);

    /// Makes an offer for one thief. Between calls of [`begin_offering`](Self::begin_offering) all offers
    /// differ.
    fn offer(&mut self, mine: &Self::Shared) -> Option<u64>;

    /// The value of an offer. A thief takes an offer of the greatest value.
    fn worth(_offer: u64) -> u64 {
        0
    }

    /// Takes the offered task, if it is still there. The taking is a release (see `Termination`).
    ///
    /// # Safety
    ///
    /// One of the queues in `all` has made this offer.
    unsafe fn take(all: &[Self::Shared], offer: u64) -> Option<Task>;
}
