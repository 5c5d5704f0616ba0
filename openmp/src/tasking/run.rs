//! Runs tasks, and ends them.

use crate::task::{Counts, FULFILLED, Group, RETURNED, Task, depend, let_go};
use crate::team::Team;
use crate::team::context::Context;
use manycore_platform::{Native, Platform};
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::atomic::Ordering::{AcqRel, SeqCst};

/// The wait after a search without a task doubles with each such miss, up to this number of misses. The longest wait is
/// some microseconds.
const MOST_MISSES: u32 = 7;

/// Runs the task's function as the current task.
fn execute(context: &Context, task: &Task, data: *mut c_void) {
    let seat = &context.seat;
    task.mark.set(context.team().tasks.end_of(context.id()));
    let before = seat.task.replace(task);
    if let Some(function) = task.function {
        // SAFETY: the program made the data for this function.
        unsafe { function(data) };
    }
    seat.task.set(before);
}

/// Whether tasks of the current group that have not begun are to be dropped.
pub(super) fn is_discarded(team: &Team, current: &Task) -> bool {
    team.is_cancelled() || current.current_group().is_some_and(Group::is_discarded)
}

/// Runs one ready task of the team. If there is none, the member waits a little, and longer after each miss. Without
/// this wait, many searching members would keep the member that makes tasks from its own queue.
pub(crate) fn run_any(context: &Context, team: &Team, misses: &mut u32) {
    let moved = || team.ring_for_tasks();
    if let Some(task) = team.tasks.take_any(context.id(), moved) {
        *misses = 0;
        run(context, task);
    } else {
        (0..1_u32 << (*misses).min(MOST_MISSES)).for_each(|_| Native::relax());
        *misses += 1;
    }
}

/// Runs a task that the caller took from a queue of the context's team, and ends it.
pub(super) fn run(context: &Context, task: NonNull<Task>) {
    let team = context.team();
    // SAFETY: the task keeps its own reference until it ends.
    let this = unsafe { task.as_ref() };
    if this.constructed || !is_discarded(team, this) {
        execute(context, this, this.arguments.pointer());
        // AcqRel: this thread and the thread that fulfils the event set a bit each. The thread that sets the second bit
        // ends the task, after all writes of the other thread.
        if this.detached && this.event.fetch_or(RETURNED, AcqRel) & FULFILLED == 0 {
            return;
        }
    } else if let Some(discard) = this.discard {
        // SAFETY: the order of the task has this function for its arguments. The task was taken from a queue once and
        // is not run.
        unsafe { discard(this.arguments.pointer()) };
    }
    // SAFETY: the task was taken from a queue once and does not run any more.
    unsafe { end(team, task, Some(context.id())) };
}

/// Ends the task. Tasks that wait only for this task become ready.
///
/// # Safety
///
/// This is called once for a task. The caller is `member` of the task's team or, with `None`, any thread.
pub(super) unsafe fn end(team: &Team, task: NonNull<Task>, member: Option<u32>) {
    // SAFETY: the task's own reference keeps it, until that reference is given back below.
    let this = unsafe { task.as_ref() };
    let tasks = &team.tasks;
    if this.listed.get() {
        // SAFETY: the task and the key belong to this team.
        for freed in tasks.linked(|key| unsafe { depend::release(this, key) }) {
            tasks.push(member, freed);
        }
    }
    tasks.forget_edges(this);
    // SAFETY: the group lives until this task has left it.
    if let Some(group) = unsafe { this.counted_in.as_ref() } {
        group.leave();
    }
    let parent = NonNull::new(this.parent.get().cast_mut());
    let adopted = this.adopted.get();
    let alone = this.counts.is_alone();
    // If the task was dropped, its event may be fulfilled later. So the memory of such a task stays until the team is
    // freed.
    let awaited = this.detached && this.event.load(SeqCst) & FULFILLED == 0;
    // SAFETY: the task has a reference to its parent, and the parent counts it as a child unless it is `adopted`.
    unsafe {
        if alone {
            if !awaited {
                tasks.give_back(member, task);
            }
            if let Some(parent) = parent {
                let give = if adopted {
                    Counts::drop_one
                } else {
                    Counts::drop_child
                };
                let_go(parent, give);
            }
        } else {
            if let Some(parent) = parent.filter(|_| !adopted) {
                // The task's memory remains, so it keeps the parent's memory.
                parent.as_ref().counts.end_child();
            }
            if !awaited {
                let_go(task, Counts::end);
            }
        }
    }
    tasks.count_ended(member);
    // When the last task ends, no task is ready.
    if !tasks.has_ready() {
        team.try_open();
    }
    team.ring_for_tasks();
}
