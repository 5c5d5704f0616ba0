//! The memory of a simulated machine.
//!
//! Simulated threads run real code, and the addresses of its data decide which cache lines the threads contend for. So
//! addresses must not depend on the host. An [`Arena`] is a region with a deterministic allocator, which hands out the
//! same offsets for the same requests on any host. A block's offset is its simulated address.
//!
//! While a host thread runs simulated code, the [`Allocator`] takes blocks from the arena. Two guards mark simulated
//! code: [`enter`] around the resumption of a coroutine, and [`outside`] around the simulator's own code that simulated
//! code calls. A coroutine should suspend with no [`outside`] guard alive, because the coroutine counts as simulated
//! code again when it is resumed under [`enter`]. A violation moves some of the simulator's data into the arena and
//! does no other harm.
//!
//! Memory that simulated code does not free, such as its results, stays valid after the arena is closed. Any thread may
//! free this memory. A single such block keeps all memory of the arena mapped, so programs should copy small results
//! out.

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

/// Why an arena or a stack cannot be made.
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
    #[error("the host cannot protect the guard of a simulated stack: {0}")]
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

    /// A stack for a simulated thread: the most recently freed stack, or a new stack.
    pub(crate) fn stack(&self) -> Result<Stack, ArenaError> {
        Stack::of_thread(self.header)
    }

    /// A stack of at least `bytes`, for a coroutine that the simulated program makes.
    pub(crate) fn stack_of(&self, bytes: usize) -> Result<Stack, ArenaError> {
        Stack::of_size(self.header, bytes)
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        let header = self.header.as_ptr().cast_const();
        CONTEXT.with(|context| {
            // A leaked guard has not reset the context.
            if context.home.get() == header {
                context.home.set(ptr::null());
                context.current.set(ptr::null());
            }
        });
        // SAFETY: the arena owns the header, which is open until here. The arena is neither `Send` nor `Sync`, so this
        // is the owning thread. The context no longer points to the header, and no code reaches it through `self`
        // again.
        unsafe { Header::close(self.header) };
    }
}

/// The simulation on the host thread.
struct Context {
    /// The arena of this thread's simulation, if there is one.
    home: Cell<*const Header>,
    /// The same arena while the thread runs simulated code. Null while the thread runs the
    /// simulator's code.
    current: Cell<*const Header>,
}

thread_local! {
    // Invariant: each field is null or points to an open arena of this thread. `enter` sets the
    // pointers, and `Arena::drop` resets them. The allocator may use this variable, because its
    // initial value is constant and it has no destructor.
    static CONTEXT: Context =
        const { Context { home: Cell::new(ptr::null()), current: Cell::new(ptr::null()) } };
}

/// Whether `address` is in mapped memory of an arena. Reads only atomics.
pub(crate) fn holds(address: usize) -> bool {
    range::slot_of(address).is_some()
}

/// Whether the host thread runs simulated code, or the simulator's code that simulated code calls.
pub(crate) fn is_entered() -> bool {
    CONTEXT.with(|context| !context.home.get().is_null())
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

#[must_use]
pub(crate) struct Entered<'a> {
    /// The pointer keeps the guard on its thread.
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

/// Runs the simulator's own code until the guard is dropped. Has no effect inside another such
/// guard.
#[inline]
pub(crate) fn outside() -> Outside {
    Outside {
        inside: CONTEXT.with(|context| !context.current.replace(ptr::null()).is_null()),
        _thread: PhantomData,
    }
}

#[must_use]
pub(crate) struct Outside {
    inside: bool,
    _thread: PhantomData<*const ()>,
}

impl Drop for Outside {
    #[inline]
    fn drop(&mut self) {
        if self.inside {
            // This does not restore a saved pointer, since the `Entered` guard may have been dropped.
            CONTEXT.with(|context| context.current.set(context.home.get()));
        }
    }
}

/// Makes the standard library allocate the state that it allocates at first use. If simulated code
/// were the first user, the first run in a process would differ from the second.
fn touch_lazy_host_state() {
    let _ = (std::thread::current(), std::io::stdout());
}
