//! `fixed-block`: participants claim blocks of a fixed size by a fetch-and-add on one shared counter. This is the
//! `ParallelFor` that Shuai's paper studies (*Influence of atomic FAA on ParallelFor*, 2021).
//!
//! Every claim is one locked instruction on a cache line that every participant writes. So each block costs a
//! transfer of that line, and these transfers come one after the other. The loop cannot run more than one block in
//! the time of a transfer, and each thread waits for a transfer for each of its blocks.

use super::{Claims, Partition};
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Ordering, Platform};
use std::num::NonZeroUsize;
use std::ops::Range;

pub(crate) struct FixedBlock<P: Platform> {
    n: usize,
    block: usize,
    /// Whether the last claims of all threads together could wrap the counter.
    wraps: bool,
    next: CachePadded<P::AtomicUsize>,
}

impl<P: Platform> FixedBlock<P> {
    pub(crate) fn new(n: usize, block: NonZeroUsize, threads: usize) -> Self {
        let block = block.get().min(n);
        // Each thread moves the counter past the end at most once, by at most a block.
        let last = block
            .checked_mul(threads)
            .and_then(|over| n.checked_add(over));
        let next = CachePadded::new(P::AtomicUsize::new(0));
        Self {
            n,
            block,
            wraps: last.is_none(),
            next,
        }
    }

    /// Claims a block of a loop that is so long that the counter could wrap. Reads the counter first, and adds no
    /// more than is left.
    #[cold]
    fn claim_near_the_end(&self) -> Option<Range<usize>> {
        // All accesses are relaxed: the counter hands out iterations and publishes nothing.
        let mut start = self.next.load(Ordering::Relaxed);
        while start < self.n {
            let end = start + self.block.min(self.n - start);
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

/// A participant's claims.
pub(crate) struct FixedBlockClaims<'a, P: Platform> {
    counter: &'a FixedBlock<P>,
    /// Whether the last claim reached the end. If so, the participant need not fetch the line again to learn that
    /// nothing is left.
    done: bool,
}

impl<P: Platform> Partition for FixedBlock<P> {
    type Claims<'a> = FixedBlockClaims<'a, P>;

    #[inline]
    fn claims(&self, _rank: usize) -> FixedBlockClaims<'_, P> {
        FixedBlockClaims {
            counter: self,
            done: false,
        }
    }
}

impl<P: Platform> Claims for FixedBlockClaims<'_, P> {
    #[inline]
    fn next(&mut self) -> Option<Range<usize>> {
        let FixedBlock {
            n,
            block,
            wraps,
            ref next,
        } = *self.counter;
        if wraps {
            return self.counter.claim_near_the_end();
        }
        if self.done {
            return None;
        }
        // Relaxed: the counter hands out iterations and publishes nothing.
        let start = next.fetch_add(block, Ordering::Relaxed);
        self.done = start + block >= n;
        (start < n).then(|| start..n.min(start + block))
    }
}
