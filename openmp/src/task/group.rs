//! Groups of tasks.

use std::ptr;
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize};

/// A `taskgroup`. It lives until the task that has begun it finds that all tasks in it have ended.
pub(crate) struct Group {
    /// The group around, or null.
    previous: *const Self,
    unfinished: AtomicUsize,
    cancelled: AtomicBool,
    /// Whether it belongs to a work share with reductions over tasks.
    pub(crate) workshare: bool,
    /// The compiled program's description of reductions.
    pub(crate) reductions: AtomicPtr<usize>,
}

// SAFETY: all fields but `previous` are atomics or numbers. `previous` is written before another thread knows the group, and
// leads to a group that lives longer.
unsafe impl Sync for Group {}
// SAFETY: a group belongs to no thread: the last `Arc` of a region's may be dropped by any member.
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

    /// The group that the members of a region begin in.
    pub(crate) fn of_region() -> Arc<Self> {
        Arc::new(Self::new(ptr::null(), false))
    }

    /// The group around this one.
    pub(crate) fn previous(&self) -> Option<&Self> {
        // SAFETY: the group around ends after this one.
        unsafe { self.previous.as_ref() }
    }

    /// The group that `cancel taskgroup` means: a work share's stands in the one around.
    pub(crate) fn to_cancel(&self) -> &Self {
        let outer = self.previous().filter(|_| self.workshare);
        outer.unwrap_or(self)
    }

    pub(crate) fn cancel(&self) {
        self.cancelled.store(true, SeqCst);
    }

    /// Whether its tasks that are not begun are to be dropped.
    pub(crate) fn is_discarded(&self) -> bool {
        self.cancelled.load(SeqCst) || self.to_cancel().cancelled.load(SeqCst)
    }

    /// A task in it, or the one that has begun it, makes a task in it.
    pub(crate) fn enter(&self) {
        // Relaxed: the task is handed on by a queue's lock.
        self.unfinished.fetch_add(1, Relaxed);
    }

    /// Whether all of its tasks have ended.
    pub(crate) fn is_over(&self) -> bool {
        // Acquire: what its tasks did.
        self.unfinished.load(Acquire) == 0
    }

    /// A task of the group has ended. The group may be gone at once.
    pub(crate) fn leave(&self) {
        // AcqRel: what the task did is seen when the group is left.
        self.unfinished.fetch_sub(1, AcqRel);
    }
}

/// Frees the groups from the innermost on up to `outer`, which a region that was cancelled has left
/// open. All of their tasks have ended.
pub(super) fn abandon(innermost: *const Group, outer: *const Group) {
    let mut group = innermost;
    while group != outer {
        // SAFETY: made by `begin_group`, and no task is in it.
        group = unsafe { Box::from_raw(group.cast_mut()) }.previous;
    }
}
