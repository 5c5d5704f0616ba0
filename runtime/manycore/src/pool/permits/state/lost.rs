//! Transitions of lost permits: permits that have no holder in a pool that goes on, because the system refused a thread
//! or the pool has no reserve.
//!
//! A lost permit goes to the next worker that would join a list, but to an idle worker only if the
//! allotment lets it run with the permit. Permit 0 is lost in another way: it returns to the caller
//! slot.

use super::super::word::Word;
use super::{State, Successor, ThreadState};
use manycore_platform::Platform;

/// The fate of a permit for which there is no thread.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub(in crate::pool) enum Lost {
    /// This worker gets the permit after all. The worker is on no list any more.
    Found(usize),
    /// The permit waits for the next worker. Permit 0 has returned to the caller slot.
    Free,
    /// As `Free`, and the pool ends: the permit's mailbox has no reader of its own.
    Deserted,
}

impl<P: Platform> State<'_, P> {
    /// There was no thread for `permit`. A worker that has joined a list since gets the permit. If there is none,
    /// permit 0 returns to the caller slot, and any other permit waits for the next worker that would join a list.
    pub(in crate::pool) fn lose(&mut self, permit: usize) -> Lost {
        if let Some(worker) = self.next_ready().or_else(|| self.lists.idle.pop()) {
            return Lost::Found(worker);
        }
        if permit == 0 {
            self.change(Word::given_up);
            return Lost::Free;
        }
        self.lists.free.push(permit);
        match self.lists.ending {
            true => Lost::Deserted,
            false => Lost::Free,
        }
    }

    /// Takes a lost permit that `suits`. If the pool ends, its free permits are for the exit handlers of threads.
    pub(in crate::pool) fn find_lost(&mut self, suits: impl Fn(usize) -> bool) -> Option<usize> {
        let at = self.position_of_lost(suits)?;
        Some(self.lists.free.swap_remove(at))
    }

    /// Whether there is a permit that [`find_lost`](Self::find_lost) would take.
    pub(in crate::pool) fn has_lost(&self, suits: impl Fn(usize) -> bool) -> bool {
        self.position_of_lost(suits).is_some()
    }

    fn position_of_lost(&self, suits: impl Fn(usize) -> bool) -> Option<usize> {
        if self.lists.ending || self.lists.thread_state == ThreadState::Leaving {
            return None;
        }
        self.lists.free.iter().position(|&permit| suits(permit))
    }

    /// As [`find_lost`](Self::find_lost), with the thread that gets the permit.
    pub(in crate::pool) fn fill_lost(
        &mut self,
        suits: impl Fn(usize) -> bool,
    ) -> Option<(usize, Successor)> {
        let permit = self.find_lost(suits)?;
        Some((permit, self.successor()))
    }
}
