//! The signal mask of a worker (a kernel thread that executes ranks, the threads of a team), and ranks that block a
//! signal.
//!
//! A worker that has let a rank go keeps the rank's mask while it looks for another rank, since a change would cost a
//! system call. Meanwhile another worker may run that rank, and the rank may block a signal. If all threads of the
//! program have blocked this signal then, and it is sent to the process, it must not reach the first worker: that
//! worker's kernel thread still has the signal unblocked.
//!
//! So a rank that blocks a signal increments a count ([`Changes`]). Then the rank waits until each worker either runs a
//! rank, and so has that rank's mask, or has all signals blocked. A worker that looks for ranks reads the count. If the
//! count has changed, the worker blocks all signals.
//!
//! * *Nothing is missed.* A worker writes that it looks for ranks before it lets a rank go. It lets the rank go by a
//!   release, and the next worker takes the rank by an acquire. So the rank reads that the first worker looks, or reads
//!   a later state. The worker ends the state "looks" by a release, after the system call that changes the worker's
//!   mask. The rank acquires that store.
//! * *The wait ends.* A worker that looks for ranks reads the count repeatedly, and blocks all signals before it
//!   sleeps. Such a worker waits for no rank.
//!
//! In a program that blocks no signals in parallel regions, the protocol costs two stores to the worker's own cache
//! line for each switch between ranks. For each look it costs a load of the count, which does not change. The tests
//! below run the protocol under loom.

use manycore_platform::{Atomic, AtomicInteger, Native, Ordering, Platform};
use std::cell::Cell;
use std::sync::atomic::AtomicU32;

const CLOSED: u32 = 0;
const LOOKS: u32 = 1;

/// How often ranks have blocked signals.
pub(super) struct Changes<P: Platform>(P::AtomicU32);

/// The count of this process.
pub(super) static CHANGES: Changes<Native> = Changes(AtomicU32::new(0));

impl<P: Platform> Changes<P> {
    /// Called after the calling rank has blocked a signal. Returns when no worker still has that signal unblocked by an
    /// earlier mask of that rank.
    pub(super) fn await_all<'a>(&self, workers: impl Iterator<Item = &'a Mask<P>>, wait: impl Fn())
    where
        P: 'a,
    {
        // Relaxed: if a worker sees the count late, the loop below waits for that worker.
        self.0.fetch_add(1, Ordering::Relaxed);
        for mask in workers {
            // Acquire orders this load after the system call by which the worker changed its mask.
            while mask.state.load(Ordering::Acquire) == LOOKS {
                wait();
            }
        }
    }
}

/// A worker's signal mask. See the module.
pub(super) struct Mask<P: Platform> {
    /// The signals that the worker's kernel thread has blocked.
    has: Cell<u64>,
    /// The value of the count when the worker last blocked all signals.
    seen: Cell<u32>,
    state: P::AtomicU32,
}

impl<P: Platform> Mask<P> {
    /// The mask of a worker that begins. `mask` blocks all signals, or is the mask of the worker's rank.
    pub(super) fn new(mask: u64) -> Self {
        Self {
            has: Cell::new(mask),
            seen: Cell::new(0),
            state: P::AtomicU32::new(CLOSED),
        }
    }

    pub(super) fn get(&self) -> u64 {
        self.has.get()
    }

    /// The kernel thread has this mask now.
    pub(super) fn set(&self, mask: u64) {
        self.has.set(mask);
    }

    /// The kernel thread has the mask of the rank that it is to run.
    pub(super) fn runs(&self) {
        // Release orders this store after the system call that changed the mask.
        self.state.store(CLOSED, Ordering::Release);
    }

    /// The worker is about to let its rank go.
    pub(super) fn looks(&self) {
        // Relaxed: the later release of the rank publishes this store.
        self.state.store(LOOKS, Ordering::Relaxed);
    }

    /// Whether a rank has blocked a signal since this worker last blocked all signals.
    pub(super) fn is_stale(&self, changes: &Changes<P>) -> bool {
        changes.0.load(Ordering::Relaxed) != self.seen.get()
    }

    /// Blocks all signals of the worker, by a call of `block`.
    pub(super) fn rest(&self, changes: &Changes<P>, all: u64, block: impl FnOnce()) {
        let seen = changes.0.load(Ordering::Relaxed);
        if self.has.get() != all {
            block();
            self.has.set(all);
        }
        self.seen.set(seen);
        // Release orders this store after the system call that changed the mask.
        self.state.store(CLOSED, Ordering::Release);
    }
}

// SAFETY: only the worker's kernel thread reads and writes the two cells. Others touch only `state`, an atomic.
unsafe impl<P: Platform> Sync for Mask<P> {}

#[cfg(test)]
mod tests {
    use super::super::ownership::RankWord;
    use super::*;
    use manycore_check::{Faulty, Loom, Relaxed, caught, loom_model, team};
    use manycore_cores::sync::Bell;

    /// A worker lets its rank go and looks for others. The rank blocks a signal elsewhere: after that the first kernel
    /// thread has it blocked, too.
    fn a_rank_blocks<P: Platform>(waits: bool) {
        let bell = Bell::<P>::new();
        let (word, changes) = (RankWord::<P>::running(), Changes::<P>(P::AtomicU32::new(0)));
        let (mask, is_open) = (Mask::<P>::new(0), P::AtomicU32::new(1));
        team::<P>(2, |index| {
            if index == 0 {
                mask.looks();
                word.leave(&bell);
                while !mask.is_stale(&changes) {
                    P::relax();
                }
                mask.rest(&changes, 1, || is_open.store(0, Ordering::Relaxed));
            } else {
                while !word.claim() {
                    P::relax();
                }
                let workers = waits.then_some(&mask);
                changes.await_all(workers.into_iter(), P::relax);
                assert_eq!(is_open.load(Ordering::Relaxed), 0);
            }
        });
    }

    #[test]
    fn a_blocked_signal_is_open_nowhere() {
        loom_model(None, || a_rank_blocks::<Loom>(true));
    }

    #[test]
    fn to_wait_for_no_worker_is_caught() {
        caught(|| loom_model(None, || a_rank_blocks::<Loom>(false)));
        caught(|| loom_model(None, || a_rank_blocks::<Faulty<Loom, Relaxed>>(true)));
    }
}
