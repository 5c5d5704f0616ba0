//! Counts what uses a task: its children that have not ended, and the references to its memory.
//!
//! A child may end on any thread, and that thread counts the end in one shared word. Only the task's own thread makes
//! children, and counts them in a cell. So that this is enough, the word begins as if [`LENT`] children had been made,
//! and the unused part is subtracted when the task ends. So making a child needs no atomic operation and does not touch
//! the shared cache line.

use std::cell::Cell;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};

/// One child that has not ended. The upper half of the word counts these.
const CHILD: u64 = 1 << 32;
/// One reference to the task's memory. The lower half of the word counts these. The task has one until it ends, the
/// memory of each child has one, and each [`keep`](Counts::keep) adds one.
const REFERENCE: u64 = 1;
/// The number of children, with a reference each, that the word counts before they are made.
const LENT: u64 = 1 << 30;
/// The word of a task without children: `LENT` children, and the task's own reference.
const FRESH: u64 = LENT * (CHILD + REFERENCE) + REFERENCE;

/// See the module.
#[repr(C)]
pub(crate) struct Counts {
    /// How many of the [`LENT`] children were made. Only the task's thread accesses this cell.
    made: Cell<u64>,
    /// This word is on another cache line than the fields that the task's thread uses.
    word: Line,
}

#[repr(align(64))]
struct Line(AtomicU64);

impl Counts {
    pub(crate) fn new() -> Self {
        Self {
            word: Line(AtomicU64::new(FRESH)),
            made: Cell::new(0),
        }
    }

    /// Counts that the task's thread makes a child.
    #[inline]
    pub(crate) fn add_child(&self) {
        let made = self.made.get() + 1;
        self.made.set(made);
        if made == LENT {
            // Relaxed: the children that this addition lends are not made yet.
            self.word.0.fetch_add(LENT * (CHILD + REFERENCE), Relaxed);
            self.made.set(0);
        }
    }

    /// Whether all children have ended. Other threads may call this only while the task's thread waits.
    #[inline]
    pub(crate) fn has_no_children(&self) -> bool {
        // Acquire makes visible what the children did.
        self.word.0.load(Acquire) / CHILD == LENT - self.made.get()
    }

    /// Counts the end of a child. The memory of the child is still needed.
    pub(crate) fn end_child(&self) {
        // AcqRel: the parent sees what the child did.
        self.word.0.fetch_sub(CHILD, AcqRel);
    }

    /// Counts the end of a child. The memory of the child is no longer needed. Returns whether nothing keeps the task's
    /// memory now.
    pub(crate) fn drop_child(&self) -> bool {
        self.take(CHILD + REFERENCE)
    }

    /// Adds a reference. The caller knows that the task exists.
    pub(crate) fn keep(&self) {
        // Relaxed: the caller already has a reference, so the count cannot be 0.
        self.word.0.fetch_add(REFERENCE, Relaxed);
    }

    /// Drops a reference. Returns whether nothing keeps the task's memory now.
    pub(crate) fn drop_one(&self) -> bool {
        self.take(REFERENCE)
    }

    /// Whether only the task itself, which makes no more children, has a reference to its memory.
    #[inline]
    pub(crate) fn is_alone(&self) -> bool {
        // Acquire makes visible what children did with the task.
        self.word.0.load(Acquire) == FRESH - self.made.get() * (CHILD + REFERENCE)
    }

    /// Ends the task: drops its own reference and the unused part of the [`LENT`] children. Returns whether nothing
    /// keeps the task's memory now.
    pub(crate) fn end(&self) -> bool {
        self.take((LENT - self.made.get()) * (CHILD + REFERENCE) + REFERENCE)
    }

    /// Whether the task has ended and only a reference from one child keeps its memory. The task counts the child
    /// unless the child is `adopted`.
    pub(crate) fn is_kept_by_child(&self, adopted: bool) -> bool {
        let child = if adopted {
            REFERENCE
        } else {
            CHILD + REFERENCE
        };
        // A task that has not ended has more references: its own, and at least one that was lent.
        // Acquire: all accesses to the task happen before its memory is used again.
        self.word.0.load(Acquire) == child
    }

    fn take(&self, counts: u64) -> bool {
        // AcqRel: all accesses to the task happen before its memory is used again.
        let left = self.word.0.fetch_sub(counts, AcqRel) - counts;
        left.is_multiple_of(CHILD)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_reference_frees() {
        let counts = Counts::new();
        assert!(counts.is_alone() && counts.has_no_children());
        counts.add_child();
        counts.add_child();
        assert!(!counts.is_alone() && !counts.has_no_children());
        assert!(!counts.drop_child());
        counts.end_child();
        assert!(counts.has_no_children());
        counts.keep();
        assert!(!counts.is_alone());
        counts.add_child();
        assert!(!counts.is_kept_by_child(false));
        assert!(!counts.end());
        assert!(!counts.drop_one());
        assert!(!counts.is_kept_by_child(false));
        assert!(!counts.drop_one());
        assert!(counts.is_kept_by_child(false) && !counts.is_kept_by_child(true));
        counts.end_child();
        assert!(counts.is_kept_by_child(true) && !counts.is_kept_by_child(false));
        assert!(counts.drop_one());
    }

    #[test]
    fn more_children_than_were_lent() {
        let counts = Counts::new();
        counts.made.set(LENT - 1);
        counts
            .word
            .0
            .store(FRESH - (LENT - 1) * (CHILD + REFERENCE), Relaxed);
        assert!(counts.has_no_children());
        counts.add_child();
        assert!(!counts.has_no_children());
        counts.add_child();
        assert!(!counts.drop_child() && !counts.drop_child());
        assert!(counts.has_no_children());
        assert!(counts.end());
    }
}
