//! A worker with a borrowed permit (right to run jobs). The permit's own worker sleeps (`sleep/nearest/lending.rs`).
//!
//! If a caller from outside finds the caller slot (the role of worker 0) taken, it becomes such a
//! worker for the time of its call (`pool/visit.rs`). If the caller waits while unrelated jobs are
//! pending, it gives the permit back, and the sleeping worker gets up. After that the caller is a
//! worker like any other, and when its wait is over it gets any permit.

use super::NOWHERE;
use crate::pool::context::Context;
use crate::pool::permits::Successor;
use crate::pool::search::{Look, Waits};
use crate::pool::worker::Worker;
use crate::sleep::{Scan, Seen};
use manycore_platform::{Atomic, Ordering, Platform};

/// A borrower's last look, on behalf of the worker that gets its permit back.
struct AfterLoan<'a, P: Platform>(Look<'a, P>);

impl<P: Platform> Scan for AfterLoan<'_, P> {
    fn injected(&self) -> bool {
        self.0.injected()
    }

    fn anything(&self) -> bool {
        let worker = self.0.worker;
        // The poster of a later loop finds that the worker is counted as a sleeper. An earlier loop is on the board
        // (the list of posted loops).
        worker.note_posts();
        self.wants_it() || worker.is_invited() || self.0.anything()
    }

    fn wants_it(&self) -> bool {
        self.0.worker.registry().shared().is_terminating() || self.0.wants_it()
    }

    fn seen(&self) -> Seen {
        self.0.seen()
    }

    fn is_free(&self) -> bool {
        true
    }
}

impl<P: Platform> Worker<P> {
    /// This worker, which had no permit, borrows `permit`.
    pub(in crate::pool) fn begin_visit(&self, permit: usize) {
        self.set_permit(permit);
        // Relaxed: other threads read this as a hint.
        (self.holding().borrowed).store(permit as u32, Ordering::Relaxed);
        self.set_busy(true);
        self.note_work();
    }

    /// Reads the mail (jobs that were sent) of `permit`, which is lost. Meanwhile the current thread is this worker,
    /// which has no thread of its own. Returns the permit that the worker has at the end, since a job that waits may
    /// exchange it.
    pub(in crate::pool) fn read_mail_with(&self, permit: usize) -> usize {
        self.set_permit(permit);
        self.set_busy(true);
        self.note_work();
        Context::of_worker(self).enter(|| self.read_mail());
        let permit = self.permit();
        self.set_busy(false);
        self.holding().clear();
        permit
    }

    /// Gives the worker's permit up when the visit ends.
    pub(in crate::pool) fn end_visit(&self) {
        let (registry, permit) = (self.registry(), self.permit());
        self.set_busy(false);
        if self.take_borrowed(permit) {
            self.note_idle();
            let look = Look {
                worker: self,
                waits: Waits::Idle,
            };
            self.sleep().lay_back(permit, &AfterLoan(look));
            self.holding().clear();
        } else {
            self.holding().clear();
            let successor: Successor = registry.change_permits(|permits| permits.give(false));
            registry.pass_on_or_lose(permit, &successor);
        }
    }

    /// Ends the loan of `permit`. Returns whether the permit was borrowed. A worker may be granted a second permit
    /// while it has the borrowed permit.
    pub(super) fn take_borrowed(&self, permit: usize) -> bool {
        let borrowed = &self.holding().borrowed;
        // Relaxed: only the worker itself writes this.
        let is_borrowed = borrowed.load(Ordering::Relaxed) == permit as u32;
        if is_borrowed {
            borrowed.store(NOWHERE, Ordering::Relaxed);
        }
        is_borrowed
    }

    /// Whether another worker has borrowed this worker's permit, as a hint.
    pub(super) fn has_lent(&self, permit: usize) -> bool {
        let borrowed = self.holding().borrowed.load(Ordering::Relaxed);
        self.sleep().is_lent(permit) && borrowed != permit as u32
    }
}
