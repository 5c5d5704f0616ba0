//! Jobs that are spawned, injected from outside, or addressed to one worker. They are on no worker's stack of joins.

use std::cell::Cell;
use std::ptr::{self, NonNull};

/// A job that is run once. The word is the address of its header.
///
/// A job is one word, so that a queue moves it in a register. If a job is written as three words and read as two, the
/// reads wait for the stores (20 ns for each job, measured with `scope_halves` of `laboratory/peers/drop-in`).
pub(super) struct Job(NonNull<Header>);

// SAFETY: a job is made from a closure that may be used on another thread, by the contract of `Job::new`, or from
// a queue that all threads use.
unsafe impl Send for Job {}

/// The first part of each job.
pub(super) struct Header {
    /// Runs the job that has this header. The second argument is whether another worker made the job.
    run: unsafe fn(NonNull<Header>, bool),
    /// The scope that waits for the job, or null. This is written before the job is put into a queue.
    group: Cell<*const Group>,
}

/// A boxed job that calls `body`.
#[repr(C)]
struct Boxed<B> {
    /// This is the first field, so its address is the address of the job.
    header: Header,
    body: B,
}

impl Header {
    pub(super) fn new(run: unsafe fn(NonNull<Header>, bool)) -> Self {
        Self {
            run,
            group: Cell::new(ptr::null()),
        }
    }

    /// Puts the job into `group`, which waits for the job.
    pub(super) fn set_group(&self, group: *const Group) {
        self.group.set(group);
    }
}

/// The identity of a scope, for its jobs: the address of this value. The value also points to the group of the scope
/// around this scope.
///
/// A group lives while a job of its scope is queued, since the scope waits for that job. The group around it lives
/// too, since the outer scope waits for the job or body that opened the inner scope.
pub(crate) struct Group {
    pub(super) around: *const Group,
}

impl Group {
    /// The outermost of the scopes around `self`, or `self` if there is none.
    ///
    /// The caller is in the scope, or keeps the scope from ending in another way.
    pub(super) fn outermost(&self) -> *const Self {
        let mut group: *const Self = self;
        loop {
            // SAFETY: the groups around `self` live as long as `self` (see the type).
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
            // SAFETY: the caller holds a lock that keeps a job of `self` in its queue. So `self` and the groups
            // around it live (see the type).
            group = unsafe { (*group).around };
        }
        false
    }
}

impl Job {
    /// Boxes `body`. The argument of `body` is whether a worker other than the job's maker runs it.
    ///
    /// # Safety
    ///
    /// The borrows of `body` live until the job has run, and may be used from the thread that runs it.
    /// `body` does not unwind.
    pub(super) unsafe fn new<F: FnOnce(bool)>(body: F) -> Self {
        unsafe fn run<F: FnOnce(bool)>(job: NonNull<Header>, migrated: bool) {
            // SAFETY: this is the box that is made below. The job was its only owner.
            let boxed = *unsafe { Box::from_raw(job.cast::<Boxed<F>>().as_ptr()) };
            (boxed.body)(migrated);
        }
        Self::boxed(run::<F>, body)
    }

    /// As [`new`](Self::new), for a `body` whose borrows end with `end`, which is called after `body`. The two closures
    /// are separate because a closure's captures count as borrowed until the closure has returned, even if the closure
    /// has already released its borrows to other threads.
    ///
    /// # Safety
    ///
    /// As [`new`](Self::new). In addition, `end` holds no reference to memory that `end` itself may release.
    pub(super) unsafe fn before<F: FnOnce(), E: FnOnce()>(body: F, end: E) -> Self {
        unsafe fn run<F: FnOnce(), E: FnOnce()>(job: NonNull<Header>, _: bool) {
            // SAFETY: this is the box that is made below. The job was its only owner.
            let boxed = *unsafe { Box::from_raw(job.cast::<Boxed<(F, E)>>().as_ptr()) };
            let (body, end) = boxed.body;
            body();
            end();
        }
        Self::boxed(run::<F, E>, (body, end))
    }

    fn boxed<B>(run: unsafe fn(NonNull<Header>, bool), body: B) -> Self {
        let header = Header::new(run);
        Self(NonNull::from(Box::leak(Box::new(Boxed { header, body }))).cast())
    }

    /// Returns the job that has this header.
    ///
    /// # Safety
    ///
    /// `header` and the memory that its `run` uses live until the job has run. The pointer is valid for all of that
    /// memory.
    pub(super) unsafe fn with_header(header: NonNull<Header>) -> Self {
        Self(header)
    }

    /// Puts the job, which is in no queue yet, into `group`, which waits for the job.
    pub(super) fn in_group(self, group: *const Group) -> Self {
        self.header().set_group(group);
        self
    }

    fn header(&self) -> &Header {
        // SAFETY: the header lives until the job has run, and running the job consumes `self`.
        unsafe { self.0.as_ref() }
    }

    pub(super) fn group(&self) -> *const Group {
        self.header().group.get()
    }

    /// Whether the job belongs to `group`, or to a scope within it. Called under the lock of the job's queue.
    pub(super) fn is_within(&self, group: *const Group) -> bool {
        // SAFETY: the pointer is null, or its group lives while the job is queued.
        unsafe { self.group().as_ref() }.is_some_and(|own| own.is_within(group))
    }

    pub(super) fn run(self, migrated: bool) {
        // SAFETY: `run` belongs to this header, and is called once, since this consumes `self`.
        unsafe { (self.header().run)(self.0, migrated) }
    }
}
