//! The MCS lock: a queue of threads, each of which waits at its own word (Mellor-Crummey and Scott, 1991).

use super::Lock;
use manycore_platform::{
    Atomic, CachePadded,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
    Platform,
};

/// Stands for no rank (number of a thread). Rank r is stored as r + 1.
const NONE: usize = 0;

const GO: u32 = 0;
const WAIT: u32 = 1;

/// The queue lock.
///
/// ```
/// use manycore_platform::Native;
/// use manycore_programs::lock::{Lock, McsLock};
///
/// let lock = McsLock::<Native>::new(2);
/// assert_eq!(lock.with(1, || 1) + lock.with(0, || 2), 3);
/// ```
pub struct McsLock<P: Platform> {
    /// The last thread of the queue. The first thread of the queue has the lock.
    last: CachePadded<P::AtomicUsize>,
    places: Vec<CachePadded<Place<P>>>,
}

/// A thread's place in the queue.
struct Place<P: Platform> {
    /// The next thread of the queue, once that thread has stored its rank here.
    next: P::AtomicUsize,
    turn: P::Futex,
}

impl<P: Platform> McsLock<P> {
    fn enter(&self, rank: usize) {
        let place = &self.places[rank];
        // Relaxed: no other thread looks at the place until the swap below publishes it.
        place.next.store(NONE, Relaxed);
        place.turn.store(WAIT, Relaxed);
        // Release publishes the place. Acquire: if the lock is free, this thread sees the previous section. If not,
        // this thread sees the place of the thread before it.
        let before = self.last.swap(rank + 1, AcqRel);
        if before != NONE {
            // Release: the thread before this one sees WAIT, and stores GO later.
            self.places[before - 1].next.store(rank + 1, Release);
            // The word becomes GO once and stays so until this thread enters again. Acquire pairs
            // with the release in `leave`.
            while P::spin_while(&place.turn, WAIT, u64::MAX) == WAIT {}
        }
    }

    fn leave(&self, rank: usize) {
        let next = &self.places[rank].next;
        // Acquire: the next thread stores WAIT before this thread stores GO.
        let mut after = next.load(Acquire);
        if after == NONE {
            // Release: the next thread to enter sees what the section did. Relaxed on failure: the
            // value is not used.
            let freed = self.last.compare_exchange(rank + 1, NONE, Release, Relaxed);
            if freed.is_ok() {
                return;
            }
            // Another thread is last in the queue. Its next step is to store its rank here.
            while after == NONE {
                P::relax();
                after = next.load(Acquire);
            }
        }
        // Release: the next thread sees what the section did.
        self.places[after - 1].turn.store(GO, Release);
    }
}

impl<P: Platform> Lock<P> for McsLock<P> {
    fn new(threads: usize) -> Self {
        let place = |_| {
            CachePadded::new(Place {
                next: P::AtomicUsize::new(NONE),
                turn: <P::Futex as Atomic<u32>>::new(GO),
            })
        };
        Self {
            last: CachePadded::new(P::AtomicUsize::new(NONE)),
            places: (0..threads).map(place).collect(),
        }
    }

    fn with<R>(&self, rank: usize, section: impl FnOnce() -> R) -> R {
        self.enter(rank);
        let result = section();
        self.leave(rank);
        result
    }
}
