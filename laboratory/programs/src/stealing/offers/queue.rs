use super::super::Task;
use manycore_platform::Platform;

/// A victim's queue of tasks, and its offers.
pub trait OfferedQueue<P: Platform>: Send + 'static {
    /// The name of the discipline.
    const NAME: &'static str;

    /// The part that thieves see.
    type Shared: Send + Sync;

    /// An empty one.
    fn shared() -> Self::Shared;

    /// The owner's side of `all[rank]`.
    fn new(rank: usize, all: &[Self::Shared]) -> Self;

    /// Adds a task at the owner's end.
    fn put(&mut self, mine: &Self::Shared, task: Task);

    /// Takes the task at the owner's end. If there is none, this is an acquire (see `Termination`).
    fn pop(&mut self, mine: &Self::Shared) -> Option<Task>;

    /// How many tasks there are, as far as the owner knows.
    fn length(&self, mine: &Self::Shared) -> usize;

    /// Called before it answers the pending requests.
    fn begin_offering(&mut self, mine: &Self::Shared);

    /// An offer for one thief. No offer is made twice since the last
    /// [`begin_offering`](Self::begin_offering).
    fn offer(&mut self, mine: &Self::Shared) -> Option<u64>;

    /// The value of an offer for a thief, which takes an offer of the greatest value.
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
