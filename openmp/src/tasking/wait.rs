//! Waiting for tasks inside a task. Meanwhile the thread runs descendants of the waiting task.
//!
//! A task waits only for its descendants. These are its children and their descendants, the tasks of groups that it has
//! begun, and tasks on which such tasks depend. So if all descendants that have begun are waiting, another descendant
//! is ready, and the thread finds it in some queue.

use super::run::run;
use crate::task::depend;
use crate::team::context::Context;
use std::ffi::c_void;
use std::sync::atomic::Ordering::SeqCst;

/// Runs descendants of the current task until `over` returns `true`.
pub(super) fn help_until(context: &Context, over: &dyn Fn() -> bool) {
    let (team, member) = (context.team(), context.id());
    let tasks = &team.tasks;
    let take = || tasks.take_descendant(member, context.task());
    while !over() {
        if let Some(task) = take() {
            run(context, task);
            continue;
        }
        let seen = tasks.choosy();
        let task = take();
        if task.is_none() {
            team.bell
                .wait_until(&context.carried, &|| over() || tasks.pushes() != seen);
        }
        tasks.unchoosy();
        if let Some(task) = task {
            run(context, task);
        }
    }
}

/// `taskwait`.
pub(crate) fn wait(context: &Context) {
    let task = context.task();
    help_until(context, &|| task.counts.has_no_children());
}

/// `taskwait depend`: waits for the children that a task with the accesses in the compiler's array would depend on.
///
/// # Safety
///
/// A compiled program made the array.
pub(crate) unsafe fn wait_for_dependences(context: &Context, depend: *mut *mut c_void) {
    let task = context.task();
    // SAFETY: as the caller promises. The current task and the key belong to this team.
    let awaited = |key: &mut _| unsafe { depend::awaited(task, depend, key) };
    let awaited = context.team().tasks.linked(awaited);
    let ended = || awaited.iter().all(|task| task.done.load(SeqCst));
    help_until(context, &ended);
}
