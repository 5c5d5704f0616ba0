//! The life of a thread as a member of a team.

use super::binding::{bind, position};
use crate::environment::icv::Icv;
use crate::environment::settings;
use crate::system::shared_core;
use crate::task::{Group, Task};
use crate::tasking::{arrive, run_any};
use crate::team::Team;
use crate::team::context::Context;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

/// Runs the team's regions as member `id`, until the team is dismissed.
pub(super) fn serve(context: &Context, team: &Arc<Team>, id: u32) {
    let mut task = Arc::new(Task::implicit(settings().icv));
    let mut epoch = 0;
    if let Some(rank) = context.carried.get() {
        rank.is_member(position(id, team.size));
    }
    loop {
        let mut misses = 0;
        loop {
            team.bell.wait_until(&context.carried, &|| {
                team.epoch.load(SeqCst) != epoch || team.tasks.has_ready()
            });
            if team.epoch.load(SeqCst) != epoch {
                break;
            }
            // The last region is not over while it has tasks.
            run_any(context, team, &mut misses);
        }
        if team.dismissed.load(SeqCst) {
            return;
        }
        epoch = epoch.wrapping_add(1);
        if team.carrier.is_none() {
            shared_core::note();
        }
        let region = team.region();
        let group = region.group.clone();
        let current = renew(&mut task, region.icv, group, region.in_final);
        context.seat.sit(Arc::as_ptr(team), id, current);
        context.league.set(region.league);
        bind(context, team);
        if region.shared {
            context.come(|_| ());
        }
        if let Some(function) = region.function {
            // SAFETY: the program made the data for this function.
            unsafe { function(region.data) };
        }
        team.tasks.forget_edges(context.task());
        if team.carrier.is_some() {
            arrive(context);
        }
        team.end_member(id);
    }
}

/// Prepares the implicit task for another region. If another thread still refers to the task, makes a new one.
pub(super) fn renew(
    task: &mut Arc<Task>,
    icv: Icv,
    group: Option<Arc<Group>>,
    is_final: bool,
) -> *const Task {
    if Arc::get_mut(task).is_none() {
        *task = Arc::new(Task::implicit(icv));
    }
    if let Some(task) = Arc::get_mut(task) {
        task.renew(icv, group, is_final);
    }
    Arc::as_ptr(task)
}
