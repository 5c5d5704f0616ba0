use super::fiber_slot::exchange;
use super::stacks::FiberStack;
use manycore_cores::sync::let_go;
use manycore_platform::coroutine::{Coroutine, CoroutineResult, Yielder};
use manycore_platform::{Platform, Stack};
use std::fmt;
use std::marker::PhantomData;
use std::mem::forget;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::thread;

/// Code with a stack of its own, which can be suspended in the middle of a call.
///
/// A fiber does nothing until it is resumed. The [module](super) explains what happens when a fiber
/// is dropped, and how to move it to another thread.
pub struct Fiber<P: Platform> {
    /// `None` once the stack has been taken out.
    coroutine: Option<Running<P>>,
    /// The fiber's value of the platform's slot, while the fiber does not run.
    slot: *const (),
}

type Running<P> = Coroutine<(), (), thread::Result<()>, FiberStack<P>>;

/// The state of a fiber when `resume` returns.
///
/// ```
/// use manycore_platform::Native;
/// use manycore_team::fiber::{Fiber, Progress, Stacks};
///
/// let stack = Stacks::<Native>::new(64 << 10).take()?;
/// // SAFETY: the body borrows nothing, and the fiber is dropped here.
/// let mut fiber = unsafe { Fiber::new(stack, |_| ()) };
/// assert!(matches!(fiber.resume(), Progress::Ended(Ok(()))));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub enum Progress {
    /// The fiber waits to be resumed.
    Suspended,
    /// The fiber's body has returned, or has panicked with this payload.
    Ended(thread::Result<()>),
}

/// A fiber's body suspends itself with this handle.
///
/// ```
/// use manycore_platform::Native;
/// use manycore_team::fiber::{Fiber, Progress, Stacks, Suspender};
///
/// fn wait_twice(suspender: &Suspender<Native>) {
///     suspender.suspend();
///     suspender.suspend();
/// }
/// let stack = Stacks::<Native>::new(64 << 10).take()?;
/// // SAFETY: the body borrows nothing, and the fiber is dropped here.
/// let mut fiber = unsafe { Fiber::new(stack, wait_twice) };
/// let mut resumptions = 1;
/// while let Progress::Suspended = fiber.resume() {
///     resumptions += 1;
/// }
/// assert_eq!(resumptions, 3);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Suspender<P: Platform> {
    /// The fiber's parent link (its way back to the resuming thread), at the base of its stack.
    /// Because this is a pointer, the type is neither `Send` nor `Sync`.
    yielder: *const Yielder<(), ()>,
    /// The addresses of the fiber's stack.
    stack: Range<usize>,
    platform: PhantomData<fn() -> P>,
}

impl<P: Platform> Suspender<P> {
    /// Suspends the fiber, so that the current call of `resume` returns. This call returns at the
    /// next `resume`, perhaps on another thread. A switch takes a few nanoseconds if the stacks are
    /// in the cache.
    ///
    /// If the fiber is dropped instead, this call unwinds and does not return.
    ///
    /// # Panics
    ///
    /// Panics if the caller does not run on this fiber's stack. Other code can have a reference to
    /// a suspender, for example through a scoped thread-local variable.
    #[inline]
    #[track_caller]
    pub fn suspend(&self) {
        // A simulator does not see the saving of registers, so accesses to this array stand for it.
        // Natively, only the array's address is used, to check the stack.
        let mut registers = [0_u64; SAVED];
        let here = ptr::from_ref(&registers).addr();
        assert!(
            self.stack.contains(&here),
            "a fiber is suspended only by what runs on its own stack"
        );
        P::write(&mut registers);
        // SAFETY: the yielder is at the base of this stack, whose fiber is running.
        unsafe { (*self.yielder).suspend(()) };
        P::read(&registers);
    }
}

