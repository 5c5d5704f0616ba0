//! LLVM's interface: functions that programs compiled by clang call.
//!
//! Each takes a description of the place in the source and the caller's number, which are not needed:
//! the thread knows where it is. `missing` ends a program at its start that would call what is not here.

mod atomics;
mod distribute;
mod doacross;
mod extensions;
mod fork;
mod locks;
mod loops;
mod missing;
mod reductions;
mod standard;
mod static_loops;
mod sync;
mod tasks;
mod threadprivate;
mod unsupported;

pub(crate) use missing::check;
pub(crate) use tasks::handle;

use super::export;
use crate::team::context::Context;

/// A description of a place in the source; never looked at.
type Place = *const u8;

/// A loop that its member left early, by a cancellation, is left now.
fn leave_open(context: &Context) {
    if !context.seat.share.get().is_null() {
        context.leave();
    }
}
