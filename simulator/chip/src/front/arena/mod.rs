//! The memory of a simulated machine.
//!
//! Simulated threads run real code, and that code's addresses decide which cache lines it contends
//! for. So addresses must not depend on the host: an [`Arena`] is a region with a deterministic
//! allocator, which hands out the same offsets for the same requests on any host. The offset is the
//! machine's address.
//!
//! The [`Allocator`] sends a request there while its host thread runs simulated code. Two guards
//! mark this: [`enter`] around the resumption of a coroutine, [`outside`] around the simulator's
//! own code in calls from simulated code. A coroutine should suspend with no [`outside`] guard
//! alive: when it is resumed, under [`enter`], it counts as simulated code again. A violation moves
//! some of the simulator's data into the arena and does no other harm.
//!
//! Memory that simulated code leaves behind, such as its results, stays valid after the arena is
//! closed and may be freed from any thread. A single such block keeps all memory of the arena, so
//! small results are best copied out.

mod allocator;
mod classes;
mod header;
mod range;
mod stack;
#[cfg(test)]
mod tests;

use crate::memory::CAPACITY;
use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr::{self, NonNull};

pub use allocator::Allocator;
use header::Header;
pub use stack::Stack;

/// Why there is no arena, or no stack in it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ArenaError {
    #[error(
        "the host refuses {bytes} bytes of simulated memory: {reason}; is there a limit on address \
         space (ulimit -v)?"
    )]
    Refused {
        bytes: usize,
        reason: std::io::Error,
    },
    #[error("the host does not guard a stack in simulated memory: {0}")]
    Protect(std::io::Error),
    #[error("{0} simulated memories are in use, and there is no address space for one more")]
    TooMany(usize),
    #[error("the simulated memory of {CAPACITY} bytes has no room for another stack")]
    Full,
}

/// The memory of one simulated machine. It belongs to one host thread.
#[derive(Debug)]
pub(crate) struct Arena {
    header: NonNull<Header>,
}

impl Arena {
    /// An empty arena that gives each simulated thread at least `stack` bytes
    /// of stack.
    pub(crate) fn new(stack: usize) -> Result<Self, ArenaError> {
        touch_lazy_host_state();
        Ok(Self {
            header: Header::open(thread(), stack)?,
        })
    }

    /// The host address of offset 0.
    pub(crate) fn base(&self) -> usize {
        self.header.as_ptr() as usize
    }

    /// A stack for a simulated thread: the one freed last, or a new one.
    pub(crate) fn stack(&self) -> Result<Stack, ArenaError> {
        Stack::of_thread(self.header)
    }

    /// A stack of at least `bytes`, for a coroutine of the program's own.
    pub(crate) fn stack_of(&self, bytes: usize) -> Result<Stack, ArenaError> {
        Stack::of_size(self.header, bytes)
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        let header = self.header.as_ptr().cast_const();
        CONTEXT.with(|context| {
            // A guard may have been leaked; none outlives the arena.
            if context.home.get() == header {
                context.home.set(ptr::null());
                context.current.set(ptr::null());
            }
        });
        // SAFETY: the arena owns the header, which is open until here. It is neither `Send` nor
        // `Sync`, so this is the owning thread. The context no longer points to the header, and no
        // code reaches it through `self` again.
        unsafe { Header::close(self.header) };
    }
}

/// The simulation on the host thread.
struct Context {
    /// The arena of this thread's simulation, if there is one.
    home: Cell<*const Header>,
    /// The same while it runs simulated code; null in the simulator's.
    current: Cell<*const Header>,
}

thread_local! {
    // Invariant: both are null or point to an open arena of this thread. Only
    // `Entered::new` stores another pointer, and `Arena::drop` takes it away.
    // Without a destructor and constant, so that the allocator may use it.
    static CONTEXT: Context =
        const { Context { home: Cell::new(ptr::null()), current: Cell::new(ptr::null()) } };
}

/// Whether `address` is in memory that an arena has from the host. Looks at atomics only.
pub(crate) fn holds(address: usize) -> bool {
    range::slot_of(address).is_some()
}

/// A number that no other live thread has.
fn thread() -> usize {
    CONTEXT.with(|context| ptr::from_ref(context) as usize)
}

/// Runs simulated code until the guard is dropped.
///
/// # Panics
///
/// Panics if the thread runs a simulation already.
pub(crate) fn enter(arena: &Arena) -> Entered<'_> {
    CONTEXT.with(|context| {
        assert!(
            context.home.get().is_null(),
            "a simulation inside a simulation"
        );
        context.home.set(arena.header.as_ptr());
        context.current.set(arena.header.as_ptr());
    });
    Entered {
        _arena: PhantomData,
    }
}

/// The guard of [`enter`].
#[must_use]
pub(crate) struct Entered<'a> {
    /// With a pointer: the guard must not leave its thread.
    _arena: PhantomData<(&'a Arena, *const ())>,
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        CONTEXT.with(|context| {
            context.home.set(ptr::null());
            context.current.set(ptr::null());
        });
    }
}

/// Runs the simulator's own code until the guard is dropped; without effect
/// where it runs already.
#[inline]
pub(crate) fn outside() -> Outside {
    Outside {
        inside: CONTEXT.with(|context| !context.current.replace(ptr::null()).is_null()),
        _thread: PhantomData,
    }
}

/// The guard of [`outside`].
#[must_use]
pub(crate) struct Outside {
    inside: bool,
    _thread: PhantomData<*const ()>,
}

impl Drop for Outside {
    #[inline]
    fn drop(&mut self) {
        if self.inside {
            // Not a saved pointer: the arena may have been left since.
            CONTEXT.with(|context| context.current.set(context.home.get()));
        }
    }
}

/// The standard library allocates some of its state at first use. Were that in
/// simulated code, the first run in a process would differ from the second.
fn touch_lazy_host_state() {
    let _ = (std::thread::current(), std::io::stdout());
}