/// Words that a suspended fiber keeps on its stack. The switch saves two registers and the return
/// address, and its caller up to four more.
const SAVED: usize = 7;
/// The number of instructions from `resume` to the fiber and back, as rustc 1.95 compiles them for
/// x86-64. There are seventeen on the suspending side, and some forty on the resuming side,
/// including the instructions for the slot.
const SWITCH: u64 = 60;

impl<P: Platform> Fiber<P> {
    /// Makes a fiber that will run `body` on `stack`.
    ///
    /// The body is on the heap until it is called. The call may move the captured values to the
    /// stack.
    ///
    /// # Safety
    ///
    /// * The borrows of `body` live until the fiber has ended or is dropped, and for ever if the
    ///   fiber is forgotten.
    /// * No destructor of a thread-local variable drops the fiber, unless the fiber has ended. The
    ///   fiber may be suspended inside of a [`LocalKey::with`](std::thread::LocalKey::with), and
    ///   the thread may already have dropped that variable.
    ///
    /// # Panics
    ///
    /// Panics if the captured values are larger than half of the stack.
    ///
    /// ```
    /// use manycore_platform::Native;
    /// use manycore_team::fiber::{Fiber, Progress, Stacks};
    ///
    /// let mut seen = 0;
    /// let stack = Stacks::<Native>::new(64 << 10).take()?;
    /// // SAFETY: the fiber is dropped by the end of the statement, before `seen`.
    /// unsafe { Fiber::new(stack, |_| seen += 1) }.resume();
    /// assert_eq!(seen, 1);
    ///
    /// let stack = Stacks::<Native>::new(64 << 10).take()?;
    /// // SAFETY: the body borrows nothing, and the fiber is dropped here.
    /// let mut fiber = unsafe { Fiber::new(stack, |_| panic!("a reason")) };
    /// let Progress::Ended(Err(payload)) = fiber.resume() else {
    ///     panic!("it should have panicked")
    /// };
    /// assert_eq!(*payload.downcast_ref::<&str>().unwrap(), "a reason");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub unsafe fn new<F: FnOnce(&Suspender<P>)>(stack: FiberStack<P>, body: F) -> Self {
        let range = stack.limit().get()..stack.base().get();
        let (size, room) = (size_of::<F>(), range.len());
        assert!(
            size <= room / 2,
            "a fiber's body of {size} bytes on a stack of {room}; expected a stack of twice the size"
        );
        let mut body = Unbegun(Some(Box::new(body)));
        let root = move |yielder: &Yielder<(), ()>, ()| {
            let suspender = Suspender {
                yielder,
                stack: range,
                platform: PhantomData,
            };
            // A panic goes to the caller of `resume`, which decides whether the remaining state may
            // be used. This also catches the unwinding of a dropped fiber. No code sees the payload
            // of that unwinding.
            catch_unwind(AssertUnwindSafe(|| {
                let body = body.0.take().expect("a body is called once");
                body(&suspender);
            }))
        };
        // SAFETY: by the contract, all values that the body borrows live as long as the coroutine.
        let coroutine = unsafe { Coroutine::with_stack_unchecked(stack, root) };
        Self {
            coroutine: Some(coroutine),
            slot: ptr::null(),
        }
    }

    /// Resumes the fiber on this thread, until it suspends itself or ends.
    ///
    /// While the fiber runs, the platform's slot has the fiber's own value, which is null at first.
    ///
    /// # Panics
    ///
    /// Panics if the fiber has ended.
    ///
    /// ```
    /// use manycore_team::fiber::{Fiber, Progress, Stacks, Suspender, slot};
    /// use manycore::{Native, Platform};
    ///
    /// let body = |suspender: &Suspender<Native>| {
    ///     // SAFETY: nothing but `slot` looks at it.
    ///     unsafe { Native::set_slot(8 as *const ()) };
    ///     suspender.suspend();
    ///     assert_eq!(slot::<Native>(), 8 as *const ());
    /// };
    /// let stack = Stacks::<Native>::new(64 << 10).take()?;
    /// // SAFETY: the body borrows nothing, and the fiber is dropped here.
    /// let mut fiber = unsafe { Fiber::new(stack, body) };
    /// fiber.resume();
    /// assert!(slot::<Native>().is_null());
    /// assert!(matches!(fiber.resume(), Progress::Ended(Ok(()))));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[inline]
    #[track_caller]
    pub fn resume(&mut self) -> Progress {
        let coroutine = self.coroutine.as_mut().filter(|fiber| !fiber.done());
        let coroutine = coroutine.expect("a fiber that has ended is not resumed");
        P::compute(SWITCH);
        let resumer = exchange::<P>(self.slot);
        // This does not unwind, because the fiber's first function catches panics.
        let result = coroutine.resume(());
        self.slot = exchange::<P>(resumer);
        match result {
            CoroutineResult::Yield(()) => Progress::Suspended,
            CoroutineResult::Return(result) => Progress::Ended(result),
        }
    }

    /// Whether the fiber's body has returned or panicked.
    ///
    /// ```
    /// use manycore_platform::Native;
    /// use manycore_team::fiber::{Fiber, Stacks};
    ///
    /// let stack = Stacks::<Native>::new(64 << 10).take()?;
    /// // SAFETY: the body borrows nothing, and the fiber is dropped here.
    /// let mut fiber = unsafe { Fiber::new(stack, |_| ()) };
    /// assert!(!fiber.has_ended());
    /// fiber.resume();
    /// assert!(fiber.has_ended());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn has_ended(&self) -> bool {
        self.coroutine.as_ref().is_none_or(Coroutine::done)
    }

    /// Returns the stack, for another fiber. If the fiber has not ended, it is unwound as in a
    /// drop.
    ///
    /// ```
    /// use manycore_platform::Native;
    /// use manycore_team::fiber::{Fiber, Stacks};
    ///
    /// let stacks = Stacks::<Native>::new(64 << 10);
    /// // SAFETY: the bodies borrow nothing, and the fibers are dropped here.
    /// let mut first = unsafe { Fiber::new(stacks.take()?, |_| ()) };
    /// first.resume();
    /// stacks.put(first.into_stack());
    /// // The same memory.
    /// // SAFETY: as above.
    /// let second = unsafe { Fiber::new(stacks.take()?, |_| ()) };
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn into_stack(mut self) -> FiberStack<P> {
        self.unwind();
        let Some(coroutine) = self.coroutine.take() else {
            unreachable!("only `into_stack` takes the coroutine, and it consumes the fiber")
        };
        coroutine.into_stack()
    }

    fn unwind(&mut self) {
        let Some(coroutine) = self.coroutine.as_mut().filter(|fiber| !fiber.done()) else {
            return;
        };
        // Destructors on the fiber's stack run with the fiber's slot.
        let resumer = exchange::<P>(self.slot);
        // If a body catches the unwinding and then panics, it leaves a payload. The payload's
        // destructor may panic when the ended coroutine drops the payload.
        forget(catch_unwind(AssertUnwindSafe(|| coroutine.force_unwind())));
        exchange::<P>(resumer);
    }
}

impl<P: Platform> fmt::Debug for Fiber<P> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Fiber")
            .field("has_ended", &self.has_ended())
            .field("slot", &self.slot)
            .finish_non_exhaustive()
    }
}

impl<P: Platform> Drop for Fiber<P> {
    fn drop(&mut self) {
        self.unwind();
    }
}

/// A body that has not been called.
///
/// If the destructor of a captured value panics, the drop of this type catches the panic. If that
/// panic continued, the coroutine would drop the closure that owns this body a second time.
struct Unbegun<B>(Option<Box<B>>);

impl<B> Drop for Unbegun<B> {
    fn drop(&mut self) {
        if let Some(body) = self.0.take() {
            let_go(body);
        }
    }
}
