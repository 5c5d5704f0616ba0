//! `join`: two closures. While the first runs, thieves may steal the second.

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
    pub(crate) fn new(migrated: bool) -> Self {
        Self {
            migrated,
            thread: PhantomData,
        }
    }

    /// Whether the closure runs on another thread than the caller's: a sign that threads are idle, and that
    /// splitting further will help.
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

/// A `join` under way, on the caller's stack.
///
/// Everything that is needed after the first closure is here, in memory that the stack of jobs points into.
/// Variables would be kept in registers, which each call of the joining function would have to save and
/// restore, also on paths that do not join.
#[repr(C)]
struct JoinFrame<P: Platform, B, A, R> {
    /// First, as the stack demands.
    head: Head,
    index: u32,
    worker: *const Worker<P>,
    second: UnsafeCell<Second<B, R>>,
    /// The result of the first closure.
    first: UnsafeCell<MaybeUninit<A>>,
}

/// The second closure until it is run, and its result if a thief has.
union Second<B, R> {
    body: ManuallyDrop<B>,
    result: ManuallyDrop<thread::Result<R>>,
}

impl<P: Platform, B: FnOnce(FnContext) -> R, A, R> JoinFrame<P, B, A, R> {
    /// Runs the body for a thief, which must not unwind.
    ///
    /// # Safety
    ///
    /// `data` is a frame of this type, which lives until the thief has set the job's latch. Its body was
    /// not taken.
    unsafe fn run(data: *const (), migrated: bool) {
        // SAFETY: by contract.
        let frame = unsafe { &*data.cast::<Self>() };
        // SAFETY: by contract; whoever runs it has claimed it.
        let body = unsafe { frame.take() };
        // Unwind safety: the caller of `join` gets the same panic.
        let returned = catch_unwind(AssertUnwindSafe(|| body(FnContext::new(migrated))));
        // SAFETY: as above; the owner looks at it after the latch is set.
        unsafe { (*frame.second.get()).result = ManuallyDrop::new(returned) };
    }

    /// # Safety
    ///
    /// Once, by whoever has claimed the job.
    #[inline(always)]
    unsafe fn take(&self) -> B {
        // SAFETY: by contract no other thread reads or writes the cell, and it has held the body from the
        // start.
        unsafe { ManuallyDrop::take(&mut (*self.second.get()).body) }
    }

    /// # Safety
    ///
    /// Once, after a thief has set the job's latch.
    unsafe fn take_result(&self) -> thread::Result<R> {
        // SAFETY: `run` has written it, and touches it no more.
        unsafe { ManuallyDrop::take(&mut (*self.second.get()).result) }
    }

    /// # Safety
    ///
    /// Once, after the first closure has returned.
    #[inline(always)]
    unsafe fn take_first(&self) -> A {
        // SAFETY: `join` has written it.
        unsafe { (*self.first.get()).assume_init_read() }
    }

    #[inline(always)]
    fn worker(&self) -> &Worker<P> {
        // SAFETY: a worker outlives its calls.
        unsafe { &*self.worker }
    }

    /// Takes the job back, `true`, or waits until the thief is done.
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

    /// Handles the second closure when the first closure has panicked: it always runs, here or on the
    /// thief's thread. Its own panic, and the panic of its result's destructor, are let go: the first
    /// closure's panic is on its way.
    #[cold]
    #[inline(never)]
    fn abandon(&self, panic: Box<dyn Any + Send>) -> ! {
        if self.recover() {
            // SAFETY: the job is this thread's alone, and was not run.
            let body = unsafe { self.take() };
            let_go(catch_unwind(AssertUnwindSafe(|| {
                body(FnContext::new(false))
            })));
        } else {
            // SAFETY: recovered from a thief.
            let_go(unsafe { self.take_result() });
        }
        resume_unwind(panic)
    }
}

/// Drops the first closure's result if the second one unwinds here.
struct Unwinding<'a, A>(&'a UnsafeCell<MaybeUninit<A>>);

impl<A> Drop for Unwinding<'_, A> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: written, and whoever reads it forgets this guard before.
        let first = unsafe { (*self.0.get()).assume_init_read() };
        // The second closure's panic is on its way.
        let_go(first);
    }
}

impl<P: Platform> Worker<P> {
    /// Runs `a` here, and `b` here or on the thief's thread.
    ///
    /// # The path of a join without a thief
    ///
    /// | step | memory |
    /// |---|---|
    /// | push | reads and writes `bottom`, writes a pointer to the stack: the owner's own |
    /// | post | reads the policy's word: written when somebody sleeps or wakes |
    /// | pop | writes `bottom`; reads the public word: written when somebody steals or asks |
    ///
    /// No locked instruction and no fence: `Platform::untested_light_fence` stops
    /// only the compiler. `a` and `b` are called directly, so that they are
    /// inlined. Nothing lives in a register across `a`, nor across the calls that
    /// are rarely made: a `fib` with a join at every call saves none (`JoinFrame`).
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

    /// The job goes to `index`, and `in_public`, for all to see, if thieves are
    /// starving.
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
        // Caught and thrown again, and not left to a guard, which would be live
        // in a register across the clearing up.
        let returned = catch_unwind(AssertUnwindSafe(|| {
            let first = a(FnContext::new(migrated));
            // SAFETY: the cell is this thread's alone.
            unsafe { (*frame.first.get()).write(first) };
        }));
        if let Err(panic) = returned {
            frame.abandon(panic);
        }
        if frame.recover() {
            let unwinding = Unwinding(&frame.first);
            // SAFETY: the job is this thread's alone.
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

    /// [`join`](Self::join) when thieves are starving, or the stack must grow or is as
    /// large as it gets: a million joins deep, the oldest ones are enough for thieves.
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

/// Runs both closures on this thread. A function of its own: its copies of the results would be on the
/// stack of each join that thieves wait for.
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
