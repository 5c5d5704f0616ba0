//! The head of a job, which stacks point to, and the slot that records the theft of a job.

use crate::sleep::Latch;
use manycore_platform::{Atomic, Ordering, Platform};

/// Runs a job. The arguments are the pointer to the job's [`Head`], and whether another worker than the job's
/// owner runs it.
pub(crate) type Run = unsafe fn(*const (), bool);

/// The first field of each job. A job may be anywhere in memory, and a stack holds pointers to heads.
pub(crate) struct Head(pub(crate) Run);

/// The worker that has stolen a job, and where its later jobs begin in its stack. A waiting owner needs both to
/// find the descendants of the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Thief {
    pub(crate) worker: u32,
    /// The thief's `bottom` (the index of its next job) when it stole the job. From there on, the thief's stack holds
    /// jobs that the stolen job has pushed.
    pub(crate) base: u32,
}

const NOBODY: u64 = u64::MAX;
/// The thief has given the job back, and any worker may adopt it.
const ORPHANED: u64 = u64::MAX - 1;

/// The record of a theft. It belongs to an index of the stack and not to the job there. The owner of a stolen job
/// waits on the latch.
///
/// The memory belongs to the pool, so it outlives a thief's access to the latch. It is apart from the pointers to
/// jobs, so thieves write to no cache line that the owner pushes to.
pub(super) struct JobSlot<P: Platform> {
    /// The thief sets this when the job is done.
    pub(super) latch: Latch<P>,
    thief: P::AtomicU64,
}

impl<P: Platform> JobSlot<P> {
    pub(super) fn new() -> Self {
        Self {
            latch: Latch::new(),
            thief: P::AtomicU64::new(NOBODY),
        }
    }

    /// Acquire pairs with the release in `set_thief`: the thief has set up its stack before that.
    pub(super) fn thief(&self) -> Option<Thief> {
        match self.thief.load(Ordering::Acquire) {
            NOBODY | ORPHANED => None,
            word => Some(Thief {
                worker: (word >> 32) as u32,
                base: word as u32,
            }),
        }
    }

    /// Release pairs with the acquire in `thief`: a thread that follows the thief finds the thief's stack set up.
    pub(super) fn set_thief(&self, thief: Option<Thief>) {
        let word = thief.map_or(NOBODY, |thief| {
            u64::from(thief.worker) << 32 | u64::from(thief.base)
        });
        self.thief.store(word, Ordering::Release);
    }

    /// The thief calls this to give the job back.
    pub(super) fn orphan(&self) {
        // Release pairs with the acquire in `adopt`: the worker that adopts the job, perhaps the owner, sees all
        // that this thief has done.
        self.thief.store(ORPHANED, Ordering::Release);
    }

    pub(super) fn is_orphaned(&self) -> bool {
        // Relaxed: this is a hint, which `adopt` confirms.
        self.thief.load(Ordering::Relaxed) == ORPHANED
    }

    /// `thief` takes a job that was given back. If several workers call this, one succeeds.
    pub(super) fn adopt(&self, thief: Thief) -> bool {
        let word = u64::from(thief.worker) << 32 | u64::from(thief.base);
        // Acquire pairs with `orphan`, and release pairs with `thief`. On failure relaxed is enough: another thief
        // was first, or there is no such job, so no access follows.
        let adopt =
            (self.thief).compare_exchange(ORPHANED, word, Ordering::AcqRel, Ordering::Relaxed);
        adopt.is_ok()
    }
}
