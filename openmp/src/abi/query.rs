//! Functions that read and set control variables.

use super::export;
use super::teams::{NUM_TEAMS, THREAD_LIMIT, change, or};
use crate::environment::icv::{Kind, MONOTONIC, MOST_LEVELS, Schedule};
use crate::environment::places::{self, Partition};
use crate::environment::{self, settings};
use crate::team::Team;
use crate::team::context::{Context, context};
use std::ffi::{c_char, c_double, c_int, c_uint};
use std::sync::atomic::Ordering::Relaxed;

/// Converts a number to the type of the interface. If the number is too large, returns the largest one.
fn int(number: impl TryInto<c_int>) -> c_int {
    number.try_into().unwrap_or(c_int::MAX)
}

/// The team of the calling thread's ancestor at `level`, and the ancestor's number in that team.
fn ancestor(context: &Context, level: c_int) -> Option<(&Team, u32)> {
    let level = u32::try_from(level).ok()?;
    let (mut team, mut id) = (context.team(), context.id());
    if level > team.region().level {
        return None;
    }
    while team.region().level > level {
        let region = team.region();
        id = region.parent_id;
        // SAFETY: enclosing teams outlive this team.
        team = unsafe { &*region.parent };
    }
    Some((team, id))
}

/// The places for regions of the calling thread.
fn partition() -> Partition {
    Partition::of(context().partition.get())
}

