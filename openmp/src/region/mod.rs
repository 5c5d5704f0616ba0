//! Begins, runs and ends a parallel region.

pub(crate) mod affinity;
mod binding;
mod member;
mod threads;

pub(crate) use binding::settle;
pub(crate) use threads::dismiss;

use crate::carry;
use crate::environment::cores::{cores, wake_watch, watch_cores};
use crate::environment::icv::{Bind, Icv};
use crate::environment::settings;
use crate::system::shared_core;
use crate::task::{Group, Outlined, Task};
use crate::tasking::{arrive, end_tasks, run_any};
use crate::team::context::Context;
use crate::team::hot::Hot;
use crate::team::share::Plan;
use crate::team::{Region, Team};
use crate::words::spin;
use member::renew;
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::SeqCst;

/// The requests of a `parallel` construct.
pub(crate) struct Wanted<'a> {
    pub(crate) function: Outlined,
    pub(crate) data: *mut c_void,
    /// An address in the program that identifies this region, or 0 if it is unknown.
    pub(crate) site: usize,
    /// The value of `num_threads`, or 0 if the control variables decide.
    pub(crate) threads: u32,
    /// Whether the caller has already got `threads` from [`reserve`].
    pub(crate) exact: bool,
    /// The value of `proc_bind`.
    pub(crate) bind: Option<Bind>,
    pub(crate) group: Option<Arc<Group>>,
    /// The first work share of the region.
    pub(crate) share: Option<&'a dyn Fn(&mut Plan)>,
}

/// The number of threads in regions of the caller's contention group (the threads that share a limit), without the
/// initial thread of the group. `None` if there is no limit.
fn counted(context: &Context, icv: Icv) -> Option<Arc<AtomicU32>> {
    let of_region = || context.team().region().busy.clone();
    (icv.thread_limit != u32::MAX)
        .then(|| of_region().unwrap_or_else(|| Arc::clone(&context.busy.borrow())))
}

/// Returns the number of members that a region gets, and counts them against the limit of the contention group. The
/// caller then begins the region.
pub(crate) fn reserve(context: &Context, wanted: u32) -> u32 {
    let icv = context.task().icv.get();
    let active = context.team().region().active_level;
    let size = if wanted == 0 { icv.threads() } else { wanted };
    if size <= 1 || (active >= 1 && active >= icv.max_active) || icv.max_active == 0 {
        return 1;
    }
    let mut most = size;
    if icv.dynamic {
        let cores = cores() as u32;
        let free = cores.saturating_sub(spin::busy() as u32 - 1).max(1);
        most = most.min(free);
    }
    let Some(busy) = counted(context, icv) else {
        return most;
    };
    // Other threads of the group may begin regions at the same time.
    let members = |busy| most.min(icv.thread_limit.saturating_sub(busy).max(1));
    let before = busy.fetch_update(SeqCst, SeqCst, |busy| Some(busy + members(busy) - 1));
    before.map_or(1, members)
}

/// Begins a region. The caller becomes its member 0. Returns the number of members, which is less than wanted if there
/// is no room for more threads.
pub(crate) fn begin(context: &Context, wanted: Wanted<'_>) -> u32 {
    context.check_fork();
    binding::settle(context);
    let reserved = match wanted.exact {
        true => wanted.threads,
        false => reserve(context, wanted.threads),
    };
    let depth = context.depth();
    let (outer, current) = (context.team(), context.task());
    let mut icv = current.icv.get();
    let bind = match wanted.bind {
        _ if icv.bind == Bind::False => Bind::False,
        Some(bind) => bind,
        None => icv.bind,
    };
    let team = team_of(context, depth, reserved, bind);
    let size = team.size;
    if size < reserved {
        counted(context, icv).inspect(|busy| _ = busy.fetch_sub(reserved - size, SeqCst));
    }
    let level = outer.region().level;
    let settings = settings();
    let next = level as usize + 1;
    if let Some(&threads) = settings.threads.get(next) {
        icv.threads = Some(threads);
    }
    // As with GCC's library, regions inside this region inherit the value of its `proc_bind` clause.
    icv.bind = settings.binds.get(next).copied().unwrap_or(bind);
    let group = wanted.group;
    team.prepare(Region {
        function: Some(wanted.function),
        data: wanted.data,
        icv,
        level: level + 1,
        active_level: outer.region().active_level + u32::from(size > 1),
        parent: context.seat.team.get(),
        parent_id: context.id(),
        group: group.clone(),
        league: context.league.get(),
        place: context.place.get(),
        partition: context.partition.get(),
        bind,
        displayed: binding::is_displayed(context, size, level, bind),
        in_final: current.is_final,
        shared: wanted.share.is_some(),
        busy: counted(context, icv),
    });
    context.push_seat();
    let task = implicit(context, depth, icv, group, current.is_final);
    context.seat.sit(team, 0, task);
    if let Some(make) = wanted.share {
        // The share is made before the other members may begin the region.
        context.come(|plan| make(plan));
    }
    if size > 1 {
        // Inside a region a worker may execute the caller, on another core.
        if level == 0 {
            shared_core::note();
        }
        spin::enter(size as usize - 1);
        wake_watch();
        binding::bind(context, team);
        if let Some(carrier) = team.carrier {
            carrier.open_episode(wanted.site, true);
        }
        team.epoch.fetch_add(1, SeqCst);
        team.bell.ring_after_rmw();
        if let Some(carrier) = team.carrier {
            carrier.has_opened();
        }
    }
    size
}

