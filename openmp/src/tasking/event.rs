//! The event of a detached task: the task ends when its body has returned and the event is fulfilled.

use super::run::end;
use crate::task::{FULFILLED, RETURNED, Task};
use crate::team::Team;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::Ordering::AcqRel;

/// `omp_fulfill_event`.
///
/// # Safety
///
/// `make` has given out the handle, and this is the only call for it.
pub(crate) unsafe fn fulfil(handle: *const Task) {
    // SAFETY: the task does not end before, or leaves its memory. `make` has put the address of the `Team` there, and
    // has counted the event's reference, which is taken here.
    let (task, team) = unsafe { (&*handle, Arc::from_raw((*handle).team.cast::<Team>())) };
    // AcqRel: as in `run`. If the body has not returned, the task may be gone after this.
    if task.event.fetch_or(FULFILLED, AcqRel) & RETURNED != 0 {
        // No member: the freed tasks descend from a task that this thread may not run.
        // SAFETY: the body has returned and the event is fulfilled; this call came second.
        unsafe { end(&team, NonNull::from(task), None) };
    }
    team.bell.ring();
    team.end.ring();
}
