//! For systems without carried ranks: all members are threads, even if there are more members than cores.

use crate::team::Carrier;
use crate::team::context::Context;

/// No team is carried.
pub(crate) fn claim(
    _context: &Context,
    _depth: usize,
    _size: u32,
    _waiting: usize,
) -> Option<&'static dyn Carrier> {
    None
}

/// Here no thread is a rank, so none needs such a stack.
pub(crate) struct SecondStack;

impl SecondStack {
    pub(crate) fn new() -> std::io::Result<Self> {
        Ok(Self)
    }
}

pub(crate) fn become_rank(_context: &Context, _stack: SecondStack) {}

pub(crate) fn on_load() {}

pub(crate) fn ask() {}

/// On these systems this library replaces no function of the C library.
pub(crate) fn is_preloaded() -> bool {
    false
}
