//! The interface for Fortran. A name is the name in C with an underscore behind it, or with `_8_` if the function takes
//! integers of eight bytes. Arguments are passed by address.

use super::export;
use std::ffi::{c_char, c_double, c_int, c_uint, c_void};

unsafe extern "C" {
    safe fn omp_get_num_threads() -> c_int;
    safe fn omp_get_max_threads() -> c_int;
    safe fn omp_get_thread_num() -> c_int;
    safe fn omp_get_num_procs() -> c_int;
    safe fn omp_in_parallel() -> c_int;
    safe fn omp_get_dynamic() -> c_int;
    safe fn omp_get_nested() -> c_int;
    safe fn omp_get_max_active_levels() -> c_int;
    safe fn omp_get_supported_active_levels() -> c_int;
    safe fn omp_get_thread_limit() -> c_int;
    safe fn omp_get_level() -> c_int;
    safe fn omp_get_active_level() -> c_int;
    safe fn omp_in_final() -> c_int;
    safe fn omp_get_cancellation() -> c_int;
    safe fn omp_get_max_task_priority() -> c_int;
    safe fn omp_get_num_places() -> c_int;
    safe fn omp_get_place_num() -> c_int;
    safe fn omp_get_partition_num_places() -> c_int;
    safe fn omp_get_default_device() -> c_int;
    safe fn omp_get_num_devices() -> c_int;
    safe fn omp_get_initial_device() -> c_int;
    safe fn omp_get_device_num() -> c_int;
    safe fn omp_is_initial_device() -> c_int;
    safe fn omp_get_num_teams() -> c_int;
    safe fn omp_get_team_num() -> c_int;
    safe fn omp_get_max_teams() -> c_int;
    safe fn omp_get_teams_thread_limit() -> c_int;
    safe fn omp_get_proc_bind() -> c_uint;
    safe fn omp_get_wtime() -> c_double;
    safe fn omp_get_wtick() -> c_double;
    safe fn omp_set_num_threads(value: c_int);
    safe fn omp_set_dynamic(value: c_int);
    safe fn omp_set_nested(value: c_int);
    safe fn omp_set_max_active_levels(value: c_int);
    safe fn omp_set_default_device(value: c_int);
    safe fn omp_set_num_teams(value: c_int);
    safe fn omp_set_teams_thread_limit(value: c_int);
    safe fn omp_display_env(value: c_int);
    safe fn omp_get_ancestor_thread_num(value: c_int) -> c_int;
    safe fn omp_get_team_size(value: c_int) -> c_int;
    safe fn omp_get_place_num_procs(value: c_int) -> c_int;
    safe fn omp_set_schedule(kind: c_uint, chunk: c_int);
    safe fn omp_pause_resource(kind: c_uint, device: c_int) -> c_int;
    safe fn omp_pause_resource_all(kind: c_uint) -> c_int;
    fn omp_get_schedule(kind: *mut c_uint, chunk: *mut c_int);
    fn omp_get_place_proc_ids(place: c_int, ids: *mut c_int);
    fn omp_get_partition_place_nums(numbers: *mut c_int);
    fn omp_fulfill_event(event: *const c_void);
    safe fn omp_get_default_allocator() -> usize;
    safe fn omp_set_default_allocator(allocator: usize);
    fn omp_destroy_allocator(allocator: usize);
    fn omp_init_allocator(space: usize, count: c_int, traits: *const c_void) -> usize;
}

/// The value of an argument that is passed by address.
fn value<T: Copy>(argument: *const T) -> T {
    // SAFETY: the argument is the address of a variable of the program.
    unsafe { *argument }
}

fn short(argument: *const i64) -> c_int {
    value(argument).clamp(c_int::MIN.into(), c_int::MAX.into()) as c_int
}

macro_rules! plain {
    ($($result:ty: $($name:ident = $c:ident),*;)*) => {
        $($(export! { fn $name() -> $result { $c() } })*)*
    };
}

