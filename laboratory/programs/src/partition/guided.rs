//! `guided`: each claim takes the share 1/2T of what is left, then single
//! iterations once less than 4T are. Shuai's paper (2021) ascribes this rule to
//! Taskflow (section "Related work": q = 0.5/T, block q*r).
//!
//! A claim depends on what is left, so it is a compare-and-swap on the shared
//! counter: one transfer of its line for each try. There are few: about
//! 2T ln(n/8T) + 4T.

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
        // Relaxed throughout: hands out iterations, publishes nothing.
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
