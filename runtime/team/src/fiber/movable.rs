//! The door for fibers to other threads.

use super::{Fiber, Progress};
use manycore_platform::Platform;

/// A fiber that any thread may go on with, one after the other.
///
/// It does not lend the [`Fiber`]: a `&mut Fiber` could be exchanged for a fiber that must stay on
/// its thread.
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
/// use manycore_team::fiber::{Fiber, Movable, Progress, Stacks};
///
/// let fiber = Fiber::new(Stacks::<Native>::new(64 << 10).take()?, |suspender| {
///     let numbers = vec![1, 2, 3];
///     suspender.suspend();
///     assert_eq!(numbers.len(), 3);
/// });
/// // SAFETY: a vector of numbers is `Send`, and nothing here is thread-local.
/// let mut fiber = unsafe { Movable::new(fiber) };
/// fiber.resume();
/// let elsewhere = std::thread::spawn(move || fiber.resume());
/// assert!(matches!(elsewhere.join().unwrap(), Progress::Ended(Ok(()))));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Movable<P: Platform>(Fiber<P>);

// SAFETY: `new`'s caller: what is on the stack may be used by another thread, and none of it
// is a thread's own. The stack itself is `Send`, by its trait. The slot is a pointer that only the
// fiber's own code follows. That only one thread has it at a time, and sees what the last did to
// the stack, is what moving a value between threads means.
unsafe impl<P: Platform> Send for Movable<P> {}

impl<P: Platform> Movable<P> {
    /// Lets `fiber` change threads.
    ///
    /// # Safety
    ///
    /// For its body, and all that this calls, wherever the fiber suspends itself or is yet
    /// to begin:
    ///
    /// * All that is live on its stack, what the body captured included, is
    ///   [`Send`]; and so is what the platform's slot points to.
    /// * No address of a thread-local variable is kept across a suspension: not by the program
    ///   (inside of a [`LocalKey::with`](std::thread::LocalKey::with)), and not by the compiler:
    ///   a function that suspends, itself or by what is inlined into it, looks at no
    ///   thread-local variable but through functions that are never inlined.
    /// * It is not unwinding: a destructor that runs because of a panic does not suspend.
    pub unsafe fn new(fiber: Fiber<P>) -> Self {
        Self(fiber)
    }

    /// Goes on with the fiber on this thread: [`Fiber::resume`].
    ///
    /// # Panics
    ///
    /// If it has ended.
    #[inline]
    #[track_caller]
    pub fn resume(&mut self) -> Progress {
        self.0.resume()
    }

    /// Whether its body has returned or panicked.
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

    /// The fiber, to stay on this thread.
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
