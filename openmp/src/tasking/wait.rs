//! Waiting for tasks, in a task: meanwhile its descendants are run.
//!
//! A task waits only for descendants of itself: its children and theirs, the tasks of groups that
//! it has begun, and siblings among those that come before others. So if all of these wait, one of
//! them is ready, and the thread finds it in any queue.

use super::run::run;
use crate::task::depend;
use crate::team::context::Context;
use std::ffi::c_void;
use std::sync::atomic::Ordering::SeqCst;

/// Runs descendants of the current task until what it waits for is `over`.
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

/// `taskwait depend`: the same for children that what is in the compiler's array depends on.
///
/// # Safety
///
/// The array is as compiled programs make it.
pub(crate) unsafe fn wait_for_dependences(context: &Context, depend: *mut *mut c_void) {
    let task = context.task();
    // SAFETY: by the caller's word; the current task is in this team, which owns the key.
    let awaited = |key: &mut _| unsafe { depend::awaited(task, depend, key) };
    let awaited = context.team().tasks.linked(awaited);
    let ended = || awaited.iter().all(|task| task.done.load(SeqCst));
    help_until(context, &ended);
}
