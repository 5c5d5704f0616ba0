//! `fixed-block`: one shared counter, advanced by a fetch-and-add of a fixed
//! block. This is the `ParallelFor` of Shuai's paper (*Influence of atomic FAA on
//! ParallelFor*, 2021), and the paper's subject.
//!
//! Every claim is one locked instruction on a line that every participant
//! writes: a transfer of that line for each block, one after the other. With
//! blocks of B iterations of t ns the loop cannot run faster than one block a
//! transfer, and each thread loses a transfer a block.

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
        // Each thread passes the end at most once, by at most a block.
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

    /// The claim of a loop so long that the counter could wrap: looks first,
    /// and adds no more than is left.
    #[cold]
    fn claim_near_the_end(&self) -> Option<Range<usize>> {
        // Relaxed throughout: hands out iterations, publishes nothing.
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

/// A participant's claims, and whether its last one reached the end: then it
/// need not fetch the line again to learn that nothing is left.
pub(crate) struct FixedBlockClaims<'a, P: Platform> {
    counter: &'a FixedBlock<P>,
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
        // Relaxed: hands out iterations, publishes nothing.
        let start = next.fetch_add(block, Ordering::Relaxed);
        self.done = start + block >= n;
        (start < n).then(|| start..n.min(start + block))
    }
}
