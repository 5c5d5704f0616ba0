//! Makes stacks in the memory of the machine that this host thread simulates.

use crate::front::arena::{self, Arena, ArenaError, Stack};
use std::cell::Cell;
use std::ptr;

thread_local! {
    static ARENA: Cell<*const Arena> = const { Cell::new(ptr::null()) };
}

/// From now on, stacks are made in `arena`. If `arena` is null, no stack can be made.
///
/// # Safety
///
/// The arena lives until the next call of this function.
pub(super) unsafe fn take_from(arena: *const Arena) {
    ARENA.set(arena);
}

pub(super) fn thread_stack() -> Result<Stack, String> {
    in_arena(Arena::stack)
}

/// A stack of at least `bytes` for a coroutine that the simulated program makes.
pub(super) fn stack(bytes: usize) -> Result<Stack, String> {
    in_arena(|arena| arena.stack_of(bytes))
}

fn in_arena(take: impl FnOnce(&Arena) -> Result<Stack, ArenaError>) -> Result<Stack, String> {
    // SAFETY: the caller of `take_from` keeps the arena alive until the pointer is replaced.
    let arena = unsafe { ARENA.get().as_ref() };
    let arena = arena.ok_or("no simulation runs")?;
    let _outside = arena::outside();
    take(arena).map_err(|error| error.to_string())
}
