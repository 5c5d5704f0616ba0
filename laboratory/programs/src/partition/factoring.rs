//! `factoring`: rounds of T equal blocks, for T threads. Each round takes half of the remaining iterations. (Hummel,
//! Schonberg, Flynn: Factoring, CACM 35(8), 1992.)
//!
//! The size of a claim depends only on the number of earlier claims. So the shared counter counts claims, and a
//! fetch-and-add always succeeds. `guided` needs a compare-and-swap instead. The rounds, at most one for each bit of n,
//! are computed when the loop starts.

use manycore::seam::{Claims, Partition};
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Ordering, Platform};
use std::ops::Range;

/// The rounds that halve a 64-bit length to nothing, and one more because blocks are rounded up.
const MAX_ROUNDS: usize = 65;

pub(super) struct Factoring<P: Platform> {
    n: usize,
    threads: usize,
    /// The beginning of each round. The last entry in use is `n`.
    starts: [usize; MAX_ROUNDS + 1],
    rounds: usize,
    claimed: CachePadded<P::AtomicUsize>,
}

impl<P: Platform> Factoring<P> {
    pub(super) fn new(n: usize, threads: usize) -> Self {
        let mut starts = [n; MAX_ROUNDS + 1];
        let (mut start, mut rounds) = (0, 0);
        while start < n {
            starts[rounds] = start;
            let block = (n - start).div_ceil(2 * threads);
            start = start.saturating_add(block.saturating_mul(threads)).min(n);
            rounds += 1;
        }
        Self {
            n,
            threads,
            starts,
            rounds,
            claimed: CachePadded::new(P::AtomicUsize::new(0)),
        }
    }
}

impl<P: Platform> Partition for Factoring<P> {
    type Claims<'a> = &'a Self;

    fn claims(&self, _rank: usize) -> &Self {
        self
    }
}

impl<P: Platform> Claims for &Factoring<P> {
    fn next(&mut self) -> Option<Range<usize>> {
        loop {
            // Relaxed: the counter hands out iterations and publishes nothing.
            let claim = self.claimed.fetch_add(1, Ordering::Relaxed);
            let (round, place) = (claim / self.threads, claim % self.threads);
            if round >= self.rounds {
                return None;
            }
            let (first, next) = (self.starts[round], self.starts[round + 1]);
            let block = (self.n - first).div_ceil(2 * self.threads);
            let start = first.saturating_add(place.saturating_mul(block));
            // If the end of the loop cuts a round short, some places are empty.
            if start < next {
                return Some(start..next.min(start.saturating_add(block)));
            }
        }
    }
}
