//! A worker whose permit is borrowed from another worker, which sleeps (`sleep/nearest/lending.rs`).
//!
//! A caller from outside that finds the caller slot taken becomes such a worker for the time of its call
//! (`pool/visit.rs`). While it waits beside others' jobs it gives the permit back: the sleeping worker gets up.
//! After that it is a worker like any other, and returns with whatever permit it gets.

use crate::pool::permits::Successor;
use crate::pool::search::{Look, Waits};
use crate::pool::worker::Worker;
use crate::sleep::{Scan, Seen};
use manycore_platform::{Atomic, Ordering, Platform};

/// The last look of a borrower, for the worker whose permit it gives back.
struct AfterLoan<'a, P: Platform>(Look<'a, P>);

impl<P: Platform> Scan for AfterLoan<'_, P> {
    fn injected(&self) -> bool {
        self.0.injected()
    }

    fn anything(&self) -> bool {
        let worker = self.0.worker;
        // A loop that is posted after this finds the worker counted. One that was posted before is
        // on the board.
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
    /// This worker, which had none, borrows `permit`.
    pub(in crate::pool) fn begin_visit(&self, permit: usize) {
        self.set_permit(permit);
        // Relaxed: others read it as a hint.
        self.holding().borrowed.store(true, Ordering::Relaxed);
        self.set_busy(true);
        self.note_work();
    }

    /// Gives its permit up, for good.
    pub(in crate::pool) fn end_visit(&self) {
        let (registry, permit) = (self.registry(), self.permit());
        self.set_busy(false);
        if self.take_borrowed() {
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

    /// Whether its permit is borrowed; from here on it is not.
    pub(super) fn take_borrowed(&self) -> bool {
        let borrowed = &self.holding().borrowed;
        // Relaxed: only the worker itself writes it.
        let was_borrowed = borrowed.load(Ordering::Relaxed);
        if was_borrowed {
            borrowed.store(false, Ordering::Relaxed);
        }
        was_borrowed
    }

    /// Whether another worker has borrowed its permit, as a hint.
    pub(super) fn has_lent(&self, permit: usize) -> bool {
        self.sleep().is_lent(permit) && !self.holding().borrowed.load(Ordering::Relaxed)
    }
}