/// The team for the next region of this thread, which wants `size` members. A region of one thread leaves the threads of
/// other regions where they are, so their `threadprivate` variables keep their values for the next such region.
fn team_of(context: &Context, depth: usize, size: u32, bind: Bind) -> &'static Team {
    if size == 1 {
        return context.serial_team(depth);
    }
    let mut hot = context.hot.borrow_mut();
    if hot.len() <= depth {
        hot.resize_with(depth + 1, Hot::alone);
    }
    let is_placed = binding::is_placed_inside(context, bind);
    if hot[depth].wanted != size || (is_placed && hot[depth].team.carrier.is_some()) {
        watch_cores();
        // The threads of the old team are told to go back to the pool. Those that are there in time join the new team.
        hot[depth] = Hot::alone();
        let carrier = (!is_placed)
            .then(|| carry::claim(context, depth, size, threads::waiting_ranks()))
            .flatten();
        hot[depth] = threads::hot(size, carrier);
    }
    if let Some(carrier) = hot[depth].team.carrier
        && !carrier.lead(context)
    {
        hot[depth] = threads::hot(size, None);
    }
    // SAFETY: the team stays in `hot` until this thread begins another region at this depth, or ends.
    unsafe { &*Arc::as_ptr(&hot[depth].team) }
}

/// Prepares the leader's implicit task.
fn implicit(
    context: &Context,
    depth: usize,
    icv: Icv,
    group: Option<Arc<Group>>,
    is_final: bool,
) -> *const Task {
    let mut tasks = context.implicit.borrow_mut();
    if tasks.len() <= depth {
        tasks.resize_with(depth + 1, || Arc::new(Task::implicit(icv)));
    }
    renew(&mut tasks[depth], icv, group, is_final)
}

/// Ends the region that the caller began last.
pub(crate) fn end(context: &Context) {
    let team = context.team();
    team.tasks.forget_edges(context.task());
    let others = team.size - 1;
    if team.carrier.is_some() {
        arrive(context);
    }
    let over = || team.is_ended() && team.tasks.live() == 0;
    let mut misses = 0;
    while !over() {
        if team.tasks.has_ready() {
            run_any(context, team, &mut misses);
        } else {
            team.end
                .wait_until(&context.carried, &|| over() || team.tasks.has_ready());
        }
    }
    if others > 0 {
        spin::leave(others as usize);
        team.region()
            .busy
            .as_ref()
            .inspect(|busy| _ = busy.fetch_sub(others, SeqCst));
    }
    context.partition.set(team.region().partition);
    if let Some(carrier) = team.carrier {
        carrier.leave(context);
    }
    team.finish();
    context.pop_seat();
}

/// Runs a whole region. Returns the number of its members.
pub(crate) fn run(context: &Context, wanted: Wanted<'_>) -> u32 {
    let (function, data) = (wanted.function, wanted.data);
    let size = begin(context, wanted);
    // SAFETY: the program made the data for this function.
    unsafe { function(data) };
    end(context);
    size
}

/// Runs `body` as if the thread were in no region, with these control variables.
pub(crate) fn as_initial(context: &Context, icv: Icv, body: impl FnOnce()) {
    let team = Team::alone();
    let task = Arc::new(Task::implicit(icv));
    let league = context.league.replace((0, 1));
    let busy = context.busy.take();
    // As with GCC's library, the thread stays at its place.
    let partition = context.partition.take();
    let displayed = context.displayed.take();
    context.push_seat();
    context.seat.sit(Arc::as_ptr(&team), 0, Arc::as_ptr(&task));
    body();
    end_tasks(context, &team);
    team.tasks.forget_edges(&task);
    context.pop_seat();
    context.displayed.set(displayed);
    context.partition.set(partition);
    context.busy.replace(busy);
    context.league.set(league);
}
