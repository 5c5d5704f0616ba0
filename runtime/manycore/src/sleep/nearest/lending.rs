//! A caller from outside borrows the permit of a worker that sleeps, and gives it back.
//!
//! The worker stays asleep meanwhile, so that a call which finds another caller in the pool costs no
//! wake-up. Until the permit is back the worker is not counted, and no poster finds it: the permit is at
//! work.
//!
//! # No wake-up is lost
//!
//! [`lay_back`](Nearest::lay_back) repeats the steps of [`sleep`](Nearest::sleep) on the worker's behalf: the
//! worker is counted and marked, lies in its parker, and the borrower fences and looks at all there is.
//! A poster that finds the worker still lent finds no sleeper. Its push, its fence, and its
//! look at the parker stand against the borrower's store to the parker, its fence, and its look for jobs. So the
//! borrower finds the job and has the worker get up, or the poster finds the worker lying.
//!
//! The worker is counted and marked before it lies down again. A thread that takes it out of its parker at once
//! therefore finds the count that the worker takes back.

use super::super::policy::Scan;
use super::Nearest;
use super::calling::FREE;
#[cfg(test)]
use super::calling::FenceFault;
use manycore_platform::{Atomic, AtomicInteger, Ordering, Platform};

impl<P: Platform> Nearest<P> {
    /// Takes the permit of a worker that sleeps and may take anything, if there is one.
    #[cold]
    pub(crate) fn borrow(&self) -> Option<usize> {
        // Relaxed: a hint.
        if self.callable.load(Ordering::Relaxed) < FREE {
            return None;
        }
        let worker = self.slots.lend()?;
        // Relaxed: as a worker that gets up.
        self.callable.fetch_sub(FREE, Ordering::Relaxed);
        Some(worker)
    }

    /// The borrower of the permit of `worker` is done. The worker sleeps on, unless `scan`, the borrower's, finds
    /// something for it.
    #[cold]
    pub(crate) fn lay_back(&self, worker: usize, scan: &dyn Scan) {
        // The steps of `sleep`. The head of this file says why the order differs.
        self.slots.mark(worker, true);
        self.callable.fetch_add(FREE, Ordering::Relaxed);
        self.fenced_posts.store(0, Ordering::Relaxed);
        self.slots.lay_back(worker);
        // Changes nothing. Release: a poster that reads what comes after it, with Acquire, finds the worker
        // lying; Acquire pairs with the Release of the sleeper that set SETTLED.
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

    /// The borrower waits, and the worker gets up with its permit.
    #[cold]
    pub(crate) fn give_back(&self, worker: usize) {
        // The worker takes the count and the mark back.
        self.slots.mark(worker, true);
        self.callable.fetch_add(FREE, Ordering::Relaxed);
        self.slots.give_back(worker);
    }

    /// Whether the permit of `worker` is lent, as seen a moment ago.
    pub(crate) fn is_lent(&self, worker: usize) -> bool {
        self.slots.is_lent(worker)
    }
}
