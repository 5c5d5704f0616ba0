//! The published policies under loom: some lose a wake-up, and the sound policies do not. A lost wake-up is
//! a deadlock of the model: a thread sleeps, and no event will wake it.

mod accounts;
mod between;
mod heuristic;
mod latch;
mod verdicts;
mod wrapped;

use super::discipline::Discipline;
use super::protocol::Published;
use super::variants::Variant;
use manycore::seam::Sleep;
use manycore::seam::{Idle, Latch};
use manycore::seam::{Scan, Seen, Setup};
use manycore_check::Faulty;
use manycore_platform::{Atomic, AtomicInteger, Ordering, Platform};
use std::sync::Arc;
use std::time::Duration;

/// A worker's deque or the injector (the pool's queue), as a number of jobs in one word. For loom a deque is only its
/// ends.
struct Jobs<P: Platform> {
    waiting: P::AtomicU32,
    /// Whether a thief fences before it looks, as in Chase and Lev's deque.
    thieves_fence: bool,
}

impl<P: Platform> Jobs<P> {
    fn new(thieves_fence: bool) -> Self {
        Self {
            waiting: P::AtomicU32::new(0),
            thieves_fence,
        }
    }

    fn push(&self) {
        // Release, as in a deque: this addition hands over the job, but orders nothing with the owner's later reads.
        self.waiting.fetch_add(1, Ordering::Release);
    }

    fn is_empty(&self) -> bool {
        self.waiting.load(Ordering::Acquire) == 0
    }

    fn take(&self) -> bool {
        if self.thieves_fence {
            P::fence(Ordering::SeqCst);
        }
        let mut left = self.waiting.load(Ordering::Acquire);
        while left > 0 {
            match (self.waiting).compare_exchange(
                left,
                left - 1,
                Ordering::Acquire,
                Ordering::Acquire,
            ) {
                Ok(_) => return true,
                Err(now) => left = now,
            }
        }
        false
    }
}

/// A pool, reduced to the parts that its policy uses: the deque of one worker, and the injector.
struct Pool<P: Platform, V: Variant, D: Discipline> {
    policy: Published<P, V, D>,
    deque: Jobs<P>,
    injector: Jobs<P>,
}

impl<P: Platform, V: Variant, D: Discipline> Pool<P, V, D> {
    /// The JEC (jobs event counter) is odd, as after a post that follows an announcement.
    fn new(workers: usize, thieves_fence: bool) -> Self {
        let setup = Setup {
            clusters: &vec![0; workers],
            idle: &Arc::new(Idle::new(Duration::ZERO, None, 1)),
        };
        let pool = Self {
            policy: Published::new(&setup),
            deque: Jobs::new(thieves_fence),
            injector: Jobs::new(thieves_fence),
        };
        pool.policy.posted(0, true);
        pool
    }

    fn push(&self, poster: usize) {
        self.deque.push();
        self.policy.posted(poster, true);
    }

    fn inject(&self) {
        self.injector.push();
        self.policy.injected(0, 1, true);
    }

    fn set(&self, latch: &Latch<P>, owner: usize) {
        if latch.set() {
            self.policy.notify(owner);
        }
    }

    fn take(&self) -> bool {
        self.deque.take() || self.injector.take()
    }

    /// Looks for work like a pool that waits for `latch`. Returns whether it found a job before the latch
    /// was set.
    fn look(&self, worker: usize, latch: &Latch<P>) -> bool {
        let mut idle = self.policy.start_looking(worker);
        let mut found = false;
        while !latch.is_set() {
            found = self.take();
            if found {
                break;
            }
            self.policy.no_work_found(worker, &mut idle, latch, self);
        }
        self.policy.work_found(worker, idle);
        found
    }
}

impl<P: Platform, V: Variant, D: Discipline> Scan for Pool<P, V, D> {
    fn injected(&self) -> bool {
        !self.injector.is_empty()
    }

    fn anything(&self) -> bool {
        self.injected() || !self.deque.is_empty()
    }

    fn seen(&self) -> Seen {
        Seen::default()
    }

    fn is_free(&self) -> bool {
        true
    }
}

type WithFault<F> = Faulty<manycore_check::Loom, F>;
