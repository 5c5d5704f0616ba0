//! Waiting at the barrier inside a region. Waiting members run tasks.

use super::run::run_any;
use crate::team::Team;
use crate::team::context::Context;

/// Opens the barrier if no task is left. The caller has arrived last, so all other members are at this barrier.
fn open_as_last(context: &Context, team: &Team) {
    let site = context.site.replace(0);
    let Some(carrier) = team.carrier else {
        return team.try_open();
    };
    if team.tasks.live() != 0 {
        carrier.miss_episode();
        return team.try_open();
    }
    carrier.open_episode(site, false);
    team.try_open();
    carrier.has_opened();
    if let Some(rank) = context.carried.get() {
        rank.make_room();
    }
}

/// Runs all tasks of a team whose only member is the caller. Other threads may fulfil the events of these tasks.
#[cold]
pub(crate) fn end_tasks(context: &Context, team: &Team) {
    while team.tasks.live() != 0 {
        let goes_on = || team.tasks.live() == 0 || team.tasks.has_ready();
        team.bell.wait_until(&context.carried, &goes_on);
        run_any(context, team, &mut 0);
    }
}

/// Waits for all other members, and runs tasks meanwhile. If `cancellable` and the region is cancelled, returns `true`,
/// perhaps before all members have arrived.
pub(crate) fn meet(context: &Context, cancellable: bool) -> bool {
    let team = context.team();
    if team.size == 1 {
        if team.tasks.live() != 0 {
            end_tasks(context, team);
        }
        team.forget_cancelled_shares();
        return cancellable && team.is_cancelled();
    }
    if cancellable && team.is_cancelled() {
        return true;
    }
    if team.carrier.is_some() {
        arrive(context);
    } else if team.barrier.open_at_once(&team.tasks, &team.bell) {
        context.site.set(0);
        return cancellable && team.is_cancelled();
    }
    let (before, is_last) = team.barrier.arrive(context.id());
    let opened = || team.barrier.is_opened_since(before);
    if is_last {
        open_as_last(context, team);
    }
    let mut misses = 0;
    loop {
        if opened() {
            return cancellable && team.is_cancelled();
        }
        if cancellable && team.is_cancelled() {
            return true;
        }
        if team.tasks.has_ready() {
            run_any(context, team, &mut misses);
            continue;
        }
        team.bell.wait_until(&context.carried, &|| {
            opened() || team.tasks.has_ready() || (cancellable && team.is_cancelled())
        });
    }
}

/// A member of a carried team (see `carry`) has arrived at a barrier or at the region's end.
pub(crate) fn arrive(context: &Context) {
    if let Some(rank) = context.carried.get() {
        rank.arrive();
    }
}
