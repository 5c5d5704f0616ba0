//! LLVM's interface: the functions that programs compiled by clang call.
//!
//! Each function takes a description of its place in the source, and the number of the calling thread. Neither is
//! needed. `missing` ends a program at its start if the program imports a function that this library lacks.

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

/// A description of a place in the source, which is never read.
type Place = *const u8;

/// If a cancellation made the member leave a loop early, the member now leaves the work share of that loop.
fn leave_open(context: &Context) {
    if !context.seat.share.get().is_null() {
        context.leave();
    }
}
