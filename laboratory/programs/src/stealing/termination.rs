use manycore_platform::{Atomic, AtomicInteger, CachePadded, Ordering, Platform};

/// Counts the workers that may have work, to know when all is done.
///
/// A worker *rests* when it has nothing in hand, has seen its own deque empty, and has
/// looked for work elsewhere for a while in vain; it *rouses* before it tries again to take
/// a task. Only these two write the count, so a worker that has work, or finds some
/// soon, does not touch it.
///
/// When the count is 0 no task is left. Only its owner adds to a deque, while it has a task or
/// before its first look, and rests in neither case; so the deque of a resting worker stays empty.
/// A thief counts itself in before it steals. The count has this *before* the resting of the owner
/// that found the task gone. That is an order between two threads: a theft is a release, and the
/// look that finds the task gone is an acquire.
///
/// And 0 is reached: when no task is left no worker sees a task to try, so all come to rest, and
/// none is roused. The last worker to rest publishes the end.
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
    /// All are awake, those too that have not come yet.
    pub(super) fn new(workers: usize) -> Self {
        // More workers than fit are more than there are threads.
        let workers = u32::try_from(workers).unwrap_or(u32::MAX);
        Self {
            awake: CachePadded::new(Atomic::new(workers)),
            over: CachePadded::new(Atomic::new(false)),
        }
    }

    /// A worker comes. It looks at the flag, so that it has the line when it looks again
    /// at each task: on a machine of many cores all would else fetch it at the start.
    pub(super) fn enter(&self) -> Standing {
        P::name(&self.awake, "census");
        self.is_over();
        Standing { rests: false }
    }

    /// Rests, if it does not yet; whether it was the last.
    pub(super) fn rest(&self, standing: &mut Standing) -> bool {
        if std::mem::replace(&mut standing.rests, true) {
            return false;
        }
        // Release: the last worker sees all work before the others rested. Acquire: it has seen it,
        // and passes it on by the flag.
        let is_last = self.awake.fetch_sub(1, Ordering::AcqRel) == 1;
        if is_last {
            self.end();
        }
        is_last
    }

    /// Before it tries to take a task.
    pub(super) fn rouse(&self, standing: &mut Standing) {
        if std::mem::take(&mut standing.rests) {
            // Relaxed: the theft's release orders this before the theft, and it is part of the
            // release sequences of the workers that rested before.
            self.awake.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Ends it for all.
    pub(super) fn end(&self) {
        // Release: a worker that sees it also sees the earlier work.
        self.over.store(true, Ordering::Release);
    }

    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }
}
