//! Leagues of teams. On the host, one team runs after another.

use super::export;
use crate::environment::icv::Icv;
use crate::environment::settings;
use crate::task::Outlined;
use crate::team::context::{Context, context};
use std::ffi::{c_uint, c_void};
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// `nteams-var` and `teams-thread-limit-var` as the program has set them, or 0 if the environment variable decides.
pub(super) static NUM_TEAMS: AtomicU32 = AtomicU32::new(0);
pub(super) static THREAD_LIMIT: AtomicU32 = AtomicU32::new(0);

/// The number of teams of a league if neither the program nor the user gives a number.
const TEAMS: u32 = 3;

pub(super) fn or(set: &AtomicU32, otherwise: u32) -> u32 {
    match set.load(Relaxed) {
        0 => otherwise,
        number => number,
    }
}

/// Changes a control variable of the current task.
pub(super) fn change(context: &Context, change: impl FnOnce(&mut Icv)) {
    let icv = &context.task().icv;
    let mut changed = icv.get();
    change(&mut changed);
    icv.set(changed);
}

/// Runs `body` for each team of a league. If `teams` or `limit` is 0, the settings decide.
pub(super) fn league(context: &Context, teams: u32, limit: u32, body: impl Fn()) {
    let before = context.task().icv.get();
    let limit = match limit {
        0 => or(&THREAD_LIMIT, settings().teams_thread_limit),
        limit => limit,
    };
    if limit > 0 {
        change(context, |icv| icv.thread_limit = limit);
    }
    let teams = match teams {
        0 => match or(&NUM_TEAMS, settings().num_teams) {
            0 => TEAMS,
            number => number,
        },
        number => number,
    };
    let league = context.league.get();
    for team in 0..teams {
        context.league.set((team, teams));
        body();
    }
    context.league.set(league);
    if limit > 0 {
        change(context, |icv| icv.thread_limit = before.thread_limit);
    }
}

export! {
    fn GOMP_teams_reg(
        function: Outlined, data: *mut c_void, teams: c_uint, limit: c_uint, _flags: c_uint,
    ) {
        // SAFETY: the program made the data for this function.
        league(context(), teams, limit, || unsafe { function(data) });
    }

    fn GOMP_teams(_teams: c_uint, limit: c_uint) {
        if limit > 0 {
            change(context(), |icv| icv.thread_limit = limit);
        }
        context().league.set((0, 1));
    }

    fn GOMP_teams4(least: c_uint, _most: c_uint, limit: c_uint, first: bool) -> bool {
        let context = context();
        if first {
            if limit > 0 {
                change(context, |icv| icv.thread_limit = limit);
            }
            context.league.set((0, least.max(1)));
            return true;
        }
        let (team, teams) = context.league.get();
        if team + 1 >= teams {
            return false;
        }
        context.league.set((team + 1, teams));
        true
    }
}
