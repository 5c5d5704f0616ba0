//! `join` runs two closures. While the first runs, a thief may steal the second.

use super::worker::Worker;
use crate::steal::Head;
use manycore_cores::sync::let_go;
use manycore_platform::Platform;
use std::any::Any;
use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit, forget};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;

/// The place at which a closure of [`join_context`](crate::join_context) runs.
///
/// ```
/// let pool = manycore::Pool::builder().threads(1).build()?;
/// // No other thread can steal.
/// let (a, b) = pool.join_context(|a| a.migrated(), |b| b.migrated());
/// assert!(!a && !b);
/// # Ok::<(), manycore::BuildError>(())
/// ```
#[derive(Debug)]
pub struct FnContext {
    migrated: bool,
    /// Makes the context neither `Send` nor `Sync`, since it describes this thread.
    thread: PhantomData<*mut ()>,
}

impl FnContext {
    #[inline(always)]
    pub(crate) fn new(migrated: bool) -> Self {
        Self {
            migrated,
            thread: PhantomData,
        }
    }

    /// Whether the closure runs on another thread than the caller of `join_context`. If so, threads are probably idle,
    /// and splitting the work further will help.
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

/// The state of a running `join`, on the caller's stack.
///
/// The frame holds everything that is needed after the first closure. The stack of jobs points to the frame, so the
/// frame is in memory. Local variables would be in registers, which each call of the joining function would have to
/// save and restore, even on paths that do not join.
#[repr(C)]
struct JoinFrame<P: Platform, B, A, R> {
    /// This is the first field, since the stack of jobs points to a `Head`.
    head: Head,
    index: u32,
    worker: *const Worker<P>,
    second: UnsafeCell<Second<B, R>>,
    /// The result of the first closure.
    first: UnsafeCell<MaybeUninit<A>>,
}

/// The second closure until it runs, and then its result if a thief has run it.
union Second<B, R> {
    body: ManuallyDrop<B>,
    result: ManuallyDrop<thread::Result<R>>,
}

impl<P: Platform, B: FnOnce(FnContext) -> R, A, R> JoinFrame<P, B, A, R> {
    /// Runs the body on a thief's thread. Does not unwind.
    ///
    /// # Safety
    ///
    /// `data` is a frame of this type, which lives until the thief has set the job's latch. The calling thread has
    /// claimed the job, and no thread has taken its body.
    unsafe fn run(data: *const (), migrated: bool) {
        // SAFETY: by contract.
        let frame = unsafe { &*data.cast::<Self>() };
        // SAFETY: by contract this thread has claimed the job.
        let body = unsafe { frame.take() };
        // Unwind safety: the same panic continues in the caller of `join`.
        let returned = catch_unwind(AssertUnwindSafe(|| body(FnContext::new(migrated))));
        // SAFETY: as above. The owner reads the result only after the latch is set.
        unsafe { (*frame.second.get()).result = ManuallyDrop::new(returned) };
    }

    /// # Safety
    ///
    /// Called once, by the thread that has claimed the job.
    #[inline(always)]
    unsafe fn take(&self) -> B {
        // SAFETY: by contract no other thread reads or writes the cell, and it has held the body from the
        // start.
        unsafe { ManuallyDrop::take(&mut (*self.second.get()).body) }
    }

    /// # Safety
    ///
    /// Called once, after a thief has set the job's latch.
    unsafe fn take_result(&self) -> thread::Result<R> {
        // SAFETY: `run` has written the result, and does not touch it any more.
        unsafe { ManuallyDrop::take(&mut (*self.second.get()).result) }
    }

    /// # Safety
    ///
    /// Called once, after the first closure has returned.
    #[inline(always)]
    unsafe fn take_first(&self) -> A {
        // SAFETY: `join_at` has written the result.
        unsafe { (*self.first.get()).assume_init_read() }
    }

    #[inline(always)]
    fn worker(&self) -> &Worker<P> {
        // SAFETY: a worker outlives the joins that it runs.
        unsafe { &*self.worker }
    }

    /// Takes the job back and returns `true`. If a thief has the job, waits until the thief is done, and returns
    /// `false`.
    #[inline(always)]
    fn recover(&self) -> bool {
        self.worker().stack().pop(self.index) || self.confirm()
    }

    #[cold]
    #[inline(never)]
    fn confirm(&self) -> bool {
        let (worker, index) = (self.worker(), self.index);
        let mine = worker.stack().confirm(index);
        if !mine {
            worker.await_stolen(index);
        }
        mine
    }

    /// Ends a join whose first closure has panicked. The second closure always runs, on this thread or on the thief's
    /// thread. The panic of the second closure, or of the destructor of its result, is dropped. The panic of the first
    /// closure continues.
    #[cold]
    #[inline(never)]
    fn abandon(&self, panic: Box<dyn Any + Send>) -> ! {
        if self.recover() {
            // SAFETY: only this thread has the job, which has not run.
            let body = unsafe { self.take() };
            let_go(catch_unwind(AssertUnwindSafe(|| {
                body(FnContext::new(false))
            })));
        } else {
            // SAFETY: `recover` has waited until the thief set the latch.
            let_go(unsafe { self.take_result() });
        }
        resume_unwind(panic)
    }
}

/// Drops the first closure's result if the second closure unwinds on this thread.
struct Unwinding<'a, A>(&'a UnsafeCell<MaybeUninit<A>>);

