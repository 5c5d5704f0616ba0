use super::Site;
use super::exchange::ValueExchange;
use super::words::{Episode, STOP};
use crate::fiber::Stacks;
use manycore_cores::elastic::Allotment;
use manycore_platform::{Atomic, Native, Ordering, Platform};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// Why a rank (one of a program's parts that meet at barriers) has stopped.
///
/// ```
/// use manycore_team::{Site, Step};
///
/// assert_ne!(Step::Arrived(Site::here()), Step::Done);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The rank was interrupted during its work. The team continues the rank later.
    Preempted,
    /// The rank has arrived at a barrier. The team continues the rank when all ranks have arrived.
    Arrived(Site),
    /// The rank is at its end. The run is over when all ranks are at their ends.
    Done,
}

/// The program of one rank. The team calls [`go_on`](Self::go_on) again and again, on any free
/// worker, until the call returns [`Step::Done`].
///
/// No two calls overlap, and the writes of one call are visible to the next. The work of all ranks
/// before a barrier is visible to all ranks after it.
///
/// Any code that has a turn may call `go_on`, for example a body made of other bodies. Such a body must return the
/// steps of the other bodies. Otherwise it breaks only the barriers of the other bodies. A
/// [`Stackful`](super::Stackful) notices this and panics.
///
/// A body is a state machine, with a phase and the progress in that phase. It checks
/// [`Turn::is_over`] every microsecond or so, and returns [`Step::Preempted`] when the turn is
/// over. A [`Cursor`](super::Cursor) does this for a loop. A body that does not check is never
/// preempted, so the team never divides its work between workers. A closure is a body too.
/// [`Stackful`](super::Stackful) is for code that cannot be written like this.
///
/// ```
/// use manycore_cores::elastic::Allotment;
/// use manycore_team::{Body, Cursor, Site, Step, Team, Turn};
/// use manycore_platform::Platform;
/// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
///
/// /// Adds up its share of the numbers, and then checks the sum of all.
/// struct Adder<'a> {
///     share: Cursor,
///     sum: &'a AtomicU64,
///     has_met: bool,
/// }
///
/// impl<P: Platform> Body<P> for Adder<'_> {
///     fn go_on(&mut self, turn: &Turn<'_, P>) -> Step {
///         if self.has_met {
///             assert_eq!(self.sum.load(Relaxed), 499_500);
///             return Step::Done;
///         }
///         let sum = self.sum;
///         let add = |block: std::ops::Range<usize>| {
///             sum.fetch_add(block.sum::<usize>() as u64, Relaxed);
///         };
///         if !self.share.go_on(turn, add) {
///             return Step::Preempted;
///         }
///         self.has_met = true;
///         Step::Arrived(Site::here())
///     }
/// }
///
/// let sum = AtomicU64::new(0);
/// let mut team: Team = Team::new(2, Allotment::new(2))?;
/// let report = team.run(5, |rank| Adder {
///     share: Cursor::share(1_000, 10, rank, 5),
///     sum: &sum,
///     has_met: false,
/// });
/// assert_eq!(report.episodes, 2);
/// # Ok::<(), manycore_team::BuildError>(())
/// ```
pub trait Body<P: Platform = Native>: Send {
    /// Continues the rank until it stops again.
    fn go_on(&mut self, turn: &Turn<'_, P>) -> Step;
}

impl<P: Platform, F: FnMut(&Turn<'_, P>) -> Step + Send> Body<P> for F {
    fn go_on(&mut self, turn: &Turn<'_, P>) -> Step {
        self(turn)
    }
}

/// A rank's turn on a worker.
///
/// A turn stays on its thread. Ranks write and read exchanged values through their turns, so no two
/// threads may have the same turn.
///
/// ```compile_fail,E0277
/// use manycore_team::{Step, Turn};
///
/// fn halves(turn: &Turn<'_>) -> Step {
///     std::thread::scope(|scope| scope.spawn(|| turn.is_over()).join()).unwrap();
///     Step::Done
/// }
/// ```
///
/// ```
/// use manycore_team::{Step, Turn};
///
/// fn halves(turn: &Turn<'_>) -> Step {
///     let rank = turn.rank();
///     std::thread::scope(|scope| scope.spawn(|| 2 * rank).join()).unwrap();
///     Step::Done
/// }
/// ```
pub struct Turn<'a, P: Platform = Native> {
    pub(super) rank: usize,
    pub(super) size: usize,
    pub(super) worker: usize,
    /// When the turn is over, in ticks; `u64::MAX` if it has no deadline.
    pub(super) deadline: u64,
    pub(super) opening: &'a P::Futex,
    pub(super) allotment: &'a Allotment<P>,
    pub(super) exchange: &'a ValueExchange,
    pub(super) stacks: &'a Arc<Stacks<P>>,
    pub(super) episode: Episode,
    pub(super) not_sync: PhantomData<*mut ()>,
}

impl<P: Platform> Turn<'_, P> {
    /// The number of the rank that has this turn, from 0.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The number of ranks.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// The worker of this turn, from 0. The next turn may be on another worker.
    #[must_use]
    pub fn worker(&self) -> usize {
        self.worker
    }

    /// Whether the rank should stop with [`Step::Preempted`] as soon as it can, because another
    /// rank has a better use for the worker or the worker must leave.
    ///
    /// The call takes some 10 ns: it reads two lines that are hardly ever written and, if the turn
    /// has a deadline, the clock. Call it each microsecond or so.
    #[inline]
    #[must_use]
    pub fn is_over(&self) -> bool {
        // Relaxed: a thread that stops a run or takes a worker away publishes nothing by this. The
        // rank only needs to see it soon.
        !self.allotment.allows(self.worker)
            || self.opening.load(Ordering::Relaxed) & STOP != 0
            || (self.deadline != u64::MAX && P::now() >= self.deadline)
    }

    /// Leaves a value, which all ranks can read in the next episode (after the next barrier).
    pub(super) fn leave<T: Copy + Send + 'static>(&self, value: T) {
        // SAFETY: a turn exists only while its rank is claimed, in its episode, on the claimer's
        // thread.
        unsafe { self.exchange.leave::<P, T>(self.episode, self.rank, value) };
    }

    /// The value that rank `other` left in the previous episode. `None` if that rank left no value,
    /// or no value of type `T`.
    pub(super) fn take<T: Copy + Send + 'static>(&self, other: usize) -> Option<T> {
        // SAFETY: as in `leave`.
        unsafe { self.exchange.take::<P, T>(self.episode, other) }
    }
}

impl<P: Platform> fmt::Debug for Turn<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turn")
            .field("rank", &self.rank)
            .field("size", &self.size)
            .field("worker", &self.worker)
            .finish_non_exhaustive()
    }
}
