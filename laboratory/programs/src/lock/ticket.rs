//! The ticket lock: threads draw numbers, and enter in the order of their numbers.

use super::Lock;
use manycore_platform::{
    Atomic, AtomicInteger, CachePadded,
    Ordering::{Acquire, Relaxed, Release},
    Platform,
};

/// The ticket lock. All waiting threads look at one word.
///
/// ```
/// use manycore_platform::Native;
/// use manycore_programs::lock::{Lock, TicketLock};
///
/// let lock = TicketLock::<Native>::new(2);
/// assert_eq!(lock.with(1, || 1) + lock.with(0, || 2), 3);
/// ```
pub struct TicketLock<P: Platform> {
    next: CachePadded<P::AtomicU32>,
    served: CachePadded<P::Futex>,
    threads: usize,
}

impl<P: Platform> Lock<P> for TicketLock<P> {
    fn new(threads: usize) -> Self {
        Self {
            next: CachePadded::new(P::AtomicU32::new(0)),
            served: CachePadded::new(<P::Futex as Atomic<u32>>::new(0)),
            threads,
        }
    }

    fn with<R>(&self, rank: usize, section: impl FnOnce() -> R) -> R {
        assert!(rank < self.threads, "rank {rank} of {}", self.threads);
        // Relaxed: only the number matters. Each number is drawn once.
        let mine = self.next.fetch_add(1, Relaxed);
        // The previous holder stores `mine` in the word once, and afterwards only this thread changes the word. So a
        // load after that sees `mine`. Acquire pairs with the release below.
        let mut served = self.served.load(Acquire);
        while served != mine {
            served = P::spin_while(&self.served, served, u64::MAX);
        }
        let result = section();
        // Release: the next thread sees what the section did.
        self.served.store(mine.wrapping_add(1), Release);
        result
    }
}
