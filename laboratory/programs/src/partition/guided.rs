//! `guided`: each claim takes 1/2T of the remaining iterations, and single iterations once fewer than 4T
//! remain. Shuai's paper (2021) ascribes this rule to Taskflow (section "Related work": q = 0.5/T, block
//! q*r).
//!
//! A claim depends on the number of remaining iterations, so it is a compare-and-swap on the shared counter. Each try
//! transfers the counter's line once. There are few claims: about 2T ln(n/8T) + 4T.

use manycore::seam::{Claims, Partition};
use manycore_platform::{Atomic, CachePadded, Ordering, Platform};
use std::ops::Range;

pub(super) struct Guided<P: Platform> {
    n: usize,
    threads: usize,
    next: CachePadded<P::AtomicUsize>,
}

impl<P: Platform> Guided<P> {
    pub(super) fn new(n: usize, threads: usize) -> Self {
        Self {
            n,
            threads,
            next: CachePadded::new(P::AtomicUsize::new(0)),
        }
    }

    fn block(&self, left: usize) -> usize {
        if left < 4 * self.threads {
            1
        } else {
            (left / (2 * self.threads)).max(1)
        }
    }
}

impl<P: Platform> Partition for Guided<P> {
    type Claims<'a> = &'a Self;

    fn claims(&self, _rank: usize) -> &Self {
        self
    }
}

impl<P: Platform> Claims for &Guided<P> {
    fn next(&mut self) -> Option<Range<usize>> {
        // Relaxed throughout: the counter hands out iterations and publishes nothing.
        let mut start = self.next.load(Ordering::Relaxed);
        while start < self.n {
            let end = start + self.block(self.n - start);
            let claim =
                (self.next).compare_exchange(start, end, Ordering::Relaxed, Ordering::Relaxed);
            match claim {
                Ok(_) => return Some(start..end),
                Err(now) => start = now,
            }
        }
        None
    }
}