impl<A> Drop for Unwinding<'_, A> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: the result was written before this guard was made. The code that reads it forgets the guard first.
        let first = unsafe { (*self.0.get()).assume_init_read() };
        // A panic of the destructor is dropped: the second closure's panic continues.
        let_go(first);
    }
}

impl<P: Platform> Worker<P> {
    /// Runs `a` on this thread, and `b` on this thread or on a thief's thread.
    ///
    /// # The path of a join without a thief
    ///
    /// | step | memory |
    /// |---|---|
    /// | push | reads and writes `bottom`, and writes a pointer to the stack; only the owner writes both |
    /// | post | reads the policy's word, which changes when a thread sleeps or wakes |
    /// | pop | writes `bottom`, and reads the public word, which changes when a thread steals or asks for work |
    ///
    /// The path has no locked instruction and no fence: `Platform::untested_light_fence` only restrains the
    /// compiler. `a` and `b` are called directly, so that they are inlined. No value is in a register across `a`, nor
    /// across calls of `#[cold]` functions. So a `fib` with a join at every call saves no registers for the join
    /// (`JoinFrame`).
    #[inline(always)]
    pub(crate) fn join<A, B, RA, RB>(&self, migrated: bool, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(FnContext) -> RA,
        B: FnOnce(FnContext) -> RB,
    {
        match self.stack().room() {
            Some(index) => self.join_at(index, false, migrated, a, b),
            None => self.join_slowly(migrated, a, b),
        }
    }

    /// Runs the join with its job at `index` of the stack. If thieves are starving, `in_public` is true, and the job is
    /// made public at once.
    #[inline(always)]
    fn join_at<A, B, RA, RB>(
        &self,
        index: u32,
        in_public: bool,
        migrated: bool,
        a: A,
        b: B,
    ) -> (RA, RB)
    where
        A: FnOnce(FnContext) -> RA,
        B: FnOnce(FnContext) -> RB,
    {
        let was_empty = self.sleep().asks_empty() && self.stack().is_empty();
        let frame = JoinFrame {
            head: Head(JoinFrame::<P, B, RA, RB>::run),
            index,
            worker: self,
            second: UnsafeCell::new(Second {
                body: ManuallyDrop::new(b),
            }),
            first: UnsafeCell::new(MaybeUninit::uninit()),
        };
        self.stack().push(index, std::ptr::from_ref(&frame).cast());
        if in_public {
            self.stack().publish(index);
        }
        self.posted(was_empty);
        // The panic is caught and resumed. A guard would also work, but its address would occupy a register across the
        // call.
        let returned = catch_unwind(AssertUnwindSafe(|| {
            let first = a(FnContext::new(migrated));
            // SAFETY: only this thread uses the cell.
            unsafe { (*frame.first.get()).write(first) };
        }));
        if let Err(panic) = returned {
            frame.abandon(panic);
        }
        if frame.recover() {
            let unwinding = Unwinding(&frame.first);
            // SAFETY: only this thread has the job.
            let second = unsafe { frame.take() }(FnContext::new(migrated));
            forget(unwinding);
            // SAFETY: the first closure has returned.
            return (unsafe { frame.take_first() }, second);
        }
        // SAFETY: the first closure has returned, and the thief has set the latch.
        let (first, result) = unsafe { (frame.take_first(), frame.take_result()) };
        match result {
            Ok(second) => (first, second),
            Err(panic) => {
                let_go(first);
                resume_unwind(panic)
            }
        }
    }

    /// The slow path of [`join`](Self::join), for starving thieves or for a stack that must grow. If the stack has its
    /// largest size, both closures run on this thread: the joins on the stack are enough for thieves.
    #[cold]
    #[inline(never)]
    fn join_slowly<A, B, RA, RB>(&self, migrated: bool, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(FnContext) -> RA,
        B: FnOnce(FnContext) -> RB,
    {
        match self.stack().make_room() {
            Some((index, starving)) => self.join_at(index, starving, migrated, a, b),
            None => both_here(migrated, a, b),
        }
    }
}

/// Runs both closures on this thread. This is a separate function, since its copies of the results would otherwise
/// enlarge the stack frame of each slow join.
#[cold]
#[inline(never)]
fn both_here<A, B, RA, RB>(migrated: bool, a: A, b: B) -> (RA, RB)
where
    A: FnOnce(FnContext) -> RA,
    B: FnOnce(FnContext) -> RB,
{
    let first = catch_unwind(AssertUnwindSafe(|| a(FnContext::new(migrated))));
    let second = catch_unwind(AssertUnwindSafe(|| b(FnContext::new(migrated))));
    match (first, second) {
        (Ok(first), Ok(second)) => (first, second),
        (Ok(first), Err(panic)) => {
            let_go(first);
            resume_unwind(panic)
        }
        (Err(panic), second) => {
            let_go(second);
            resume_unwind(panic)
        }
    }
}
