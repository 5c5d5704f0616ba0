//! Finds the calling rank, a thread that workers execute.

use super::mask::CHANGES;
use super::rank::Rank;
use super::{registry, thread_state};
use crate::system::masks::{errno, set_errno};
use crate::system::next;
use crate::team::context::{Context, known};
use std::any::Any;

/// The rank of the thread with this context, if any.
pub(super) fn of(context: &Context) -> Option<&'static Rank> {
    let carried: &'static dyn Any = context.carried.get()?;
    carried.downcast_ref()
}

/// The rank that the calling thread is, in a carried region. In a child process after `fork`, no thread is a rank.
pub(super) fn rank() -> Option<&'static Rank> {
    of(known()?)
}

/// The calling thread may have changed its signal mask or its alternate stack.
pub(super) fn note() {
    let Some(rank) = rank() else {
        return thread_state::note_of_thread();
    };
    let (before, error) = (rank.state.mask(), errno());
    rank.state.note();
    if rank.state.mask() & !before != 0 {
        // SAFETY: the call has no arguments. It bypasses the C library's function, which this library replaces for
        // ranks.
        let wait = || _ = unsafe { next::syscall(libc::SYS_sched_yield, [0; 6]) };
        CHANGES.await_all(registry::workers().map(|worker| &worker.mask), wait);
    }
    rank.worker().alarm.has_mask(rank.state.mask());
    set_errno(error);
}
