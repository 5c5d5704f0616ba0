//! The event of a detached task. Such a task ends when its body has returned and its event is fulfilled.

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
/// `make` has given out the handle, and this is the only call with it.
pub(crate) unsafe fn fulfil(handle: *const Task) {
    // SAFETY: the task, or at least its memory, stays until its event is fulfilled. `make` has written the address of
    // the `Team` into the task, and has added a reference to the team, which this function takes over.
    let (task, team) = unsafe { (&*handle, Arc::from_raw((*handle).team.cast::<Team>())) };
    // AcqRel for the reason in `run`. If the body has not returned, the task may be freed at once after this.
    if task.event.fetch_or(FULFILLED, AcqRel) & RETURNED != 0 {
        // `None` instead of a member: this thread may not be in the team, and its queue must contain only descendants
        // of tasks that it runs. SAFETY: the body has returned and the event is fulfilled. This thread set the second
        // of the two bits, so only this thread ends the task.
        unsafe { end(&team, NonNull::from(task), None) };
    }
    team.bell.ring();
    team.end.ring();
}
