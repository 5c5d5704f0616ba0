//! `static`: each thread gets one share of n/T iterations.
//!
//! If the threads start together, no claim transfers a line. There is no load balancing. A sleeping thread
//! must not hold up the loop, so threads claim shares. Each thread claims its own share first. A thread that
//! finishes early claims the shares of absent threads.

use manycore::seam::{Claims, Partition};
use manycore_platform::{Atomic, CachePadded, Ordering, Platform};
use std::ops::Range;

pub(super) struct Static<P: Platform> {
    n: usize,
    /// Whether each share is taken. Each flag has its own cache line, so a thread that finds its own share
    /// free disturbs no other thread.
    taken: Box<[CachePadded<P::AtomicBool>]>,
}

impl<P: Platform> Static<P> {
    pub(super) fn new(n: usize, threads: usize) -> Self {
        let taken = || CachePadded::new(P::AtomicBool::new(false));
        Self {
            n,
            taken: (0..threads.min(n)).map(|_| taken()).collect(),
        }
    }
}

pub(super) struct StaticClaims<'a, P: Platform> {
    shares: &'a Static<P>,
    rank: usize,
    tried: usize,
}

impl<P: Platform> Partition for Static<P> {
    type Claims<'a> = StaticClaims<'a, P>;

    fn claims(&self, rank: usize) -> StaticClaims<'_, P> {
        StaticClaims {
            shares: self,
            rank,
            tried: 0,
        }
    }
}

impl<P: Platform> Claims for StaticClaims<'_, P> {
    fn next(&mut self) -> Option<Range<usize>> {
        let taken = &self.shares.taken;
        while self.tried < taken.len() {
            let share = (self.rank + self.tried) % taken.len();
            self.tried += 1;
            // Relaxed: the flag hands out iterations and publishes nothing. The load keeps a late thread
            // from writing to lines that others use.
            if !taken[share].load(Ordering::Relaxed) && !taken[share].swap(true, Ordering::Relaxed)
            {
                return Some(share_of(self.shares.n, taken.len(), share));
            }
        }
        None
    }
}

/// Share `index` if `0..n` is cut into `shares` pieces whose lengths differ by at most one.
fn share_of(n: usize, shares: usize, index: usize) -> Range<usize> {
    let (each, longer) = (n / shares, n % shares);
    let start = index * each + index.min(longer);
    start..start + each + usize::from(index < longer)
}