/// The time or the resolution of the monotonic clock, in seconds.
fn seconds(read: unsafe extern "C" fn(libc::clockid_t, *mut libc::timespec) -> c_int) -> c_double {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the call writes `time`.
    unsafe { read(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as c_double + time.tv_nsec as c_double * 1e-9
}

export! {
    pub(super) fn omp_set_num_threads(threads: c_int) {
        change(context(), |icv| icv.threads = Some(threads.max(1) as u32));
    }

    fn omp_get_num_threads() -> c_int {
        int(context().team().size)
    }

    fn omp_get_max_threads() -> c_int {
        int(context().task().icv.get().threads())
    }

    fn omp_get_thread_num() -> c_int {
        int(context().id())
    }

    fn omp_get_num_procs() -> c_int {
        int(places::processors())
    }

    fn omp_in_parallel() -> c_int {
        c_int::from(context().team().region().active_level > 0)
    }

    pub(super) fn omp_set_dynamic(dynamic: c_int) {
        change(context(), |icv| icv.dynamic = dynamic != 0);
    }

    fn omp_get_dynamic() -> c_int {
        c_int::from(context().task().icv.get().dynamic)
    }

    pub(super) fn omp_set_nested(nested: c_int) {
        change(context(), |icv| {
            icv.max_active = if nested != 0 { MOST_LEVELS } else { icv.max_active.min(1) };
        });
    }

    fn omp_get_nested() -> c_int {
        let context = context();
        let most = context.task().icv.get().max_active;
        c_int::from(most > 1 && most > context.team().region().active_level)
    }

    pub(super) fn omp_set_max_active_levels(levels: c_int) {
        if let Ok(levels) = u32::try_from(levels) {
            change(context(), |icv| icv.max_active = levels.min(MOST_LEVELS));
        }
    }

    fn omp_get_max_active_levels() -> c_int {
        int(context().task().icv.get().max_active)
    }

    fn omp_get_supported_active_levels() -> c_int {
        int(MOST_LEVELS)
    }

    pub(super) fn omp_set_schedule(kind: c_uint, chunk: c_int) {
        let Some(it) = Kind::from_number(kind & !MONOTONIC) else {
            return;
        };
        let chunk = match it {
            Kind::Static => chunk.max(0),
            Kind::Dynamic | Kind::Guided => chunk.max(1),
            Kind::Auto => 0,
        };
        let monotonic = kind & MONOTONIC != 0;
        change(context(), |icv| icv.schedule = Schedule { kind: it, monotonic, chunk });
    }

    fn omp_get_schedule(kind: *mut c_uint, chunk: *mut c_int) {
        let schedule = context().task().icv.get().schedule;
        let monotonic = if schedule.monotonic { MONOTONIC } else { 0 };
        // SAFETY: the program passes the variables.
        unsafe {
            kind.write(schedule.kind as c_uint | monotonic);
            chunk.write(schedule.chunk);
        }
    }

    fn omp_get_thread_limit() -> c_int {
        int(context().task().icv.get().thread_limit)
    }

    fn omp_get_level() -> c_int {
        int(context().team().region().level)
    }

    fn omp_get_active_level() -> c_int {
        int(context().team().region().active_level)
    }

    pub(super) fn omp_get_ancestor_thread_num(level: c_int) -> c_int {
        ancestor(context(), level).map_or(-1, |(_, id)| int(id))
    }

    pub(super) fn omp_get_team_size(level: c_int) -> c_int {
        ancestor(context(), level).map_or(-1, |(team, _)| int(team.size))
    }

    fn omp_in_final() -> c_int {
        c_int::from(context().task().is_final)
    }

    fn omp_get_cancellation() -> c_int {
        c_int::from(settings().cancellation)
    }

    fn omp_get_max_task_priority() -> c_int {
        settings().max_task_priority
    }

    fn omp_get_proc_bind() -> c_uint {
        context().task().icv.get().bind as c_uint
    }

    fn omp_get_num_places() -> c_int {
        int(places::all().len())
    }

    fn omp_get_place_num_procs(place: c_int) -> c_int {
        let place = usize::try_from(place).ok().and_then(|place| places::all().get(place));
        place.map_or(0, |cpus| int(cpus.len()))
    }

    fn omp_get_place_proc_ids(place: c_int, ids: *mut c_int) {
        let place = usize::try_from(place).ok().and_then(|place| places::all().get(place));
        for (at, &cpu) in place.into_iter().flatten().enumerate() {
            // SAFETY: the array from the program has room for each CPU of the place.
            unsafe { ids.add(at).write(int(cpu)) };
        }
    }

    fn omp_get_place_num() -> c_int {
        let context = context();
        crate::region::settle(context);
        context.place.get().map_or(-1, int)
    }

    fn omp_get_partition_num_places() -> c_int {
        int(partition().count)
    }

    fn omp_get_partition_place_nums(numbers: *mut c_int) {
        let Partition { first, count } = partition();
        for at in 0..count {
            // SAFETY: the array from the program has room for each place of the partition.
            unsafe { numbers.add(at as usize).write(int(first + at)) };
        }
    }

    fn omp_set_default_device(device: c_int) {
        change(context(), |icv| icv.default_device = device.max(super::device::INITIAL));
    }

    fn omp_get_default_device() -> c_int {
        context().task().icv.get().default_device
    }

    fn omp_get_num_teams() -> c_int {
        int(context().league.get().1)
    }

    fn omp_get_team_num() -> c_int {
        int(context().league.get().0)
    }

    fn omp_set_num_teams(teams: c_int) {
        if let Ok(teams) = u32::try_from(teams) {
            NUM_TEAMS.store(teams, Relaxed);
        }
    }

    fn omp_get_max_teams() -> c_int {
        int(or(&NUM_TEAMS, settings().num_teams))
    }

    fn omp_set_teams_thread_limit(limit: c_int) {
        if let Ok(limit) = u32::try_from(limit) {
            THREAD_LIMIT.store(limit, Relaxed);
        }
    }

    fn omp_get_teams_thread_limit() -> c_int {
        int(or(&THREAD_LIMIT, settings().teams_thread_limit))
    }

    fn omp_pause_resource(_kind: c_uint, _device: c_int) -> c_int {
        pause()
    }

    fn omp_pause_resource_all(_kind: c_uint) -> c_int {
        pause()
    }

    fn omp_get_wtime() -> c_double {
        seconds(libc::clock_gettime)
    }

    fn omp_get_wtick() -> c_double {
        seconds(libc::clock_getres)
    }

    fn omp_display_env(verbose: c_int) {
        environment::show(settings(), (verbose != 0).then(crate::carry::is_preloaded));
    }

    fn GOMP_warning(text: *const c_char, length: usize) {
        say(text, length);
    }

    fn GOMP_error(text: *const c_char, length: usize) {
        say(text, length);
        // SAFETY: a fatal `error` directive asks for this call.
        unsafe { libc::exit(1) };
    }
}

/// Ends the threads that wait for the next region. Returns 0, or -1 if the caller is in a region.
fn pause() -> c_int {
    let context = context();
    if context.team().region().level > 0 {
        return -1;
    }
    crate::region::dismiss(context);
    0
}

/// Prints the text of an `error` directive. If `length` is the largest number, the text is a C string.
fn say(text: *const c_char, length: usize) {
    // SAFETY: the compiler made the string.
    let bytes = unsafe {
        if text.is_null() {
            &[]
        } else if length == usize::MAX {
            std::ffi::CStr::from_ptr(text).to_bytes()
        } else {
            std::slice::from_raw_parts(text.cast::<u8>(), length)
        }
    };
    crate::system::report::line(format_args!(
        "error directive: {}",
        String::from_utf8_lossy(bytes)
    ));
}
