//! A job's head in its stack, and the slot for its theft.

use crate::sleep::Latch;
use manycore_platform::{Atomic, Ordering, Platform};

/// How a job is run: with what it was pushed with, and whether another worker
/// than its owner runs it.
pub(crate) type Run = unsafe fn(*const (), bool);

/// The first field of each job, anywhere in memory: a stack holds pointers to it.
pub(crate) struct Head(pub(crate) Run);

/// The worker that has stolen a job, and where its own jobs begin that came after: what a
/// waiting owner needs to find the descendants of the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Thief {
    pub(crate) worker: u32,
    /// The thief's `bottom` when it stole: from there on its stack holds jobs
    /// pushed from within the stolen one.
    pub(crate) base: u32,
}

const NOBODY: u64 = u64::MAX;
/// The thief has given the job back, to whoever takes it.
const ORPHANED: u64 = u64::MAX - 1;

/// The part that belongs to an index of the stack and not to the job there: the owner of a stolen
/// job waits on it.
///
/// It is pool memory, which does not die under a thief that sets the latch; and
/// apart from the pointers to jobs, so that thieves write no line that the owner
/// pushes to.
pub(super) struct JobSlot<P: Platform> {
    /// Set by the thief when the job is done.
    pub(super) latch: Latch<P>,
    /// The worker that has stolen it.
    thief: P::AtomicU64,
}

impl<P: Platform> JobSlot<P> {
    pub(super) fn new() -> Self {
        Self {
            latch: Latch::new(),
            thief: P::AtomicU64::new(NOBODY),
        }
    }

    /// Acquire pairs with `set_thief`, whose writer set up its stack before.
    pub(super) fn thief(&self) -> Option<Thief> {
        match self.thief.load(Ordering::Acquire) {
            NOBODY | ORPHANED => None,
            word => Some(Thief {
                worker: (word >> 32) as u32,
                base: word as u32,
            }),
        }
    }

    /// Release pairs with `thief`: a thread that follows finds the thief's stack set up.
    pub(super) fn set_thief(&self, thief: Option<Thief>) {
        let word = thief.map_or(NOBODY, |thief| {
            u64::from(thief.worker) << 32 | u64::from(thief.base)
        });
        self.thief.store(word, Ordering::Release);
    }

    /// The thief gives the job back.
    pub(super) fn orphan(&self) {
        // Release: a worker that adopts it may do so for the owner, who sees all this.
        self.thief.store(ORPHANED, Ordering::Release);
    }

    pub(super) fn is_orphaned(&self) -> bool {
        // Relaxed: a look, which `adopt` confirms.
        self.thief.load(Ordering::Relaxed) == ORPHANED
    }

    /// `thief` takes a job that was given back; one of several does.
    pub(super) fn adopt(&self, thief: Thief) -> bool {
        let word = u64::from(thief.worker) << 32 | u64::from(thief.base);
        // Acquire pairs with `orphan`, release with `thief`. Relaxed if another thief was first, or
        // there is no job: no access follows.
        let adopt =
            (self.thief).compare_exchange(ORPHANED, word, Ordering::AcqRel, Ordering::Relaxed);
        adopt.is_ok()
    }
}
