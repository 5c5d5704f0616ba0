//! Jobs that are in no stack: spawned, injected, or addressed to one worker.

use std::cell::Cell;
use std::ptr::{self, NonNull};

/// A job, to be run once: where its header is.
///
/// One word, so that a queue moves it in a register: a job that is written as three words and read as two
/// waits for its own stores (20 ns a job, measured with `scope_halves` of `laboratory/peers/drop-in`).
pub(super) struct Job(NonNull<Header>);

// SAFETY: made from a closure that is `Send`, says `Job::new`'s contract, or from a queue that
// all use.
unsafe impl Send for Job {}

/// The head of each job.
pub(super) struct Header {
    /// Runs the job that has this header; it learns whether another worker put it there.
    run: unsafe fn(NonNull<Header>, bool),
    /// The scope that waits for it, or null. Written before the job is in a queue.
    group: Cell<*const Group>,
}

/// A job of a body.
#[repr(C)]
struct Boxed<B> {
    /// Has the address of the whole.
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

    /// The job belongs to `group`, which waits for it.
    pub(super) fn set_group(&self, group: *const Group) {
        self.group.set(group);
    }
}

/// A scope as its jobs know it: its address is its name, and it names the scope around it.
///
/// It lives while a job of the scope is queued, since the scope waits for that job. The scope around it
/// lives too, since it waits for the job or body that opened the inner scope.
pub(crate) struct Group {
    pub(super) around: *const Group,
}

impl Group {
    /// The scope around all that `self` is within, or itself.
    ///
    /// The caller is in the scope, or keeps it from ending in another way.
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

impl Job {
    /// Boxes `body`. Its argument is whether another worker than its maker runs it.
    ///
    /// # Safety
    ///
    /// The borrows of `body` live until the job has run, and may be used from the thread that runs it.
    /// `body` does not unwind.
    pub(super) unsafe fn new<F: FnOnce(bool)>(body: F) -> Self {
        unsafe fn run<F: FnOnce(bool)>(job: NonNull<Header>, migrated: bool) {
            // SAFETY: the box made below. The job was its only owner.
            let boxed = *unsafe { Box::from_raw(job.cast::<Boxed<F>>().as_ptr()) };
            (boxed.body)(migrated);
        }
        Self::boxed(run::<F>, body)
    }

    /// As [`new`](Self::new), for a body whose borrows end with `end`, which is called after it. There are
    /// two closures because a closure's captures count as borrowed until the closure has returned, even if
    /// it has already released its borrows to other threads.
    ///
    /// # Safety
    ///
    /// As [`new`](Self::new); `end` holds no reference to memory that `end` itself may release.
    pub(super) unsafe fn before<F: FnOnce(), E: FnOnce()>(body: F, end: E) -> Self {
        unsafe fn run<F: FnOnce(), E: FnOnce()>(job: NonNull<Header>, _: bool) {
            // SAFETY: the box made below. The job was its only owner.
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

    /// The job that has this header.
    ///
    /// # Safety
    ///
    /// `header` and what its `run` uses live until the job has run, and the pointer is good for
    /// all of that.
    pub(super) unsafe fn with_header(header: NonNull<Header>) -> Self {
        Self(header)
    }

    /// Puts the job, which is in no queue, into `group`, which waits for it.
    pub(super) fn in_group(self, group: *const Group) -> Self {
        self.header().set_group(group);
        self
    }

    fn header(&self) -> &Header {
        // SAFETY: alive until the job has run, which ends `self`.
        unsafe { self.0.as_ref() }
    }

    pub(super) fn group(&self) -> *const Group {
        self.header().group.get()
    }

    /// To be asked under the lock of the queue that the job is in.
    pub(super) fn is_within(&self, group: *const Group) -> bool {
        // SAFETY: null, or alive while the job is queued.
        unsafe { self.group().as_ref() }.is_some_and(|own| own.is_within(group))
    }

    pub(super) fn run(self, migrated: bool) {
        // SAFETY: the header's own way to run, and `self` is gone after.
        unsafe { (self.header().run)(self.0, migrated) }
    }
}
