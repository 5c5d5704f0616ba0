//! `join`: two closures, one of them up for stealing while the other runs.

use super::crew::Worker;
use crate::sleep::Sleep;
use manycore_platform::Platform;
use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit, forget};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;

/// What a closure of [`join_context`](crate::join_context) learns of where it
/// runs.
///
/// ```
/// let pool = manycore::Pool::builder().threads(1).build()?;
/// // Nobody is there to steal.
/// let (a, b) = pool.join_context(|a| a.migrated(), |b| b.migrated());
/// assert!(!a && !b);
/// # Ok::<(), manycore::BuildError>(())
/// ```
#[derive(Debug)]
pub struct FnContext {
    migrated: bool,
    /// About this thread: neither `Send` nor `Sync`.
    thread: PhantomData<*mut ()>,
}

impl FnContext {
    #[inline(always)]
    pub(super) fn new(migrated: bool) -> Self {
        Self {
            migrated,
            thread: PhantomData,
        }
    }

    /// Whether the closure runs on another thread than the one that called: a
    /// sign that others are idle, and that splitting further will help.
    ///
    /// ```
    /// let pool = manycore::Pool::builder().threads(2).build()?;
    /// pool.join_context(|a| assert!(!a.migrated()), |b| drop(b.migrated()));
    /// # Ok::<(), manycore::BuildError>(())
    /// ```
    #[inline(always)]
    pub fn migrated(&self) -> bool {
        self.migrated
    }
}

/// The second closure of a `join` and its result, on the caller's stack.
struct Frame<B, R> {
    body: UnsafeCell<ManuallyDrop<B>>,
    result: UnsafeCell<MaybeUninit<thread::Result<R>>>,
}

impl<B: FnOnce(FnContext) -> R, R> Frame<B, R> {
    /// Runs the body for a thief, who must not unwind.
    ///
    /// # Safety
    ///
    /// `data` is a frame of this type that lives until the thief has set the
    /// job's latch, and its body was not taken.
    unsafe fn run(data: *const (), migrated: bool) {
        // SAFETY: by contract.
        let (body, result) = unsafe {
            let frame = &*data.cast::<Self>();
            (frame.take(), frame.result.get())
        };
        // What the body broke by unwinding, the caller of `join` learns of by the
        // same panic.
        let returned = catch_unwind(AssertUnwindSafe(|| body(FnContext::new(migrated))));
        // SAFETY: as above; the owner looks at it after the latch is set.
        unsafe { (*result).write(returned) };
    }

    /// # Safety
    ///
    /// Once, by whoever has claimed the job.
    unsafe fn take(&self) -> B {
        // SAFETY: by contract nobody else reads or writes the cell.
        unsafe { ManuallyDrop::take(&mut *self.body.get()) }
    }
}

/// Sees to the second closure if the first one unwinds: a thief may be running
/// it, and with it what the frame borrows.
struct Unwinding<'a, P: Platform, S: Sleep<P>, B: FnOnce(FnContext) -> R, R> {
    worker: &'a Worker<P, S>,
    frame: &'a Frame<B, R>,
    index: u32,
}

impl<P: Platform, S: Sleep<P>, B: FnOnce(FnContext) -> R, R> Drop for Unwinding<'_, P, S, B, R> {
    // Inlined, so that the guard stays in registers while all goes well.
    #[inline(always)]
    fn drop(&mut self) {
        #[cold]
        #[inline(never)]
        fn see_to<P, S, B, R>(worker: &Worker<P, S>, frame: &Frame<B, R>, index: u32)
        where
            P: Platform,
            S: Sleep<P>,
            B: FnOnce(FnContext) -> R,
        {
            if worker.stack.pop(index) {
                // SAFETY: popped, so the job is this thread's alone. It never ran.
                drop(unsafe { frame.take() });
            } else {
                worker.await_stolen(index);
                // The first closure's panic is on its way; a second one's payload
                // is let go, and what its destructor throws with it.
                // SAFETY: the thief has written the result.
                let result = unsafe { (*frame.result.get()).assume_init_read() };
                forget(catch_unwind(AssertUnwindSafe(|| drop(result))));
            }
        }
        see_to(self.worker, self.frame, self.index);
    }
}

impl<P: Platform, S: Sleep<P>> Worker<P, S> {
    /// Runs `a` here and `b` here or wherever it is stolen to.
    ///
    /// # The path of a join that nobody steals from
    ///
    /// | step | memory |
    /// |---|---|
    /// | push | reads and writes `bottom`, writes half a line of the stack: the owner's own |
    /// | post | reads the policy's word: written when somebody sleeps or wakes |
    /// | pop | writes `bottom`; reads the public word: written when somebody steals or asks |
    ///
    /// No locked instruction and no fence (`Platform::light_fence` is a test of
    /// a flag, twice). `a` and `b` are called directly, so that they are inlined.
    #[inline(always)]
    pub(super) fn join<A, B, RA, RB>(&self, migrated: bool, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(FnContext) -> RA,
        B: FnOnce(FnContext) -> RB,
    {
        let frame = Frame {
            body: UnsafeCell::new(ManuallyDrop::new(b)),
            result: UnsafeCell::new(MaybeUninit::uninit()),
        };
        let was_empty = S::ASKS_EMPTY && self.stack.is_empty();
        let data = std::ptr::from_ref(&frame).cast();
        let Some(index) = self.stack.push(Frame::<B, RB>::run, data) else {
            // A million joins deep, the oldest ones are enough for thieves.
            // SAFETY: it was not pushed.
            let b = unsafe { frame.take() };
            return (a(FnContext::new(migrated)), b(FnContext::new(false)));
        };
        self.sleep().posted(self.known.index, was_empty);
        let unwinding = Unwinding {
            worker: self,
            frame: &frame,
            index,
        };
        let result_a = a(FnContext::new(migrated));
        forget(unwinding);
        if self.stack.pop(index) {
            // SAFETY: popped, so the job is this thread's alone.
            let b = unsafe { frame.take() };
            return (result_a, b(FnContext::new(false)));
        }
        self.await_stolen(index);
        // SAFETY: the thief has written the result, before it set the latch.
        match unsafe { frame.result.into_inner().assume_init() } {
            Ok(result_b) => (result_a, result_b),
            Err(payload) => resume_unwind(payload),
        }
    }
}
