//! Queues of jobs that are in no stack.

use super::job::{Group, Header, Job};
use manycore_cores::sync::Lock;
use manycore_platform::{Atomic, CachePadded, Ordering, Platform};
use std::collections::VecDeque;
use std::ptr::NonNull;

/// First in, first out, or last out, behind a lock; whether there is anything
/// can be asked without it.
pub(super) struct Queue<P: Platform> {
    /// Written under the lock.
    length: P::AtomicUsize,
    jobs: Lock<P, VecDeque<Job>>,
}

impl<P: Platform> Queue<P> {
    pub(super) fn new() -> CachePadded<Self> {
        CachePadded::new(Self {
            length: P::AtomicUsize::new(0),
            jobs: Lock::new(VecDeque::new()),
        })
    }

    /// For a simulator's accounts.
    pub(super) fn name(&self, name: &'static str) {
        P::name(self, name);
    }

    /// Acquire, and release where it is written: a thread that sees a job counted sees its poster's earlier
    /// writes, as by the lock. These orderings do not keep a job from being overlooked: the fences between
    /// push and wake-up, and between a sleeper's announcement and its last look, do that.
    pub(super) fn is_empty(&self) -> bool {
        self.length.load(Ordering::Acquire) == 0
    }

    /// How many jobs there are, as seen a moment ago.
    pub(super) fn len(&self) -> usize {
        self.length.load(Ordering::Relaxed)
    }

    /// Appends; whether it was empty.
    pub(super) fn push(&self, job: Job) -> bool {
        self.jobs.with(|jobs| {
            jobs.push_back(job);
            self.length.store(jobs.len(), Ordering::Release);
            jobs.len() == 1
        })
    }

    /// The oldest.
    pub(super) fn take_first(&self) -> Option<Job> {
        self.take(VecDeque::pop_front)
    }

    /// The newest.
    pub(super) fn take_last(&self) -> Option<Job> {
        self.take(VecDeque::pop_back)
    }

    /// The newest of those within `group`. It looks at no more than a few: what
    /// lies deeper is for whoever may take anything.
    pub(super) fn take_last_within(&self, group: *const Group) -> Option<Job> {
        /// Not the newest, which mostly it is.
        #[cold]
        fn deeper(jobs: &mut VecDeque<Job>, group: *const Group) -> Option<Job> {
            const LOOKS: usize = 32;
            let newest = jobs.iter().enumerate().rev().take(LOOKS);
            let mut within = newest.filter(|(_, job)| job.is_within(group));
            let index = within.next()?.0;
            jobs.remove(index)
        }
        self.take(|jobs| {
            if jobs.back()?.is_within(group) {
                return jobs.pop_back();
            }
            deeper(jobs, group)
        })
    }

    /// The oldest, if it is within `group`.
    pub(super) fn take_first_within(&self, group: *const Group) -> Option<Job> {
        self.take(|jobs| {
            if jobs.front()?.is_within(group) {
                return jobs.pop_front();
            }
            None
        })
    }

    fn take(&self, end: impl FnOnce(&mut VecDeque<Job>) -> Option<Job>) -> Option<Job> {
        if self.is_empty() {
            return None;
        }
        self.jobs.with(|jobs| {
            let job = end(jobs);
            self.length.store(jobs.len(), Ordering::Release);
            job
        })
    }
}

/// A queue with a stand-in job in another queue for each of its jobs. A stand-in runs the oldest job, so
/// the jobs of one thread begin in order, wherever the stand-ins go.
#[repr(C)]
pub(super) struct Fifo<P: Platform> {
    /// The header of the job that runs the oldest; it has the address of the whole.
    next: Header,
    jobs: CachePadded<Queue<P>>,
}

// SAFETY: the header's group is written before a job is made of it, as `in_group` demands, and the
// queue is for all.
unsafe impl<P: Platform> Sync for Fifo<P> {}

impl<P: Platform> Fifo<P> {
    pub(super) fn new() -> Self {
        unsafe fn run<P: Platform>(next: NonNull<Header>, migrated: bool) {
            // SAFETY: the header of a `Fifo`, which lives, says `push`'s contract.
            let fifo = unsafe { next.cast::<Fifo<P>>().as_ref() };
            let Some(job) = fifo.jobs.take_first() else {
                unreachable!("one for each pushed");
            };
            job.run(migrated);
        }
        Self {
            next: Header::new(run::<P>),
            jobs: Queue::new(),
        }
    }

    /// All that come are jobs of `group`; none has come yet.
    pub(super) fn in_group(&self, group: *const Group) {
        self.next.set_group(group);
    }

    /// Appends, and returns a job that runs the oldest then, one for each. Nothing is allocated
    /// for it.
    ///
    /// # Safety
    ///
    /// The queue lives until that job has run.
    pub(super) unsafe fn push(&self, job: Job) -> Job {
        self.jobs.push(job);
        // SAFETY: by contract; the pointer is to all of `self`.
        unsafe { Job::with_header(NonNull::from(self).cast()) }
    }
}
