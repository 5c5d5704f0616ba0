//! Running tasks, to their end.

use crate::task::{Counts, FULFILLED, Group, RETURNED, Task, depend, let_go};
use crate::team::Team;
use crate::team::context::Context;
use manycore_platform::{Native, Platform};
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::atomic::Ordering::{AcqRel, SeqCst};

/// The wait grows up to this number of misses, where it lasts some microseconds.
const MOST_MISSES: u32 = 7;

/// Runs the task's function as the current task.
fn execute(context: &Context, task: &Task, data: *mut c_void) {
    let seat = &context.seat;
    task.mark.set(context.team().tasks.end_of(context.id()));
    let before = seat.task.replace(task);
    if let Some(function) = task.function {
        // SAFETY: compiled code with the arguments made for it.
        unsafe { function(data) };
    }
    seat.task.set(before);
}

/// Whether tasks that are not begun are to be dropped here.
pub(super) fn is_discarded(team: &Team, current: &Task) -> bool {
    team.is_cancelled() || current.current_group().is_some_and(Group::is_discarded)
}

/// Runs one task of the team that is ready, if there is one. After `misses` calls in a row that found none the member waits
/// a little: otherwise the looks of many members keep the member that makes tasks from its own queue.
pub(crate) fn run_any(context: &Context, team: &Team, misses: &mut u32) {
    if let Some(task) = team.tasks.take_any(context.id()) {
        *misses = 0;
        run(context, task);
    } else {
        (0..1_u32 << (*misses).min(MOST_MISSES)).for_each(|_| Native::relax());
        *misses += 1;
    }
}

/// Runs a task that was taken from a queue of the context's team, to its end.
pub(super) fn run(context: &Context, task: NonNull<Task>) {
    let team = context.team();
    // SAFETY: it keeps its own reference until it ends.
    let this = unsafe { task.as_ref() };
    if this.constructed || !is_discarded(team, this) {
        execute(context, this, this.arguments.pointer());
        // AcqRel: the second thread ends it, after all the writes of the first.
        if this.detached && this.event.fetch_or(RETURNED, AcqRel) & FULFILLED == 0 {
            return;
        }
    } else if let Some(discard) = this.discard {
        // SAFETY: the task has the function for its arguments; the task was taken once, and is not run.
        unsafe { discard(this.arguments.pointer()) };
    }
    // SAFETY: it was taken once, and runs no more.
    unsafe { end(team, task, Some(context.id())) };
}

/// The task is over: what depends on it may go on.
///
/// # Safety
///
/// Called once for a task, by `member` of its team, or by a thread that may be none.
pub(super) unsafe fn end(team: &Team, task: NonNull<Task>, member: Option<u32>) {
    // SAFETY: its own reference keeps it, until that is given back below.
    let this = unsafe { task.as_ref() };
    let tasks = &team.tasks;
    if this.listed.get() {
        // SAFETY: the task is in this team, which owns the key.
        for freed in tasks.linked(|key| unsafe { depend::release(this, key) }) {
            tasks.push(member, freed);
        }
    }
    tasks.forget_edges(this);
    // SAFETY: the group lives until this task has left it.
    if let Some(group) = unsafe { this.counted_in.as_ref() } {
        group.leave();
    }
    let parent = NonNull::new(this.parent.cast_mut());
    let alone = this.counts.is_alone();
    // A task that was dropped leaves its memory to the event, until the team is no more.
    let awaited = this.detached && this.event.load(SeqCst) & FULFILLED == 0;
    // SAFETY: the task has a reference of its parent, and is counted by it.
    unsafe {
        if alone {
            if !awaited {
                tasks.give_back(member, task);
            }
            if let Some(parent) = parent {
                let_go(parent, Counts::drop_child);
            }
        } else {
            if let Some(parent) = parent {
                // Its memory keeps the parent's.
                parent.as_ref().counts.end_child();
            }
            if !awaited {
                let_go(task, Counts::end);
            }
        }
    }
    tasks.count_ended(member);
    // The last task to end finds none that is ready.
    if !tasks.has_ready() {
        team.try_open();
    }
    team.ring_for_tasks();
}