plain! {
    c_int:
        omp_get_num_threads_ = omp_get_num_threads, omp_get_max_threads_ = omp_get_max_threads,
        omp_get_thread_num_ = omp_get_thread_num, omp_get_num_procs_ = omp_get_num_procs,
        omp_in_parallel_ = omp_in_parallel, omp_get_dynamic_ = omp_get_dynamic,
        omp_get_nested_ = omp_get_nested, omp_get_max_active_levels_ = omp_get_max_active_levels,
        omp_get_supported_active_levels_ = omp_get_supported_active_levels,
        omp_get_thread_limit_ = omp_get_thread_limit, omp_get_level_ = omp_get_level,
        omp_get_active_level_ = omp_get_active_level, omp_in_final_ = omp_in_final,
        omp_get_cancellation_ = omp_get_cancellation,
        omp_get_max_task_priority_ = omp_get_max_task_priority,
        omp_get_num_places_ = omp_get_num_places, omp_get_place_num_ = omp_get_place_num,
        omp_get_partition_num_places_ = omp_get_partition_num_places,
        omp_get_default_device_ = omp_get_default_device,
        omp_get_num_devices_ = omp_get_num_devices,
        omp_get_initial_device_ = omp_get_initial_device,
        omp_get_device_num_ = omp_get_device_num, omp_is_initial_device_ = omp_is_initial_device,
        omp_get_num_teams_ = omp_get_num_teams, omp_get_team_num_ = omp_get_team_num,
        omp_get_max_teams_ = omp_get_max_teams,
        omp_get_teams_thread_limit_ = omp_get_teams_thread_limit;
    c_uint: omp_get_proc_bind_ = omp_get_proc_bind;
    c_double: omp_get_wtime_ = omp_get_wtime, omp_get_wtick_ = omp_get_wtick;
    usize: omp_get_default_allocator_ = omp_get_default_allocator;
}

/// Functions of one number, of four and of eight bytes.
macro_rules! of_one {
    ($($name:ident $long:ident = $c:ident $(-> $result:ty)?;)*) => {
        $(export! {
            fn $name(argument: *const c_int) $(-> $result)? { $c(value(argument)) }
            fn $long(argument: *const i64) $(-> $result)? { $c(short(argument)) }
        })*
    };
}

of_one! {
    omp_set_dynamic_ omp_set_dynamic_8_ = omp_set_dynamic;
    omp_set_nested_ omp_set_nested_8_ = omp_set_nested;
    omp_set_num_threads_ omp_set_num_threads_8_ = omp_set_num_threads;
    omp_set_max_active_levels_ omp_set_max_active_levels_8_ = omp_set_max_active_levels;
    omp_set_default_device_ omp_set_default_device_8_ = omp_set_default_device;
    omp_set_num_teams_ omp_set_num_teams_8_ = omp_set_num_teams;
    omp_set_teams_thread_limit_ omp_set_teams_thread_limit_8_ = omp_set_teams_thread_limit;
    omp_display_env_ omp_display_env_8_ = omp_display_env;
    omp_get_ancestor_thread_num_ omp_get_ancestor_thread_num_8_ =
        omp_get_ancestor_thread_num -> c_int;
    omp_get_team_size_ omp_get_team_size_8_ = omp_get_team_size -> c_int;
    omp_get_place_num_procs_ omp_get_place_num_procs_8_ = omp_get_place_num_procs -> c_int;
}

/// Calls `write`, which writes `count` numbers of four bytes, and copies them to `to` as numbers of eight bytes.
fn widen(count: c_int, to: *mut i64, write: impl FnOnce(*mut c_int)) {
    let mut numbers = vec![0; usize::try_from(count).unwrap_or(0)];
    write(numbers.as_mut_ptr());
    for (at, &number) in numbers.iter().enumerate() {
        // SAFETY: the array from the program has room for `count` numbers.
        unsafe { to.add(at).write(number.into()) };
    }
}

