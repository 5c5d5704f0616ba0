//! `factoring`: rounds of T equal blocks, each round half of what is left.
//! (Hummel, Schonberg, Flynn: Factoring, CACM 35(8), 1992.)
//!
//! The size of a claim depends only on the number of earlier claims, so the shared counter counts
//! claims and a fetch-and-add always succeeds, where guided needs a compare-and-swap. The rounds,
//! at most one for each bit of n, are laid out when the loop starts.

use manycore::seam::{Claims, Partition};
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Ordering, Platform};
use std::ops::Range;

/// Rounds until a 64-bit length has been halved to nothing, and one more for
/// the rounding up of the blocks.
const MAX_ROUNDS: usize = 65;

pub(super) struct Factoring<P: Platform> {
    n: usize,
    threads: usize,
    /// The beginning of each round; the last entry in use is `n`.
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
            // Relaxed: hands out iterations, publishes nothing.
            let claim = self.claimed.fetch_add(1, Ordering::Relaxed);
            let (round, place) = (claim / self.threads, claim % self.threads);
            if round >= self.rounds {
                return None;
            }
            let (first, next) = (self.starts[round], self.starts[round + 1]);
            let block = (self.n - first).div_ceil(2 * self.threads);
            let start = first.saturating_add(place.saturating_mul(block));
            // A round that the end of the loop cuts short has empty places.
            if start < next {
                return Some(start..next.min(start.saturating_add(block)));
            }
        }
    }
}
