//! The stacks of simulated threads.

use std::ffi::c_void;
use std::num::NonZeroUsize;
use std::ptr::{self, NonNull};

use corosensei::stack::{MIN_STACK_SIZE, StackPointer};
use rustix::mm::{MprotectFlags, mprotect};

use super::ArenaError;
use super::header::{Header, Local, push};

/// Inaccessible bytes below each stack, and the alignment of stacks: whole pages on any host, and
/// the same on all.
const GUARD: usize = 64 * 1024;

/// A coroutine's stack in the memory of the simulated machine. Dropped, it serves the
/// next coroutine.
///
/// ```
/// use manycore_chip::{Simulated, Simulation, config::Config};
/// use manycore_platform::{Platform, Stack};
///
/// let run = Simulation::new(&Config::preset("atac-64")?).run(|| {
///     let first = Simulated::stack(64 << 10).unwrap().base();
///     // Given back, and so handed out again.
///     Simulated::stack(64 << 10).unwrap().base() == first
/// })?;
/// assert!(run.value);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Stack {
    arena: NonNull<Header>,
    /// Its end: stacks grow downwards.
    base: NonNull<u8>,
    /// Bytes, the guard included.
    length: usize,
}

// SAFETY: `base` and `length` describe the stack's memory, which has no other user. The header is
// touched only when the stack is dropped, by a function for any thread.
unsafe impl Send for Stack {}

impl Stack {
    /// A stack of the size that the arena's simulated threads have.
    pub(super) fn of_thread(arena: NonNull<Header>) -> Result<Self, ArenaError> {
        Self::new(arena, |stacks| stacks.thread)
    }

    /// A stack of at least `bytes`.
    pub(super) fn of_size(arena: NonNull<Header>, bytes: usize) -> Result<Self, ArenaError> {
        Self::new(arena, |_| length_for(bytes))
    }

    fn new(
        arena: NonNull<Header>,
        length: impl FnOnce(&Pool) -> usize,
    ) -> Result<Self, ArenaError> {
        // SAFETY: called with the header of an open arena, which is mapped; the
        // reference ends with this function.
        let local = unsafe { Header::local(arena) }.expect("an arena stays on its thread");
        let length = length(&local.stacks);
        let base = match local.stacks.take(length) {
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
    let limit = local.carve(length, GUARD)?;
    // SAFETY: whole pages that were just carved, without any reference to them. They stay
    // inaccessible until the arena's memory goes back to the host: the stack's memory is never used
    // for anything else.
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
        unsafe { Header::free_stack(self.arena, self.base, self.length) };
    }
}

// SAFETY: `limit` to `base` is memory of the arena that has no other user while the stack lives,
// and the arena stays mapped while a stack of it lives. The lowest `GUARD` bytes are inaccessible.
// The others, at least `MIN_STACK_SIZE`, are writable. Both ends are multiples of `GUARD`.
unsafe impl corosensei::stack::Stack for Stack {
    fn base(&self) -> StackPointer {
        self.base.addr()
    }

    fn limit(&self) -> StackPointer {
        NonZeroUsize::new(self.base.addr().get() - self.length).expect("a guard lies above zero")
    }
}

/// The memory of a stack for `bytes`. A size beyond an arena's ends in [`ArenaError::Full`].
fn length_for(bytes: usize) -> usize {
    let usable = bytes
        .clamp(MIN_STACK_SIZE, crate::memory::CAPACITY)
        .next_multiple_of(GUARD);
    usable + GUARD
}

/// The stacks of an arena that are free, of all sizes: a program has few.
pub(super) struct Pool {
    /// Bytes of a simulated thread's stack, the guard included.
    thread: usize,
    /// The word at the end of the stack freed last, which has the address of the one freed
    /// before it; the word below has the stack's length. There, not at its start,
    /// since it is the end that the host has in memory.
    free: *mut u8,
}

impl Pool {
    pub(super) fn new(thread: usize) -> Self {
        Self {
            thread: length_for(thread),
            free: ptr::null_mut(),
        }
    }

    /// The stack of `length` that was freed last.
    fn take(&mut self, length: usize) -> Option<NonNull<u8>> {
        let mut link: *mut *mut u8 = &raw mut self.free;
        // SAFETY: `put` left the two words at the end of each stack on the list, which are
        // ours, as the list's head is.
        unsafe {
            loop {
                let word = NonNull::new(*link)?;
                if word.cast::<usize>().sub(1).read() == length {
                    *link = word.cast::<*mut u8>().read();
                    return Some(word.add(WORD));
                }
                link = word.cast::<*mut u8>().as_ptr();
            }
        }
    }

    /// Puts a stack back.
    ///
    /// # Safety
    ///
    /// `base` is the end of an unused stack of this arena, of `length` bytes.
    pub(super) unsafe fn put(&mut self, base: NonNull<u8>, length: usize) {
        // SAFETY: the last words of a stack are writable and aligned, since the
        // stack's end is.
        unsafe {
            base.cast::<usize>().sub(2).write(length);
            push(&mut self.free, base.as_ptr().sub(WORD));
        }
    }
}

const WORD: usize = size_of::<*mut u8>();
