//! Makes stacks in the memory of the machine that this host thread simulates.

use crate::front::arena::{self, Arena, ArenaError, Stack};
use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr;

thread_local! {
    static ARENA: Cell<*const Arena> = const { Cell::new(ptr::null()) };
}

/// Until the guard is dropped, stacks are made in `arena`, the memory of the simulated machine.
pub(super) fn take_from(arena: &Arena) -> Taken<'_> {
    Taken {
        before: ARENA.replace(arena),
        _arena: PhantomData,
    }
}

#[must_use]
pub(super) struct Taken<'a> {
    before: *const Arena,
    _arena: PhantomData<&'a Arena>,
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        ARENA.set(self.before);
    }
}

pub(super) fn thread_stack() -> Result<Stack, String> {
    in_arena(Arena::stack)
}

/// A stack of at least `bytes` for a coroutine that the simulated program makes.
pub(super) fn stack(bytes: usize) -> Result<Stack, String> {
    in_arena(|arena| arena.stack_of(bytes))
}

fn in_arena(take: impl FnOnce(&Arena) -> Result<Stack, ArenaError>) -> Result<Stack, String> {
    // SAFETY: the pointer is null, or a `Taken` borrows the arena. Its drop restores the pointer
    // before the borrow ends, and `run`, its only user, never forgets it.
    let arena = unsafe { ARENA.get().as_ref() };
    let arena = arena.ok_or("no simulation runs")?;
    let _outside = arena::outside();
    take(arena).map_err(|error| error.to_string())
}
