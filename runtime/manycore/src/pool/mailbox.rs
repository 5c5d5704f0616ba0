//! Jobs that are sent to one permit, and what becomes of them when the permit's last holder has left.
//!
//! # Why no mail is left unread
//!
//! Until the pool ends, every permit has a holder. The holder reads its mailbox, or gives the permit away
//! while it waits (`Registry::send` makes it do so). Later some holders have left while other threads still
//! send: a job of a scope, for which the end does not wait, may broadcast. A thread that the pool has
//! adopted may broadcast at any time. So a worker that has seen the pool's end leaves in two steps:
//!
//! * L1: say that it is absent; fence.
//! * L2: look once more for mail; stay if there is mail.
//!
//! A thread that sends mail to this worker:
//!
//! * S1: push; fence (in `Registry::send`).
//! * S2: if the pool ends, look for the mail of absent workers in each search from then on.
//!
//! If L1's fence comes before S1's fence, the sender's next search sees that the worker is absent. The search
//! also sees that the pool ends, since the worker saw that before L1. If S1's fence comes first, L2 finds the
//! mail. Checked by `pool::checked::mailbox`.
//!
//! `Registry::terminate` declares an adopted thread that takes no part in the end absent before it says that
//! the pool ends. So a thread that sees the end also sees that the adopted thread is absent.

use super::job::{Group, Job};
use super::queue::Queue;
use manycore_platform::{Atomic, CachePadded, Ordering, Platform};

/// Jobs addressed to one permit.
pub(super) struct Mailbox<P: Platform> {
    jobs: CachePadded<Queue<P>>,
    /// Set when the pool ends. The holder may not return, and every worker may take the mail.
    absent: CachePadded<P::AtomicBool>,
}

impl<P: Platform> Mailbox<P> {
    pub(super) fn new() -> Self {
        Self {
            jobs: Queue::new(),
            absent: CachePadded::new(P::AtomicBool::new(false)),
        }
    }

    /// For a simulator's accounts.
    pub(super) fn name(&self) {
        self.jobs.name("worker: mailbox");
    }

    pub(super) fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    pub(super) fn push(&self, job: Job) {
        self.jobs.push(job);
    }

    /// Takes the oldest job, if it is within `group`.
    pub(super) fn take_first_within(&self, group: *const Group) -> Option<Job> {
        self.jobs.take_first_within(group)
    }

    /// Whether there is mail that every worker may take.
    pub(super) fn is_left(&self) -> bool {
        // Relaxed: the fences, or the release by `Registry::terminate`, keep this from being seen too late.
        self.absent.load(Ordering::Relaxed) && !self.is_empty()
    }

    /// Takes the oldest job.
    pub(super) fn take_first(&self) -> Option<Job> {
        self.jobs.take_first()
    }

    /// Declares a worker that has seen the pool's end absent. Returns `false` if there is mail: then the worker
    /// must stay.
    pub(super) fn leave(&self) -> bool {
        // L1 before L2. A thread that sees the flag reads only what the queue's lock guards.
        // SeqCst only because the result is unused: see `Platform::fence_after_rmw`.
        self.absent.swap(true, Ordering::SeqCst);
        P::fence_after_rmw();
        self.is_empty()
    }

    /// Declares a worker absent that takes no part in the pool's end. Called before the end is announced.
    pub(super) fn desert(&self) {
        // Relaxed: the release that announces the pool's end publishes this.
        self.absent.store(true, Ordering::Relaxed);
    }

    /// Resets the mailbox of a pool that goes on after its threads have ended.
    pub(super) fn come_back(&self) {
        // Relaxed: the starts of threads publish this.
        self.absent.store(false, Ordering::Relaxed);
    }

    /// As `take_first`, for another worker that has seen that the pool ends.
    pub(super) fn take_left(&self) -> Option<Job> {
        self.is_left().then(|| self.take_first())?
    }

    /// As `take_left`, if the oldest job is within `group`.
    pub(super) fn take_left_within(&self, group: *const Group) -> Option<Job> {
        self.is_left().then(|| self.take_first_within(group))?
    }
}
