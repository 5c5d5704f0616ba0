use super::Site;
use super::body::{Step, Turn};
use crate::fiber::Suspender;
use manycore_platform::{Native, Platform};
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;

/// The data that a rank (one of a program's parts that meet at barriers) shares with the worker
/// that resumes it.
pub(super) struct Seat<P: Platform> {
    /// The rank's turn while it runs, otherwise null.
    pub(super) turn: Cell<*const Turn<'static, P>>,
    /// The rank's current worker, or its last worker if it does not run.
    pub(super) worker: Cell<usize>,
    /// Why the rank has suspended itself.
    pub(super) step: Cell<Step>,
}

/// A rank of a [`Team`](super::Team), as its program sees it: the rank's number, and methods to
/// meet the other ranks. The program of a [`Stackful`](super::Stackful) receives a `Rank`.
///
/// At a barrier and at [`pause`](Self::pause) the rank may be suspended and continue on another
/// thread: see [`Stackful::new`](super::Stackful::new).
///
/// ```
/// use manycore_cores::elastic::Allotment;
/// use manycore_team::{Rank, Stackful, Team};
/// use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
///
/// let items: Vec<AtomicUsize> = (0..100).map(AtomicUsize::new).collect();
/// let program = |rank: &mut Rank| {
///     let share = 100 * rank.rank() / rank.size()..100 * (rank.rank() + 1) / rank.size();
///     for item in &items[share.clone()] {
///         item.fetch_add(1, Relaxed);
///         rank.pause();
///     }
///     rank.barrier();
///     // All have been incremented.
///     let next = items[share.end % 100].load(Relaxed);
///     assert_eq!(next, share.end % 100 + 1);
///     assert_eq!(rank.sum(1.5), 7.5);
/// };
/// let mut team: Team = Team::new(2, Allotment::new(2))?;
/// // SAFETY: numbers and shared references are all that is on the stack.
/// team.run(5, |_| unsafe { Stackful::new(program) });
/// # Ok::<(), manycore_team::BuildError>(())
/// ```
pub struct Rank<P: Platform = Native> {
    rank: usize,
    size: usize,
    seat: *const Seat<P>,
    suspender: *const Suspender<P>,
    /// A `Rank` stays on the stack where it was made.
    not_send: PhantomData<*mut ()>,
}

impl<P: Platform> Rank<P> {
    /// # Safety
    ///
    /// Both pointers are valid while the rank exists, the suspender belongs to the fiber of the
    /// rank, and each thread that resumes the fiber has set the seat's turn.
    pub(super) unsafe fn new(seat: *const Seat<P>, suspender: &Suspender<P>) -> Self {
        let mut rank = Self {
            rank: 0,
            size: 0,
            seat,
            suspender,
            not_send: PhantomData,
        };
        (rank.rank, rank.size) = (rank.turn().rank(), rank.turn().size());
        rank
    }

