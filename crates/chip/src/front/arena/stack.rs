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

// SAFETY: `base` and `length` say which memory is the stack's, and nobody else's. The
// header is touched when the stack is dropped only, by a function for any thread.
unsafe impl Send for Stack {}

impl Stack {
    /// Of the size that the arena's simulated threads have.
    pub(super) fn of_thread(arena: NonNull<Header>) -> Result<Self, ArenaError> {
        Self::new(arena, |stacks| stacks.thread)
    }

    /// Of at least `bytes`, and the size that a pool keeps.
    pub(super) fn of_size(arena: NonNull<Header>, bytes: usize) -> Result<Self, ArenaError> {
        Self::new(arena, |_| clamped(bytes).next_power_of_two() + GUARD)
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
        unsafe { Header::free_stack(self.arena, self.base, self.length) };
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

/// Sizes of stacks that a program asked for: powers of two from one guard to all of an
/// arena.
const SIZES: usize = (super::CAPACITY / GUARD).ilog2() as usize + 1;

/// A size beyond an arena's ends in [`ArenaError::Full`].
fn clamped(bytes: usize) -> usize {
    bytes
        .clamp(MIN_STACK_SIZE, super::CAPACITY)
        .next_multiple_of(GUARD)
}

/// The stacks of an arena that are free.
pub(super) struct Pool {
    /// Bytes of a simulated thread's stack, the guard included.
    thread: usize,
    /// The word at the end of the thread's stack freed last; there, not at its start,
    /// since it is the end that the host has in memory.
    free: *mut u8,
    /// The same of stacks of other sizes, the smallest first.
    others: [*mut u8; SIZES],
}

impl Pool {
    pub(super) fn new(thread: usize) -> Self {
        Self {
            thread: clamped(thread) + GUARD,
            free: ptr::null_mut(),
            others: [ptr::null_mut(); SIZES],
        }
    }

    /// The free stacks of `length` bytes, which is the threads' or a power of two
    /// and a guard.
    fn list(&mut self, length: usize) -> &mut *mut u8 {
        if length == self.thread {
            &mut self.free
        } else {
            &mut self.others[((length - GUARD) / GUARD).ilog2() as usize]
        }
    }

    fn take(&mut self, length: usize) -> Option<NonNull<u8>> {
        // SAFETY: the list holds the last words of free stacks, which are ours.
        let word = unsafe { pop(self.list(length)) }?;
        // SAFETY: the end of the stack whose last word this is.
        NonNull::new(unsafe { word.add(WORD) })
    }

    /// Puts a stack back.
    ///
    /// # Safety
    ///
    /// `base` is the end of a stack of this arena, of `length` bytes, that nobody uses
    /// any more.
    pub(super) unsafe fn put(&mut self, base: NonNull<u8>, length: usize) {
        // SAFETY: the last word of a stack is writable and aligned, since the
        // stack's end is.
        unsafe { push(self.list(length), base.as_ptr().sub(WORD)) };
    }
}

const WORD: usize = size_of::<*mut u8>();