export! {
    fn omp_set_schedule_(kind: *const c_uint, chunk: *const c_int) {
        omp_set_schedule(value(kind), value(chunk));
    }

    fn omp_set_schedule_8_(kind: *const c_uint, chunk: *const i64) {
        omp_set_schedule(value(kind), short(chunk));
    }

    fn omp_get_schedule_(kind: *mut c_uint, chunk: *mut c_int) {
        // SAFETY: the program passes the variables.
        unsafe { omp_get_schedule(kind, chunk) };
    }

    fn omp_get_schedule_8_(kind: *mut c_uint, chunk: *mut i64) {
        // SAFETY: the program passes the variables.
        widen(1, chunk, |chunk| unsafe { omp_get_schedule(kind, chunk) });
    }

    fn omp_get_place_proc_ids_(place: *const c_int, ids: *mut c_int) {
        // SAFETY: the program passes the array.
        unsafe { omp_get_place_proc_ids(value(place), ids) };
    }

    fn omp_get_place_proc_ids_8_(place: *const i64, ids: *mut i64) {
        let place = short(place);
        // SAFETY: `widen` passes room for all numbers.
        widen(omp_get_place_num_procs(place), ids, |ids| unsafe {
            omp_get_place_proc_ids(place, ids);
        });
    }

    fn omp_get_partition_place_nums_(numbers: *mut c_int) {
        // SAFETY: the program passes the array.
        unsafe { omp_get_partition_place_nums(numbers) };
    }

    fn omp_get_partition_place_nums_8_(numbers: *mut i64) {
        // SAFETY: `widen` passes room for all numbers.
        widen(omp_get_partition_num_places(), numbers, |numbers| unsafe {
            omp_get_partition_place_nums(numbers);
        });
    }

    fn omp_pause_resource_(kind: *const c_uint, device: *const c_int) -> c_int {
        omp_pause_resource(value(kind), value(device))
    }

    fn omp_pause_resource_all_(kind: *const c_uint) -> c_int {
        omp_pause_resource_all(value(kind))
    }

    fn omp_fulfill_event_(event: *const c_void) {
        // SAFETY: the program passes a handle, by value.
        unsafe { omp_fulfill_event(event) };
    }

    fn omp_set_default_allocator_(allocator: *const usize) {
        omp_set_default_allocator(value(allocator));
    }

    fn omp_destroy_allocator_(allocator: *const usize) {
        // SAFETY: the program made the allocator.
        unsafe { omp_destroy_allocator(value(allocator)) };
    }

    fn omp_init_allocator_(
        space: *const usize, count: *const c_int, traits: *const c_void,
    ) -> usize {
        // SAFETY: the program passes the array.
        unsafe { omp_init_allocator(value(space), value(count), traits) }
    }

    fn omp_init_allocator_8_(
        space: *const usize, count: *const i64, traits: *const c_void,
    ) -> usize {
        // SAFETY: the program passes the array.
        unsafe { omp_init_allocator(value(space), short(count), traits) }
    }

    fn omp_set_affinity_format_(text: *const c_char, length: usize) {
        crate::region::affinity::set(super::affinity::padded(text, length));
    }

    fn omp_get_affinity_format_(buffer: *mut c_char, length: usize) -> c_int {
        super::affinity::put_padded(&crate::region::affinity::get(), buffer, length)
    }

    fn omp_display_affinity_(text: *const c_char, length: usize) {
        crate::region::affinity::show(&super::affinity::padded(text, length));
    }

    fn omp_capture_affinity_(
        buffer: *mut c_char, text: *const c_char, size: usize, length: usize,
    ) -> c_int {
        let format = match super::affinity::padded(text, length) {
            none if none.is_empty() => crate::region::affinity::get(),
            format => format,
        };
        super::affinity::put_padded(&crate::region::affinity::format(&format), buffer, size)
    }
}
