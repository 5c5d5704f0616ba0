//! Queues of jobs that are in no stack: spawned, injected, or addressed to one
//! worker.

use crate::steal::Run;
use crate::sync::Lock;
use manycore_platform::{Atomic, CachePadded, Ordering, Platform};
use std::collections::VecDeque;
use std::ptr;

/// A job, to be run once: in a box, but for what runs that of another queue.
pub(super) struct Job {
    run: Run,
    data: *const (),
    /// What waits for it, if a scope does; else null.
    group: *const Group,
}

/// What a scope is to its jobs: a name, and that of the scope around it.
///
/// It lives as long as a job of it is queued: the scope waits for that job. So does
/// the scope around it, which waits for the job or body that opened the inner one.
pub(super) struct Group {
    pub(super) around: *const Group,
}

impl Group {
    /// The scope around all that `self` is within, or itself.
    ///
    /// To be asked by who is in the scope, or keeps it from ending otherwise.
    pub(super) fn outermost(&self) -> *const Self {
        let mut group: *const Self = self;
        loop {
            // SAFETY: alive, says the type, as long as `self` is.
            match unsafe { (*group).around } {
                around if around.is_null() => return group,
                around => group = around,
            }
        }
    }

    /// Whether `self` is `ancestor`, or within it.
    fn is_within(&self, ancestor: *const Group) -> bool {
        let mut group: *const Group = self;
        while !group.is_null() {
            if group == ancestor {
                return true;
            }
            // SAFETY: alive, says the type: the caller holds a lock that keeps a job
            // of `self` in its queue.
            group = unsafe { (*group).around };
        }
        false
    }
}

// SAFETY: made from a closure that is `Send`, says `Job::new`'s contract.
unsafe impl Send for Job {}

impl Job {
    /// Boxes `body`, which learns whether another worker runs it than the one
    /// that made it.
    ///
    /// # Safety
    ///
    /// What `body` borrows lives until the job has run, and may be used from the
    /// thread that runs it. `body` does not unwind.
    pub(super) unsafe fn new<F: FnOnce(bool)>(body: F) -> Self {
        unsafe fn run<F: FnOnce(bool)>(data: *const (), migrated: bool) {
            // SAFETY: the box made below, of which the job was the only owner.
            let body = unsafe { Box::from_raw(data.cast::<F>().cast_mut()) };
            body(migrated);
        }
        Self {
            run: run::<F>,
            data: Box::into_raw(Box::new(body)).cast_const().cast(),
            group: ptr::null(),
        }
    }

    /// As [`new`](Self::new), for a body whose borrows end with `end`, which is
    /// called after it. Two closures, because what a closure holds counts as
    /// borrowed until it has returned, whatever it has told others before.
    ///
    /// # Safety
    ///
    /// As [`new`](Self::new); `end` holds no reference to what may be gone by its
    /// own doing.
    pub(super) unsafe fn before<F: FnOnce(), E: FnOnce()>(body: F, end: E) -> Self {
        unsafe fn run<F: FnOnce(), E: FnOnce()>(data: *const (), _: bool) {
            // SAFETY: the box made below, of which the job was the only owner.
            let (body, end) = *unsafe { Box::from_raw(data.cast::<(F, E)>().cast_mut()) };
            body();
            end();
        }
        Self {
            run: run::<F, E>,
            data: Box::into_raw(Box::new((body, end))).cast_const().cast(),
            group: ptr::null(),
        }
    }

    /// What runs the oldest job that is in `queue` then. Nothing is allocated.
    ///
    /// # Safety
    ///
    /// The queue lives until the job has run, and has a job for each of these.
    pub(super) unsafe fn oldest_of<P: Platform>(queue: &Queue<P>) -> Self {
        unsafe fn run<P: Platform>(data: *const (), migrated: bool) {
            // SAFETY: the queue below, which lives.
            let queue = unsafe { &*data.cast::<Queue<P>>() };
            let Some(job) = queue.take_first() else {
                unreachable!("one for each pushed");
            };
            job.run(migrated);
        }
        Self {
            run: run::<P>,
            data: ptr::from_ref(queue).cast(),
            group: ptr::null(),
        }
    }

    /// The job as one of `group`, which waits for it.
    pub(super) fn in_group(self, group: *const Group) -> Self {
        Self { group, ..self }
    }

    pub(super) fn group(&self) -> *const Group {
        self.group
    }

    /// To be asked under the lock of the queue that the job is in.
    fn is_within(&self, group: *const Group) -> bool {
        // SAFETY: null, or alive while the job is queued.
        unsafe { self.group.as_ref() }.is_some_and(|own| own.is_within(group))
    }

    pub(super) fn run(self, migrated: bool) {
        // SAFETY: `run` and `data` belong together, and `self` is gone after.
        unsafe { (self.run)(self.data, migrated) }
    }
}

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

    /// Acquire, and release where it is written: who sees a job counted sees what
    /// its poster did before, as by the lock. That a job is not overlooked is not
    /// for them to say, but for the fences between the push and the wake-up and
    /// between a sleeper's announcement and its last look.
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
        const LOOKS: usize = 32;
        self.take(|jobs| {
            // Mostly that one.
            if jobs.back()?.is_within(group) {
                return jobs.pop_back();
            }
            let newest = jobs.iter().enumerate().rev().take(LOOKS);
            let mut within = newest.filter(|(_, job)| job.is_within(group));
            let index = within.next()?.0;
            jobs.remove(index)
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
