//! What a rank of a team is to the program that it runs.

use manycore::barrier::Barrier;
use manycore_platform::Platform;

/// One rank of a team: who it is, and how it meets the others.
///
/// # Safety
///
/// `size` ranks run the program, numbered from 0, each number once. [`meet`](Self::meet)
/// returns only when all of them have called it as often, and what each did before is
/// visible to all after it. Programs write memory that ranks share without any other
/// protection.
pub unsafe trait Part {
    /// Its number, from 0.
    fn rank(&self) -> usize;

    /// How many there are.
    fn size(&self) -> usize;

    /// Waits for all others. `site` tells places of the program apart: what a rank does
    /// after it is most likely what it did the last time.
    fn meet(&mut self, site: &'static str);

    /// A place where the rank can be interrupted, some microseconds from the last.
    fn pause(&mut self) {}
}

/// A team of one.
///
/// ```
/// use manycore_kernels::spmd::{Alone, Part};
///
/// assert_eq!((Alone.rank(), Alone.size()), (0, 1));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Alone;

// SAFETY: it has waited for all.
unsafe impl Part for Alone {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn meet(&mut self, _site: &'static str) {}
}

/// A thread that meets the others at a barrier.
pub struct Member<'a, P: Platform, B: Barrier<P>> {
    barrier: &'a B,
    member: B::Member,
    rank: usize,
    size: usize,
}

impl<'a, P: Platform, B: Barrier<P>> Member<'a, P, B> {
    /// Rank `rank` of `size`, to be made by the thread that will run it.
    ///
    /// # Safety
    ///
    /// The barrier was made for `size` members, and each rank is made once.
    ///
    /// # Panics
    ///
    /// If the barrier has no such rank.
    pub unsafe fn new(barrier: &'a B, rank: usize, size: usize) -> Self {
        Self {
            barrier,
            member: barrier.member(rank),
            rank,
            size,
        }
    }
}

// SAFETY: by the contract of `new` these are all members of a barrier, which is one.
unsafe impl<P: Platform, B: Barrier<P>> Part for Member<'_, P, B> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn meet(&mut self, _site: &'static str) {
        self.barrier.wait(&mut self.member);
    }
}
