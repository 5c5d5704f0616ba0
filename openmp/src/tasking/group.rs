//! `taskgroup`.

use super::wait::help_until;
use crate::task::Group;
use crate::team::context::Context;
use std::ptr;

/// Begins a group. Children that the current task makes from now on are in this group.
pub(crate) fn begin_group(context: &Context, workshare: bool) {
    let current = &context.task().group;
    let group = Box::new(Group::new(current.get(), workshare));
    current.set(Box::into_raw(group));
}

/// Waits until all tasks of the current group have ended, and ends the group.
pub(crate) fn end_group(context: &Context) {
    let task = context.task();
    let Some(group) = task.current_group() else {
        return;
    };
    help_until(context, &|| group.is_over());
    let outer = group.previous().map_or(ptr::null(), ptr::from_ref);
    let group = task.group.replace(outer);
    // SAFETY: `begin_group` made the group, and no task is in it.
    drop(unsafe { Box::from_raw(group.cast_mut()) });
}
