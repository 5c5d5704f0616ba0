//! The users of a task: its children that have not ended, and references to its memory.
//!
//! Children end on any thread, and count that in one word. The thread that runs the task makes
//! children, and counts them itself: the word begins as if [`LENT`] children had been made, and the
//! unused part is subtracted when the task ends. So making a child is no atomic operation, and a
//! member that makes tasks does not wait for the line on which others count their ends.

use std::cell::Cell;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};

/// A child that has not ended; counted in the word's upper half.
const CHILD: u64 = 1 << 32;
/// In its lower half: the task's own until it ends, one for each child's memory, and others'.
const REFERENCE: u64 = 1;
/// Children, and their references, that are counted before they are made.
const LENT: u64 = 1 << 30;
/// With no child, and the task's own reference.
const FRESH: u64 = LENT * (CHILD + REFERENCE) + REFERENCE;

/// See the module.
#[repr(C)]
pub(crate) struct Counts {
    /// How many of the lent children were made; only the task's thread reads and writes it.
    made: Cell<u64>,
    /// In another line than what the task's thread uses.
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

    /// The task's thread makes a child.
    #[inline]
    pub(crate) fn add_child(&self) {
        let made = self.made.get() + 1;
        self.made.set(made);
        if made == LENT {
            // Relaxed: the children that this is for are not made yet.
            self.word.0.fetch_add(LENT * (CHILD + REFERENCE), Relaxed);
            self.made.set(0);
        }
    }

    /// Whether all children have ended. The task's thread asks, or another while it waits.
    #[inline]
    pub(crate) fn has_no_children(&self) -> bool {
        // Acquire: what they did.
        self.word.0.load(Acquire) / CHILD == LENT - self.made.get()
    }

    /// A child has ended, and its memory is still needed.
    pub(crate) fn end_child(&self) {
        // AcqRel: the parent sees what the child did.
        self.word.0.fetch_sub(CHILD, AcqRel);
    }

    /// A child has ended, and its memory is not needed. Whether nothing keeps the task now.
    pub(crate) fn drop_child(&self) -> bool {
        self.take(CHILD + REFERENCE)
    }

    /// A thread that knows that the task exists keeps it.
    pub(crate) fn keep(&self) {
        // Relaxed: whoever has a reference may make another.
        self.word.0.fetch_add(REFERENCE, Relaxed);
    }

    /// A reference goes. Whether nothing keeps the task now.
    pub(crate) fn drop_one(&self) -> bool {
        self.take(REFERENCE)
    }

    /// Whether only the task itself, which makes no more children, keeps its memory: no child whose
    /// memory still exists, and no reference.
    #[inline]
    pub(crate) fn is_alone(&self) -> bool {
        // Acquire: what children did with it.
        self.word.0.load(Acquire) == FRESH - self.made.get() * (CHILD + REFERENCE)
    }

    /// The task has ended: its own reference goes, and what was lent and not used. Whether nothing
    /// keeps it now.
    pub(crate) fn end(&self) -> bool {
        self.take((LENT - self.made.get()) * (CHILD + REFERENCE) + REFERENCE)
    }

    fn take(&self, counts: u64) -> bool {
        // AcqRel: all that was done with the task is over when its memory is used again.
        let left = self.word.0.fetch_sub(counts, AcqRel) - counts;
        left.is_multiple_of(CHILD)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_one_frees() {
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
        assert!(!counts.end());
        assert!(!counts.drop_one());
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
