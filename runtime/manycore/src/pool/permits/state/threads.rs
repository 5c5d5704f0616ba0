//! Transitions of the pool's threads as a whole: whether they have been started, which workers have no thread, and
//! whether the threads may end.

use super::super::word::Word;
use super::{State, ThreadState};
use manycore_platform::Platform;
use std::cmp::Reverse;
use std::ops::Range;

impl<P: Platform> State<'_, P> {
    pub(in crate::pool) fn thread_state(&self) -> ThreadState {
        self.lists.thread_state
    }

    /// The threads are absent. `lacking` says whether a posted job could use one of them.
    pub(in crate::pool) fn be_absent(&mut self, lacking: bool) {
        self.lists.thread_state = ThreadState::Absent;
        self.set_lacking(lacking);
    }

    /// All threads have been started.
    pub(in crate::pool) fn be_present(&mut self) {
        self.lists.thread_state = ThreadState::Present;
        self.set_lacking(false);
    }

    fn set_lacking(&mut self, lacking: bool) {
        self.lists.changed |= self.lists.lacking != lacking;
        self.lists.lacking = lacking;
    }

    /// Takes a worker that has no thread, for the next thread to be started: the lowest, so that the numbers in use stay
    /// low.
    pub(in crate::pool) fn take_spare(&mut self) -> Option<usize> {
        self.lists.spare.pop().map(|Reverse(id)| id)
    }

    /// The thread of worker `id` could not be started.
    pub(in crate::pool) fn keep_spare(&mut self, id: usize) {
        self.lists.spare.push(Reverse(id));
    }

    /// Counts one more registration.
    pub(in crate::pool) fn register(&mut self) {
        self.lists.registrations += 1;
    }

    /// Counts one registration less.
    pub(in crate::pool) fn deregister(&mut self) {
        self.lists.registrations -= 1;
    }

    /// Notes that the thread with this id enters a scope without being a worker.
    pub(in crate::pool) fn enter_scope(&mut self, thread: u64) {
        self.register();
        self.lists.inside.push(thread);
    }

    /// Notes that the thread leaves the scope.
    pub(in crate::pool) fn leave_scope(&mut self, thread: u64) {
        self.deregister();
        let at = self.lists.inside.iter().position(|&other| other == thread);
        if let Some(at) = at {
            self.lists.inside.swap_remove(at);
        }
    }

    /// Whether the thread with this id is in a scope without being a worker.
    pub(in crate::pool) fn is_in_scope(&self, thread: u64) -> bool {
        self.lists.inside.contains(&thread)
    }

    /// Makes the threads end if none is at work and no caller comes. `kept` says whether a thread that the pool started
    /// has the caller slot (the role of worker 0) for good. `posted` says whether a detached task has not ended.
    pub(in crate::pool) fn end_if_quiet(&mut self, kept: bool, posted: bool) -> bool {
        if self.lists.registrations > 0 || posted {
            return false;
        }
        if !kept {
            let (before, after) = self.change(Word::closed);
            if before == after {
                return false;
            }
            // Exit handlers may need permit 0 (a right to run jobs). The thread that has closed the
            // slot only waits.
            self.lists.free.push(0);
        }
        self.lists.thread_state = ThreadState::Leaving;
        true
    }

    /// The pool is about to end. Returns the permits that are lost: their mailboxes have no reader from now on.
    pub(in crate::pool) fn begin_end(&mut self) -> Vec<usize> {
        self.lists.ending = true;
        self.lists.free.clone()
    }

    /// The pool ends: no worker joins the idle list any more. Returns the workers on the idle list,
    /// which must end.
    pub(in crate::pool) fn close(&mut self) -> Vec<usize> {
        self.lists.closed = true;
        std::mem::take(&mut self.lists.idle)
    }

    /// All threads have ended, and the pool goes on. The threads of the workers in `spare` are started later, when a
    /// permit needs one. `kept` and `posted` are as in [`end_if_quiet`](Self::end_if_quiet).
    pub(in crate::pool) fn reopen(
        &mut self,
        spare: Range<usize>,
        lacking: bool,
        kept: bool,
        posted: bool,
    ) {
        debug_assert!(self.lists.idle.is_empty() && self.lists.ready.is_empty());
        self.lists.spare = spare.map(Reverse).collect();
        self.lists.free.clear();
        (self.lists.ending, self.lists.closed) = (false, false);
        if !kept {
            self.change(if posted {
                Word::left_vacant
            } else {
                Word::left
            });
        }
        self.be_absent(lacking);
    }

    /// Threads that have not started will never start. Makes their permits free.
    pub(in crate::pool) fn start_no_more(&mut self, permits: Range<usize>) {
        self.lists.free.extend(permits);
        self.be_present();
    }
}
