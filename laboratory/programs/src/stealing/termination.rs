use manycore_platform::{Atomic, AtomicInteger, CachePadded, Ordering, Platform};

/// Counts the workers that may have work, to detect when all is done.
///
/// A worker *rests* when it has no task in hand, has seen its own deque empty, and has looked for work
/// elsewhere in vain for a while. It *rouses* before it tries again to take a task. Only these two steps
/// write the count, so a worker that has work, or soon finds some, does not touch it.
///
/// When the count is 0 no task is left. Only its owner adds to a deque, while it has a task or before its
/// first look, and it does not rest then. So the deque of a resting worker stays empty. A thief counts
/// itself in before it steals. In the order of the count's changes, this is *before* the owner that found
/// the task gone rests. That is an order between two threads: a theft is a release, and the look that finds
/// the task gone is an acquire.
///
/// The count also reaches 0: when no task is left, no worker sees a task to try, so all workers come to rest,
/// and none rouses another. The last worker to rest publishes the end.
pub(super) struct Termination<P: Platform> {
    awake: CachePadded<P::AtomicU32>,
    over: CachePadded<P::AtomicBool>,
}

/// Whether a worker rests.
#[derive(Debug)]
pub(super) struct Standing {
    rests: bool,
}

impl<P: Platform> Termination<P> {
    /// All workers are awake, including those that have not called `enter`.
    pub(super) fn new(workers: usize) -> Self {
        // Saturates: there are fewer threads than `u32::MAX`.
        let workers = u32::try_from(workers).unwrap_or(u32::MAX);
        Self {
            awake: CachePadded::new(Atomic::new(workers)),
            over: CachePadded::new(Atomic::new(false)),
        }
    }

    /// Called when a worker begins. It reads the flag, so that it has the line for its look at each task.
    /// On a machine of many cores all workers would otherwise fetch the line with their first task.
    pub(super) fn enter(&self) -> Standing {
        P::name(&self.awake, "census");
        self.is_over();
        Standing { rests: false }
    }

    /// The worker rests, unless it rests already. Returns whether it is the last worker to rest.
    pub(super) fn rest(&self, standing: &mut Standing) -> bool {
        if std::mem::replace(&mut standing.rests, true) {
            return false;
        }
        // Release: the last worker sees all work before the others rested. Acquire: the last worker sees
        // it, and passes it on by the flag.
        let is_last = self.awake.fetch_sub(1, Ordering::AcqRel) == 1;
        if is_last {
            self.end();
        }
        is_last
    }

    /// Called before the worker tries to take a task.
    pub(super) fn rouse(&self, standing: &mut Standing) {
        if std::mem::take(&mut standing.rests) {
            // Relaxed: the theft's release orders this before the theft. This addition is part of the
            // release sequences of the workers that rested before.
            self.awake.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Ends the run for all workers.
    pub(super) fn end(&self) {
        // Release: a worker that sees the flag also sees the earlier work.
        self.over.store(true, Ordering::Release);
    }

    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }
}
