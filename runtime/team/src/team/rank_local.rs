use manycore_platform::{Atomic, CachePadded, Native, Ordering, Platform};
use std::cell::UnsafeCell;
use std::fmt;

/// A value for each rank (part of a program), on cache lines of its own. The rank finds its value on every worker. It
/// replaces `thread_local!`: a rank loses such variables when it changes to another worker.
///
/// ```
/// use manycore_cores::elastic::Allotment;
/// use manycore_team::{Rank, RankLocal, Stackful, Team};
///
/// let mut counts: RankLocal<u32> = RankLocal::new(3, |_| 0);
/// let mut team: Team = Team::new(2, Allotment::new(2))?;
/// let program = |rank: &mut Rank| {
///     for _ in 0..=rank.rank() {
///         counts.with(rank.rank(), |count| *count += 1);
///         rank.barrier_at("round");
///     }
///     for _ in rank.rank()..3 {
///         rank.barrier_at("round");
///     }
/// };
/// // SAFETY: numbers and shared references are all that is on the stack.
/// team.run(3, |_| unsafe { Stackful::new(program) });
/// assert_eq!(counts.iter_mut().map(|count| *count).collect::<Vec<_>>(), [1, 2, 3]);
/// # Ok::<(), manycore_team::BuildError>(())
/// ```
pub struct RankLocal<T, P: Platform = Native> {
    places: Box<[CachePadded<LocalValue<T, P>>]>,
}

struct LocalValue<T, P: Platform> {
    is_taken: P::AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: `with` gives a value to one caller at a time.
unsafe impl<T: Send, P: Platform> Sync for RankLocal<T, P> {}
// SAFETY: as above.
unsafe impl<T: Send, P: Platform> Send for RankLocal<T, P> {}

impl<T, P: Platform> RankLocal<T, P> {
    /// Makes a value for each of `ranks` ranks. `value` makes the value from the rank's number.
    pub fn new(ranks: usize, mut value: impl FnMut(usize) -> T) -> Self {
        let place = |rank| {
            CachePadded::new(LocalValue {
                is_taken: P::AtomicBool::new(false),
                value: UnsafeCell::new(value(rank)),
            })
        };
        Self {
            places: (0..ranks).map(place).collect(),
        }
    }

    /// Calls `body` with the value of rank `rank`. It costs two writes of a flag on the rank's
    /// line.
    ///
    /// # Panics
    ///
    /// Panics if there is no such rank, or if another thread or the caller is using the rank's
    /// value.
    #[track_caller]
    pub fn with<R>(&self, rank: usize, body: impl FnOnce(&mut T) -> R) -> R {
        let place = &self.places[rank];
        // Acquire pairs with the release below: this call sees the changes of the last call, even
        // if that was on another thread without a barrier in between.
        let is_taken = place.is_taken.swap(true, Ordering::Acquire);
        assert!(!is_taken, "the value of rank {rank} is in use");
        // This also frees the value if `body` panics.
        let _back = Back::<P>(&place.is_taken);
        // SAFETY: this call has set the flag, which stays set until the guard is dropped.
        body(unsafe { &mut *place.value.get() })
    }

    /// All values, in the order of the ranks.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.places.iter_mut().map(|place| place.value.get_mut())
    }
}

struct Back<'a, P: Platform>(&'a P::AtomicBool);

impl<P: Platform> Drop for Back<'_, P> {
    fn drop(&mut self) {
        // Release pairs with the acquire in `with`.
        self.0.store(false, Ordering::Release);
    }
}

impl<T, P: Platform> fmt::Debug for RankLocal<T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RankLocal")
            .field("ranks", &self.places.len())
            .finish_non_exhaustive()
    }
}
