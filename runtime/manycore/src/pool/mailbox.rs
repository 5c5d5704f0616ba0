//! Jobs that are sent to one permit, and what becomes of them when its last holder has left.
//!
//! # Why no mail is left unread
//!
//! Until the pool ends every permit has a holder that comes by its mailbox, or that gives the
//! permit away if it waits (`Registry::send` sees to that). After that some holders have left while
//! others still send: a job that the end does not wait for (a scope's, for one) may broadcast, and
//! so may a thread that the pool has adopted, for ever. So a worker that ends, having seen the
//! pool's end,
//!   L1 says that it is absent, fence; L2 looks once more whether there is mail,
//!   and stays if there is.
//!
//! A thread that sends to it  
//!   S1 pushes, fence (the post's in `Registry::send`); S2 if the pool ends, looks, in
//!   each search from then on, for the mail of absent workers.
//!
//! If L1's fence comes before S1's, the sender's next search finds the worker
//! absent, and that the pool ends, which the worker has seen before L1. If S1's
//! comes first, L2 finds the mail. Checked by `pool::checked::mailbox`.
//!
//! An adopted thread that takes no part in the end is declared absent by
//! `Registry::terminate`, before the end: a thread that sees the end sees that, too.

use super::job::{Group, Job};
use super::queue::Queue;
use manycore_platform::{Atomic, CachePadded, Ordering, Platform};

/// Jobs addressed to one permit.
pub(super) struct Mailbox<P: Platform> {
    jobs: CachePadded<Queue<P>>,
    /// Set as the pool ends: the worker may not come again, and the mail is
    /// everybody's.
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

    /// The oldest, if it is within `group`.
    pub(super) fn take_first_within(&self, group: *const Group) -> Option<Job> {
        self.jobs.take_first_within(group)
    }

    /// Whether there is mail that is everybody's.
    pub(super) fn is_left(&self) -> bool {
        // Relaxed: not seen too late, by the fences or the release above.
        self.absent.load(Ordering::Relaxed) && !self.is_empty()
    }

    /// The oldest.
    pub(super) fn take_first(&self) -> Option<Job> {
        self.jobs.take_first()
    }

    /// Ends the worker's part in a pool that ends, as the worker has seen; `false`: there is mail, and it
    /// must stay.
    pub(super) fn leave(&self) -> bool {
        // L1 before L2. Nothing is read on the strength of it but what the queue's lock guards.
        // SeqCst only because the result is unused: see `Platform::fence_after_rmw`.
        self.absent.swap(true, Ordering::SeqCst);
        P::fence_after_rmw();
        self.is_empty()
    }

    /// Says, before the pool's end is, that the worker takes no part in that.
    pub(super) fn desert(&self) {
        // Relaxed: published by the release that says that the pool ends.
        self.absent.store(true, Ordering::Relaxed);
    }

    /// The pool, which has ended, goes on.
    pub(super) fn come_back(&self) {
        // Relaxed: published with the threads that are started.
        self.absent.store(false, Ordering::Relaxed);
    }

    /// As `take_first`, for another worker that has seen that the pool ends.
    pub(super) fn take_left(&self) -> Option<Job> {
        self.is_left().then(|| self.take_first())?
    }

    /// As `take_left`, if it is within `group`.
    pub(super) fn take_left_within(&self, group: *const Group) -> Option<Job> {
        self.is_left().then(|| self.take_first_within(group))?
    }
}
