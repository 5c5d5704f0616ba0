//! Groups of tasks: OpenMP's `taskgroup`.

use std::ptr;
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize};

/// A `taskgroup`. A task begins the group. The group lives until this task finds that all tasks in the group have
/// ended.
pub(crate) struct Group {
    /// The enclosing group, or null.
    previous: *const Self,
    unfinished: AtomicUsize,
    cancelled: AtomicBool,
    /// Whether the group belongs to a work share with reductions over tasks.
    pub(crate) workshare: bool,
    /// The description of reductions that the compiled program has passed.
    pub(crate) reductions: AtomicPtr<usize>,
}

// SAFETY: all fields but `previous` are atomics or numbers. `previous` is written before another thread knows the
// group, and points to a group that lives longer.
unsafe impl Sync for Group {}
// SAFETY: a group is bound to no thread: any member may drop the last `Arc` of the group of a region.
unsafe impl Send for Group {}

impl Group {
    pub(crate) fn new(previous: *const Self, workshare: bool) -> Self {
        Self {
            previous,
            unfinished: AtomicUsize::new(0),
            cancelled: AtomicBool::new(false),
            workshare,
            reductions: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// The group of a region: the members of the region begin in this group.
    pub(crate) fn of_region() -> Arc<Self> {
        Arc::new(Self::new(ptr::null(), false))
    }

    /// The enclosing group.
    pub(crate) fn previous(&self) -> Option<&Self> {
        // SAFETY: the enclosing group ends after this group.
        unsafe { self.previous.as_ref() }
    }

    /// The group that `cancel taskgroup` cancels. For the group of a work share this is the enclosing group.
    pub(crate) fn to_cancel(&self) -> &Self {
        let outer = self.previous().filter(|_| self.workshare);
        outer.unwrap_or(self)
    }

    pub(crate) fn cancel(&self) {
        self.cancelled.store(true, SeqCst);
    }

    /// Whether tasks in the group that have not begun are to be dropped.
    pub(crate) fn is_discarded(&self) -> bool {
        self.cancelled.load(SeqCst) || self.to_cancel().cancelled.load(SeqCst)
    }

    /// Counts a new task in the group. Only a task in the group, or the task that has begun the group, makes such a
    /// task.
    pub(crate) fn enter(&self) {
        // Relaxed: the lock of a queue publishes the task.
        self.unfinished.fetch_add(1, Relaxed);
    }

    /// Whether all tasks in the group have ended.
    pub(crate) fn is_over(&self) -> bool {
        // Acquire makes visible what the tasks did.
        self.unfinished.load(Acquire) == 0
    }

    /// Counts that a task of the group has ended. The group may be freed at once after this.
    pub(crate) fn leave(&self) {
        // AcqRel: the thread that leaves the `taskgroup` sees what the task did.
        self.unfinished.fetch_sub(1, AcqRel);
    }
}

/// Frees the groups from `innermost` up to `outer`, without `outer` itself. A cancelled region has left these groups
/// open. All tasks in them have ended.
pub(super) fn abandon(innermost: *const Group, outer: *const Group) {
    let mut group = innermost;
    while group != outer {
        // SAFETY: `begin_group` made the group, and no task is in it.
        group = unsafe { Box::from_raw(group.cast_mut()) }.previous;
    }
}
