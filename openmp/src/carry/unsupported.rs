//! On systems without carried ranks: members are threads, even if they are more than the cores.

use crate::team::Carrier;
use crate::team::context::Context;

/// None is carried.
pub(crate) fn claim(_context: &Context, _depth: usize, _size: u32) -> Option<&'static dyn Carrier> {
    None
}

pub(crate) fn become_rank(_context: &Context) {}

pub(crate) fn on_load() {}

/// No function of the C library's is defined here.
pub(crate) fn is_preloaded() -> bool {
    false
}
