//! Stacks in the memory of the machine that this host thread simulates.

use crate::front::arena::{self, Arena, ArenaError, Stack};
use std::cell::Cell;
use std::ptr;

thread_local! {
    static ARENA: Cell<*const Arena> = const { Cell::new(ptr::null()) };
}

/// Stacks come from `arena` from now on, or from nowhere if it is null.
///
/// # Safety
///
/// The arena lives until this is called again.
pub(super) unsafe fn take_from(arena: *const Arena) {
    ARENA.set(arena);
}

/// A simulated thread's stack.
pub(super) fn thread_stack() -> Result<Stack, String> {
    in_arena(Arena::stack)
}

/// A stack of at least `bytes` for a coroutine of the program's own.
pub(super) fn stack(bytes: usize) -> Result<Stack, String> {
    in_arena(|arena| arena.stack_of(bytes))
}

fn in_arena(take: impl FnOnce(&Arena) -> Result<Stack, ArenaError>) -> Result<Stack, String> {
    // SAFETY: the arena of `take_from` lives until another one, or none, is set.
    let arena = unsafe { ARENA.get().as_ref() };
    let arena = arena.ok_or("no simulation runs")?;
    let _outside = arena::outside();
    take(arena).map_err(|error| error.to_string())
}
