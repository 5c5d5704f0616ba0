//! Queues of jobs, such as spawned jobs, that are in no worker's stack.

use super::job::{Group, Header, Job};
use manycore_cores::sync::Lock;
use manycore_platform::{Atomic, CachePadded, Ordering, Platform};
use std::collections::VecDeque;
use std::ptr::NonNull;

/// A queue of jobs behind a lock. Jobs are taken from both ends. `is_empty` needs no lock.
pub(super) struct Queue<P: Platform> {
    /// The number of jobs, which is written under the lock.
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

    /// Names the queue for a simulator, which counts the accesses to it.
    pub(super) fn name(&self, name: &'static str) {
        P::name(self, name);
    }

    /// Whether the queue was empty a moment ago. Acquire pairs with the releases of `length`: a thread that sees a job
    /// counted also sees the poster's earlier writes, as with the lock. These orderings do not ensure that no job is
    /// overlooked. Two fences ensure that: the fence between push and wake-up, and the fence between a sleeper's
    /// announcement and its last look.
    pub(super) fn is_empty(&self) -> bool {
        self.length.load(Ordering::Acquire) == 0
    }

    /// The number of jobs a moment ago.
    pub(super) fn len(&self) -> usize {
        self.length.load(Ordering::Relaxed)
    }

    /// Appends `job`. Returns whether the queue was empty.
    pub(super) fn push(&self, job: Job) -> bool {
        self.jobs.with(|jobs| {
            jobs.push_back(job);
            self.length.store(jobs.len(), Ordering::Release);
            jobs.len() == 1
        })
    }

    /// Takes the oldest job.
    pub(super) fn take_first(&self) -> Option<Job> {
        self.take(VecDeque::pop_front)
    }

    /// As [`take_first`](Self::take_first), but also returns `None` if another thread uses the queue at the moment.
    pub(super) fn try_take_first(&self) -> Option<Job> {
        if self.is_empty() {
            return None;
        }
        let take = |jobs: &mut VecDeque<Job>| self.take_locked(jobs, VecDeque::pop_front);
        self.jobs.try_with(take).flatten()
    }

    /// Takes the newest job.
    pub(super) fn take_last(&self) -> Option<Job> {
        self.take(VecDeque::pop_back)
    }

    /// Takes the newest job within `group`. Looks only at the newest jobs of the queue: older jobs are left to
    /// workers that may take any job.
    pub(super) fn take_last_within(&self, group: *const Group) -> Option<Job> {
        /// Handles the rare case that the newest job of the queue is not within `group`.
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

    /// Takes the oldest job, if it is within `group`.
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
        self.jobs.with(|jobs| self.take_locked(jobs, end))
    }

    /// Takes a job while this thread has the lock.
    fn take_locked(
        &self,
        jobs: &mut VecDeque<Job>,
        end: impl FnOnce(&mut VecDeque<Job>) -> Option<Job>,
    ) -> Option<Job> {
        let job = end(jobs);
        self.length.store(jobs.len(), Ordering::Release);
        job
    }
}

/// A queue that begins its jobs in the order in which they were pushed. For each of its jobs, another queue holds a
/// stand-in. The worker that takes a stand-in runs the oldest job of the `Fifo`.
#[repr(C)]
pub(super) struct Fifo<P: Platform> {
    /// The header of all stand-ins. It is the first field, so its address is that of the `Fifo`.
    next: Header,
    jobs: CachePadded<Queue<P>>,
}

// SAFETY: the header's group is written before a stand-in is made, as `in_group` demands. All threads may use the
// queue.
unsafe impl<P: Platform> Sync for Fifo<P> {}

impl<P: Platform> Fifo<P> {
    pub(super) fn new() -> Self {
        unsafe fn run<P: Platform>(next: NonNull<Header>, migrated: bool) {
            // SAFETY: `next` is the header of a `Fifo`, which is alive by the contract of `push`.
            let fifo = unsafe { next.cast::<Fifo<P>>().as_ref() };
            let Some(job) = fifo.jobs.take_first() else {
                unreachable!("there is one stand-in for each job");
            };
            job.run(migrated);
        }
        Self {
            next: Header::new(run::<P>),
            jobs: Queue::new(),
        }
    }

    /// Declares that all jobs will belong to `group`. Called before the first `push`.
    pub(super) fn in_group(&self, group: *const Group) {
        self.next.set_group(group);
    }

    /// Appends `job`. Returns a stand-in, which runs the job that is then the oldest. No memory is allocated for
    /// the stand-in.
    ///
    /// # Safety
    ///
    /// The queue lives until the stand-in has run.
    pub(super) unsafe fn push(&self, job: Job) -> Job {
        self.jobs.push(job);
        // SAFETY: by contract, and because the pointer is to all of `self`.
        unsafe { Job::with_header(NonNull::from(self).cast()) }
    }
}
