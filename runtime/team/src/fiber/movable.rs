use super::{Fiber, Progress};
use manycore_platform::Platform;

/// A fiber that any thread may resume, but only one thread at a time.
///
/// This type does not lend its [`Fiber`]: with a `&mut Fiber`, a caller could exchange the fiber
/// for a fiber that must stay on its thread.
///
/// ```compile_fail,E0308
/// use manycore_platform::Native;
/// use manycore_team::fiber::{Fiber, Movable, Stacks};
///
/// fn replace(movable: &mut Movable<Native>, mut bound: Fiber<Native>) {
///     std::mem::swap(&mut *movable, &mut bound);
/// }
/// ```
///
/// ```compile_fail,E0614
/// use manycore_platform::Native;
/// use manycore_team::fiber::{Fiber, Movable};
///
/// fn replace(movable: &mut Movable<Native>, mut bound: Fiber<Native>) {
///     let fiber: &mut Fiber<Native> = &mut **movable;
///     std::mem::swap(fiber, &mut bound);
/// }
/// ```
///
/// ```
/// use manycore_platform::Native;
/// use manycore_team::fiber::{Fiber, Movable, Progress, Stacks, Suspender};
///
/// let body = |suspender: &Suspender<Native>| {
///     let numbers = vec![1, 2, 3];
///     suspender.suspend();
///     assert_eq!(numbers.len(), 3);
/// };
/// let stack = Stacks::<Native>::new(64 << 10).take()?;
/// // SAFETY: a vector of numbers is `Send`, and nothing here is thread-local or borrowed.
/// let mut fiber = unsafe { Movable::new(Fiber::new(stack, body)) };
/// fiber.resume();
/// let elsewhere = std::thread::spawn(move || fiber.resume());
/// assert!(matches!(elsewhere.join().unwrap(), Progress::Ended(Ok(()))));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Movable<P: Platform>(Fiber<P>);

// SAFETY: by the contract of `new`, another thread may use all values on the stack, and none of
// them is bound to a thread. The stack itself is `Send`, by its trait. Only the fiber's own code
// follows the pointer in the slot. Moving a value between threads means that one thread at a time
// has it, and sees what the previous thread did to the stack.
unsafe impl<P: Platform> Send for Movable<P> {}

impl<P: Platform> Movable<P> {
    /// Lets `fiber` change threads.
    ///
    /// # Safety
    ///
    /// For the fiber's body and all functions that it calls, before it begins and wherever it
    /// suspends itself:
    ///
    /// * All live values on its stack are [`Send`], including what the body has captured. The value
    ///   to which the platform's slot points is [`Send`] too.
    /// * No address of a thread-local variable is kept across a suspension. The program must not
    ///   keep such an address, for example inside of a
    ///   [`LocalKey::with`](std::thread::LocalKey::with). The compiler must not keep one either.
    ///   Therefore a function that suspends uses thread-local variables only through functions that
    ///   are never inlined. The same holds for a function into which code that suspends is inlined.
    /// * The fiber is not unwinding: a destructor that runs because of a panic does not suspend.
    pub unsafe fn new(fiber: Fiber<P>) -> Self {
        Self(fiber)
    }

    /// Resumes the fiber on this thread, as [`Fiber::resume`] does.
    ///
    /// # Panics
    ///
    /// Panics if the fiber has ended.
    #[inline]
    #[track_caller]
    pub fn resume(&mut self) -> Progress {
        self.0.resume()
    }

    /// Whether the fiber's body has returned or panicked.
    ///
    /// ```
    /// use manycore_platform::Native;
    /// use manycore_team::fiber::{Fiber, Movable, Stacks};
    ///
    /// let stack = Stacks::<Native>::new(64 << 10).take()?;
    /// // SAFETY: the body has nothing and does nothing.
    /// let mut fiber = unsafe { Movable::new(Fiber::new(stack, |_| ())) };
    /// assert!(!fiber.has_ended());
    /// fiber.resume();
    /// assert!(fiber.has_ended());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn has_ended(&self) -> bool {
        self.0.has_ended()
    }

    /// Returns the fiber, which then stays on this thread.
    ///
    /// ```
    /// use manycore_platform::Native;
    /// use manycore_team::fiber::{Fiber, Movable, Stacks};
    ///
    /// let stacks = Stacks::<Native>::new(64 << 10);
    /// // SAFETY: the body has nothing and does nothing.
    /// let fiber = unsafe { Movable::new(Fiber::new(stacks.take()?, |_| ())) };
    /// stacks.put(fiber.into_inner().into_stack());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn into_inner(self) -> Fiber<P> {
        self.0
    }
}
