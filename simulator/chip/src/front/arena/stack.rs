//! The stacks of simulated threads.

use std::ffi::c_void;
use std::num::NonZeroUsize;
use std::ptr::{self, NonNull};

use corosensei::stack::{MIN_STACK_SIZE, StackPointer};
use rustix::mm::{MprotectFlags, mprotect};

use super::ArenaError;
use super::header::{Header, Local, push};

/// The inaccessible bytes below each stack, and the alignment of stacks. This is a whole number of
/// pages on any host.
const GUARD: usize = 64 * 1024;

/// A coroutine's stack in the memory of the simulated machine. The memory of a dropped stack is reused.
///
/// ```
/// use manycore_chip::{Simulated, Simulation, config::Config};
/// use manycore_platform::{Platform, Stack};
///
/// let run = Simulation::new(&Config::preset("atac-64")?).run(|| {
///     let first = Simulated::stack(64 << 10).unwrap().base();
///     // A dropped stack is handed out again.
///     Simulated::stack(64 << 10).unwrap().base() == first
/// })?;
/// assert!(run.value);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Stack {
    arena: NonNull<Header>,
    /// The stack's end, since stacks grow downwards.
    base: NonNull<u8>,
    /// Bytes, the guard included.
    length: usize,
}

// SAFETY: `base` and `length` describe the stack's memory, which has no other user. Only `drop` uses the header,
// through a function that any thread may call.
unsafe impl Send for Stack {}

impl Stack {
    pub(super) fn of_thread(arena: NonNull<Header>) -> Result<Self, ArenaError> {
        Self::new(arena, |stacks| stacks.thread)
    }

    pub(super) fn of_size(arena: NonNull<Header>, bytes: usize) -> Result<Self, ArenaError> {
        Self::new(arena, |_| length_for(bytes))
    }

    fn new(
        arena: NonNull<Header>,
        length: impl FnOnce(&Pool) -> usize,
    ) -> Result<Self, ArenaError> {
        // SAFETY: callers pass the header of an open arena, which is mapped. The reference ends
        // with this function.
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

fn guarded(local: &mut Local, length: usize) -> Result<NonNull<u8>, ArenaError> {
    let limit = local.carve(length, GUARD)?;
    // SAFETY: these whole pages were just carved, and nothing refers to them. They stay
    // inaccessible until the arena's memory goes back to the host, since a stack's memory is never
    // used for anything else.
    unsafe { mprotect(limit.cast::<c_void>(), GUARD, MprotectFlags::empty()) }
        .map_err(|errno| ArenaError::Protect(errno.into()))?;
    // SAFETY: this is the end of the carved memory, which lies inside the arena's memory or one byte past it.
    let base = unsafe { limit.add(length) };
    Ok(NonNull::new(base).expect("no arena lies at address zero"))
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: this is a live stack of this arena, and the coroutine that owned it has left it.
        unsafe { Header::free_stack(self.arena, self.base, self.length) };
    }
}

// SAFETY: `limit` to `base` is memory of the arena that has no other user while the stack lives, and the arena stays
// mapped while one of its stacks lives. The lowest `GUARD` bytes are inaccessible. The other bytes, at least
// `MIN_STACK_SIZE`, are writable. Both ends are multiples of `GUARD`.
unsafe impl corosensei::stack::Stack for Stack {
    fn base(&self) -> StackPointer {
        self.base.addr()
    }

    fn limit(&self) -> StackPointer {
        NonZeroUsize::new(self.base.addr().get() - self.length).expect("a guard lies above zero")
    }
}

/// The length of a stack with `bytes` usable bytes. If the length is larger than an arena, [`Local::carve`] fails with
/// [`ArenaError::Full`].
fn length_for(bytes: usize) -> usize {
    let usable = bytes
        .clamp(MIN_STACK_SIZE, crate::memory::CAPACITY)
        .next_multiple_of(GUARD);
    usable + GUARD
}

/// The free stacks of an arena. One list has the stacks of all sizes, since a program has few sizes.
pub(super) struct Pool {
    /// Bytes of a simulated thread's stack, the guard included.
    thread: usize,
    /// The address of the last word of the most recently freed stack. That word holds the address of the last word of
    /// the stack freed before, and the word below it holds the stack's length. Both words are at the stack's end,
    /// because the host has those pages in memory.
    free: *mut u8,
}

impl Pool {
    pub(super) fn new(thread: usize) -> Self {
        Self {
            thread: length_for(thread),
            free: ptr::null_mut(),
        }
    }

    /// Takes the most recently freed stack of `length` bytes.
    fn take(&mut self, length: usize) -> Option<NonNull<u8>> {
        let mut link: *mut *mut u8 = &raw mut self.free;
        // SAFETY: `put` wrote the two words at the end of each stack on the list. The free stacks
        // and the list's head have no other user.
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

    /// Puts a free stack on the list.
    ///
    /// # Safety
    ///
    /// `base` is the end of an unused stack of this arena with `length` bytes.
    pub(super) unsafe fn put(&mut self, base: NonNull<u8>, length: usize) {
        // SAFETY: the last words of a stack are writable, and aligned because the stack's end is aligned.
        unsafe {
            base.cast::<usize>().sub(2).write(length);
            push(&mut self.free, base.as_ptr().sub(WORD));
        }
    }
}

const WORD: usize = size_of::<*mut u8>();
