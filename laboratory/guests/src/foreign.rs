//! Closures as C functions with an argument, for runtimes that are written in C and C++.

use std::ffi::c_void;
use std::ops::Range;

/// Runs the iterations `from..to` of a body.
pub type RunRange = unsafe extern "C" fn(body: *const c_void, from: usize, to: usize);

/// Returns the wrapping sum of a term over `from..to`.
pub type SumRange = unsafe extern "C" fn(term: *const c_void, from: usize, to: usize) -> u64;

/// Runs a [`Job`].
pub type RunOnce = unsafe extern "C" fn(job: *mut c_void);

/// The function that runs ranges of a body of this type.
pub fn runner<F: Fn(Range<usize>)>(_: &F) -> RunRange {
    run_range::<F>
}

/// The function that sums ranges with a closure of this type.
pub fn summer<F: Fn(Range<usize>) -> u64>(_: &F) -> SumRange {
    sum_range::<F>
}

unsafe extern "C" fn run_range<F: Fn(Range<usize>)>(body: *const c_void, from: usize, to: usize) {
    // SAFETY: the caller passes the closure that this function was made for.
    unsafe { (*body.cast::<F>())(from..to) }
}

unsafe extern "C" fn sum_range<F: Fn(Range<usize>) -> u64>(
    sum: *const c_void,
    from: usize,
    to: usize,
) -> u64 {
    // SAFETY: the caller passes the closure that this function was made for.
    unsafe { (*sum.cast::<F>())(from..to) }
}

/// A closure that C code runs once, and its result.
pub struct Job<F, T>(Option<F>, Option<T>);

impl<F: FnOnce() -> T, T> Job<F, T> {
    /// A job that has not run yet.
    pub fn new(work: F) -> Self {
        Self(Some(work), None)
    }

    /// The function that runs a job of this type. Its argument is the job's address.
    pub fn runner(&self) -> RunOnce {
        Self::run
    }

    unsafe extern "C" fn run(job: *mut c_void) {
        // SAFETY: the caller passes a job of this type, to one thread.
        let job = unsafe { &mut *job.cast::<Self>() };
        job.1 = job.0.take().map(|work| work());
    }

    /// The result. C code has run the job.
    pub fn result(self) -> T {
        self.1.expect("the job was run")
    }
}
