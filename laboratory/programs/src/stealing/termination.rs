use manycore_platform::{Atomic, AtomicInteger, CachePadded, Ordering, Platform};

/// Counts the workers that may have work, to detect when all tasks are done.
///
/// A worker *rests* when it runs no task, has seen its own deque empty, and has looked for work elsewhere in vain for a
/// while. It *rouses* before it tries again to take a task. Only these two steps write the count, so a worker that has
/// work, or soon finds work, does not touch the count.
///
/// When the count is 0 no task is left. Only the owner adds to a deque, and only while it runs a task or before its
/// first look, when it does not rest. So the deque of a resting worker stays empty. A thief adds itself to the count
/// before it steals. The owner finds the task gone before it rests. In the order of the count's changes, the thief's
/// addition comes *before* the change by which that owner rests. A theft is a release, and the look that finds the task
/// gone is an acquire, so this order holds between the two threads.
///
/// The count does reach 0. When no task is left, no worker sees a task to try, so all workers finally rest, and none
/// rouses again. The last worker to rest publishes the end.
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
    /// At first all workers are awake, including those that have not called `enter`.
    pub(super) fn new(workers: usize) -> Self {
        // Saturation is harmless, since there are fewer threads than `u32::MAX`.
        let workers = u32::try_from(workers).unwrap_or(u32::MAX);
        Self {
            awake: CachePadded::new(Atomic::new(workers)),
            over: CachePadded::new(Atomic::new(false)),
        }
    }

    /// A worker calls this when it begins. The worker reads the flag here, so that it already has the flag's cache line
    /// when it looks at the flag for each task. Otherwise, on a machine of many cores, all workers would fetch the line
    /// with their first task.
    pub(super) fn enter(&self) -> Standing {
        P::name(&self.awake, "census");
        self.is_over();
        Standing { rests: false }
    }

    /// The worker rests, unless it rests already. Returns whether this worker is the last to rest.
    pub(super) fn rest(&self, standing: &mut Standing) -> bool {
        if std::mem::replace(&mut standing.rests, true) {
            return false;
        }
        // Release: the last worker sees all work from before the others rested. Acquire: the last worker sees this
        // work, and passes it on by the flag.
        let is_last = self.awake.fetch_sub(1, Ordering::AcqRel) == 1;
        if is_last {
            self.end();
        }
        is_last
    }

    /// A worker calls this before it tries to take a task.
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
