//! The stacks of simulated threads.

use std::ffi::c_void;
use std::num::NonZeroUsize;
use std::ptr::{self, NonNull};

use corosensei::stack::{MIN_STACK_SIZE, StackPointer};
use rustix::mm::{MprotectFlags, mprotect};

use super::ArenaError;
use super::header::{Header, Local, pop, push};

/// Bytes below each stack that nobody may touch, and what stacks are aligned
/// to: whole pages on any host, and the same on all.
const GUARD: usize = 64 * 1024;

/// A coroutine's stack in an arena. Dropped, it serves the next coroutine.
#[derive(Debug)]
pub(crate) struct Stack {
    arena: NonNull<Header>,
    /// Its end: stacks grow downwards.
    base: NonNull<u8>,
    /// Bytes, the guard included.
    length: usize,
}

impl Stack {
    pub(super) fn new(arena: NonNull<Header>) -> Result<Self, ArenaError> {
        // SAFETY: called with the header of an open arena, which is mapped; the
        // reference ends with this function.
        let local = unsafe { Header::local(arena) }.expect("an arena stays on its thread");
        let length = local.stacks.length;
        let base = match local.stacks.take() {
            Some(base) => base,
            None => guarded(local, length)?,
        };
        local.count_stack();
        Ok(Self {
            arena,
            base,
            length,
        })
    }
}

/// A new stack of the arena.
fn guarded(local: &mut Local, length: usize) -> Result<NonNull<u8>, ArenaError> {
    let limit = local.carve(length, GUARD).ok_or(ArenaError::Full)?;
    // SAFETY: whole pages that were just carved, to which nothing refers. They
    // stay inaccessible until the arena's memory goes back to the host: the
    // stack is never given out as anything else.
    unsafe { mprotect(limit.cast::<c_void>(), GUARD, MprotectFlags::empty()) }
        .map_err(|errno| ArenaError::Protect(errno.into()))?;
    // SAFETY: the end of what was carved, inside the arena's memory or one past it.
    let base = unsafe { limit.add(length) };
    Ok(NonNull::new(base).expect("no arena lies at address zero"))
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: the stack is live until here and of this arena. Its owner, a
        // coroutine, has left it.
        unsafe { Header::free_stack(self.arena, self.base) };
    }
}

// SAFETY: `limit` to `base` is memory of the arena that nobody else is given
// while the stack lives, and the arena stays mapped while one of its stacks
// does. The lowest `GUARD` bytes are inaccessible, the others, at least
// `MIN_STACK_SIZE`, are writable. Both ends are multiples of `GUARD`.
unsafe impl corosensei::stack::Stack for Stack {
    fn base(&self) -> StackPointer {
        self.base.addr()
    }

    fn limit(&self) -> StackPointer {
        NonZeroUsize::new(self.base.addr().get() - self.length).expect("a guard lies above zero")
    }
}

/// The stacks of an arena that are free. All are of one size.
pub(super) struct Pool {
    /// Bytes of a stack, the guard included.
    length: usize,
    /// The word at the end of the stack freed last; there, not at its start,
    /// since it is the end that the host has in memory.
    free: *mut u8,
}

impl Pool {
    pub(super) fn new(stack: usize) -> Self {
        // A size beyond an arena's ends in `ArenaError::Full`.
        let usable = stack
            .clamp(MIN_STACK_SIZE, super::CAPACITY)
            .next_multiple_of(GUARD);
        Self {
            length: usable + GUARD,
            free: ptr::null_mut(),
        }
    }

    fn take(&mut self) -> Option<NonNull<u8>> {
        // SAFETY: the list holds the last words of free stacks, which are ours.
        let word = unsafe { pop(&mut self.free) }?;
        // SAFETY: the end of the stack whose last word this is.
        NonNull::new(unsafe { word.add(WORD) })
    }

    /// Puts a stack back.
    ///
    /// # Safety
    ///
    /// `base` is the end of a stack of this arena that nobody uses any more.
    pub(super) unsafe fn put(&mut self, base: NonNull<u8>) {
        // SAFETY: the last word of a stack is writable and aligned, since the
        // stack's end is.
        unsafe { push(&mut self.free, base.as_ptr().sub(WORD)) };
    }
}

const WORD: usize = size_of::<*mut u8>();
