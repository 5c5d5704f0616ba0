//! A caller from outside the pool borrows the permit (the right to run jobs) of a sleeping worker, and gives it back.
//!
//! The worker stays asleep during the loan, so the call costs no wake-up even if another caller is in the
//! pool. Until the permit is back the worker is not counted as a sleeper, and no poster finds it.
//!
//! # No wake-up is lost
//!
//! [`lay_back`](Nearest::lay_back) repeats the steps of [`sleep`](Nearest::sleep) for the worker: the borrower counts
//! and marks the worker, stores in the parker that the worker sleeps, makes a fence, and looks for all kinds of work.
//! If a poster finds that the worker's permit is still lent, it finds no sleeper. The poster pushes, makes a fence,
//! and reads the parker. The borrower stores to the parker, makes a fence, and looks for jobs. So the borrower finds
//! the job and wakes the worker, or the poster finds the sleeper.
//!
//! The borrower counts and marks the worker before it stores to the parker. So if a thread at once takes the
//! worker out of its parker, the count is there for the worker to subtract.

use super::super::policy::Scan;
use super::Nearest;
use super::calling::FREE;
#[cfg(test)]
use super::calling::FenceFault;
use manycore_platform::{Atomic, AtomicInteger, Ordering, Platform};

impl<P: Platform> Nearest<P> {
    /// Borrows the permit of a sleeper that may take any job, if there is one.
    #[cold]
    pub(crate) fn borrow(&self) -> Option<usize> {
        // Relaxed: this is a hint.
        if self.callable.load(Ordering::Relaxed) < FREE {
            return None;
        }
        let worker = self.slots.lend()?;
        // Relaxed, as when a worker gets up.
        self.callable.fetch_sub(FREE, Ordering::Relaxed);
        Some(worker)
    }

    /// Returns the permit to `worker`. The worker sleeps on, unless the borrower's `scan` finds work.
    #[cold]
    pub(crate) fn lay_back(&self, worker: usize, scan: &dyn Scan) {
        // These are the steps of `sleep`. The top of this file says why the order differs.
        self.slots.mark(worker, true);
        self.callable.fetch_add(FREE, Ordering::Relaxed);
        self.slots.lay_back(worker);
        // The `fetch_or` of 0 keeps the value. Release: a poster that reads this or a later value with acquire finds
        // the worker in its parker. Acquire pairs with the release by the sleeper that set SETTLED.
        let word = self.callable.fetch_or(0, Ordering::AcqRel);
        #[cfg(test)]
        if self.fault == Some(FenceFault::NoLookAfterLoan) {
            return;
        }
        self.fence_against_posters(word);
        if scan.anything() && !self.leaves_it(worker, scan) {
            self.notify(worker);
        }
    }

    /// Returns the permit to `worker` and wakes it, because the borrower begins to wait.
    #[cold]
    pub(crate) fn give_back(&self, worker: usize) {
        // The worker subtracts the count and clears the mark when it gets up.
        self.slots.mark(worker, true);
        self.callable.fetch_add(FREE, Ordering::Relaxed);
        self.slots.give_back(worker);
    }

    /// Whether the permit of `worker` is lent, as seen a moment ago.
    pub(crate) fn is_lent(&self, worker: usize) -> bool {
        self.slots.is_lent(worker)
    }
}