    #[track_caller]
    fn turn(&self) -> &Turn<'_, P> {
        // SAFETY: by the contract of `new` the seat exists. Its turn is null, or the turn of the
        // current resumption, which lives until the rank suspends itself. No reference to the turn
        // is kept across a suspension, because suspending takes `&mut self`.
        let turn = unsafe { (*self.seat).turn.get().as_ref() };
        turn.expect("a rank that is being dropped meets no other rank")
    }

    /// This rank's number, from 0.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The number of ranks.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// The rank's current worker, from 0. In a destructor that runs because another rank has
    /// panicked, this is the rank's last worker.
    #[must_use]
    pub fn worker(&self) -> usize {
        // SAFETY: by the contract of `new` the seat exists.
        unsafe { (*self.seat).worker.get() }
    }

    /// Waits until all ranks are at this barrier. The ranks' work before the barrier is visible to
    /// all ranks after it.
    ///
    /// The place of the call in the source is the [site](Site) by which the team knows the work
    /// that follows.
    #[inline]
    #[track_caller]
    pub fn barrier(&mut self) {
        self.meet(Site::here());
    }

    /// Like [`barrier`](Self::barrier), at a site with this name.
    #[inline]
    pub fn barrier_at(&mut self, site: &'static str) {
        self.meet(Site::named(site));
    }

    /// Like [`barrier`](Self::barrier), at this site.
    ///
    /// # Panics
    ///
    /// Panics if the body that calls this rank's [`Stackful`](super::Stackful) does not return the
    /// step that the call returned.
    #[track_caller]
    pub fn meet(&mut self, site: Site) {
        let next = self.turn().episode.next();
        self.suspend(Step::Arrived(site));
        let episode = self.turn().episode;
        // This fails if the calling body has not returned the step to the team, or has returned it
        // late.
        assert!(
            episode == next,
            "rank {} goes on from a barrier in the wrong episode",
            self.rank
        );
    }

    /// Interrupts the rank if another rank should have the worker. A call that does not interrupt
    /// the rank takes some 10 ns. Call this about once a microsecond.
    #[inline]
    pub fn pause(&mut self) {
        if self.turn().is_over() {
            self.suspend(Step::Preempted);
        }
    }

    #[inline(never)]
    fn suspend(&mut self, step: Step) {
        // SAFETY: as in `turn`, and the suspender belongs to this fiber.
        unsafe {
            (*self.seat).step.set(step);
            (*self.suspender).suspend();
        }
    }

    /// Waits at a barrier at which each rank leaves a value. Returns the values of all ranks,
    /// combined by `with` in the order of the ranks. So the result is the same for all ranks, and
    /// in every run.
    ///
    /// # Panics
    ///
    /// Panics if another rank was at this barrier without a value of this type.
    ///
    /// ```
    /// use manycore_cores::elastic::Allotment;
    /// use manycore_team::{Rank, Stackful, Team};
    ///
    /// let mut team: Team = Team::new(2, Allotment::new(2))?;
    /// let program = |rank: &mut Rank| {
    ///     let first = rank.reduce((rank.rank(), 0.5), |one, other| one.min(other));
    ///     assert_eq!(first, (0, 0.5));
    /// };
    /// # trait Min { fn min(self, other: Self) -> Self; }
    /// # impl Min for (usize, f64) {
    /// #     fn min(self, other: Self) -> Self { if other.0 < self.0 { other } else { self } }
    /// # }
    /// // SAFETY: nothing is on the stack but numbers.
    /// team.run(3, |_| unsafe { Stackful::new(program) });
    /// # Ok::<(), manycore_team::BuildError>(())
    /// ```
    #[track_caller]
    pub fn reduce<T>(&mut self, value: T, with: impl FnMut(T, T) -> T) -> T
    where
        T: Copy + Send + 'static,
    {
        self.turn().leave(value);
        self.meet(Site::here());
        let (rank, turn) = (self.rank, self.turn());
        let all = (0..self.size).map(|other| {
            let left = turn.take::<T>(other);
            let type_name = std::any::type_name::<T>();
            left.unwrap_or_else(|| panic!("rank {other} has left no {type_name} for rank {rank}"))
        });
        all.reduce(with).expect("this rank is one of them")
    }

    /// The sum of all ranks' values, added in the order of the ranks.
    ///
    /// # Panics
    ///
    /// As [`reduce`](Self::reduce).
    #[track_caller]
    pub fn sum(&mut self, value: f64) -> f64 {
        self.reduce(value, |one, other| one + other)
    }

    /// The smallest of all ranks' values.
    ///
    /// # Panics
    ///
    /// As [`reduce`](Self::reduce).
    #[track_caller]
    pub fn min(&mut self, value: f64) -> f64 {
        self.reduce(value, f64::min)
    }

    /// The largest of all ranks' values.
    ///
    /// # Panics
    ///
    /// As [`reduce`](Self::reduce).
    #[track_caller]
    pub fn max(&mut self, value: f64) -> f64 {
        self.reduce(value, f64::max)
    }
}

impl<P: Platform> fmt::Debug for Rank<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rank")
            .field("rank", &self.rank)
            .field("size", &self.size)
            .finish_non_exhaustive()
    }
}
