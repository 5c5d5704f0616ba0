//! Jobs that are sent to the holder of one permit (a right to run jobs of the pool), and what becomes of these jobs
//! when the permit's last holder has left.
//!
//! # Why no mail is left unread
//!
//! Until the pool ends, every permit has a holder. The holder reads the permit's mailbox, or gives the permit away
//! while it waits (`Registry::send` makes it do so). Then holders leave, but other threads may still send mail: a job
//! of a scope may broadcast, since the end does not wait for such a job, and a thread that the pool has adopted may
//! broadcast at any time. So a worker that has seen the pool's end leaves in two steps:
//!
//! * L1: it notes that it is absent, and makes a fence.
//! * L2: it looks once more for mail, and stays if there is mail.
//!
//! A thread that sends mail to this worker takes these steps:
//!
//! * S1: it pushes the mail, and makes a fence (in `Registry::tell_of_mail`).
//! * S2: if the pool ends, it looks for the mail of absent workers in each search from then on.
//!
//! If L1's fence comes before S1's fence, the sender's next search sees that the worker is absent. The search also
//! sees that the pool ends, since the worker saw that before L1. If S1's fence comes first, L2 finds the mail.
//! `pool::checked::mailbox` checks this.
//!
//! If an adopted thread (a thread of the program that is worker 0) takes no part in the end, `Registry::terminate`
//! declares it absent, and then says that the pool ends. So a thread that sees the end also sees that the adopted
//! thread is absent.

use super::job::{Group, Job};
use super::queue::Queue;
use manycore_platform::{Atomic, CachePadded, Ordering, Platform};

/// Jobs addressed to one permit.
pub(super) struct Mailbox<P: Platform> {
    jobs: CachePadded<Queue<P>>,
    /// Set when the pool ends and the holder has left for good. Then every worker may take the mail.
    absent: CachePadded<P::AtomicBool>,
}

impl<P: Platform> Mailbox<P> {
    pub(super) fn new() -> Self {
        Self {
            jobs: Queue::new(),
            absent: CachePadded::new(P::AtomicBool::new(false)),
        }
    }

    /// Names the words for a simulator, which counts the accesses to each.
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

    /// A worker that has seen the pool's end declares itself absent. Returns `false` if there is mail. The worker must
    /// then stay.
    pub(super) fn leave(&self) -> bool {
        // The fence orders L1 before L2. A thread that sees the flag reads only data that the queue's lock guards.
        // SeqCst is needed only because the result is unused: see `Platform::fence_after_rmw`.
        self.absent.swap(true, Ordering::SeqCst);
        P::fence_after_rmw();
        self.is_empty()
    }

    /// Declares that a worker is absent, since it takes no part in the pool's end. Called before the end is announced.
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
