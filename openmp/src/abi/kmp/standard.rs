//! The names that LLVM's header gives to some OpenMP functions.

use super::super::{affinity, query};
use super::export;
use std::ffi::{c_char, c_int, c_uint};

export! {
    fn ompc_set_affinity_format(format: *const c_char) {
        affinity::omp_set_affinity_format(format);
    }

    fn ompc_get_affinity_format(buffer: *mut c_char, size: usize) -> usize {
        affinity::omp_get_affinity_format(buffer, size)
    }

    fn ompc_display_affinity(format: *const c_char) {
        affinity::omp_display_affinity(format);
    }

    fn ompc_capture_affinity(buffer: *mut c_char, size: usize, format: *const c_char) -> usize {
        affinity::omp_capture_affinity(buffer, size, format)
    }

    fn ompc_set_num_threads(threads: c_int) {
        query::omp_set_num_threads(threads);
    }

    fn ompc_set_dynamic(dynamic: c_int) {
        query::omp_set_dynamic(dynamic);
    }

    fn ompc_set_nested(nested: c_int) {
        query::omp_set_nested(nested);
    }

    fn ompc_set_max_active_levels(levels: c_int) {
        query::omp_set_max_active_levels(levels);
    }

    fn ompc_set_schedule(kind: c_uint, chunk: c_int) {
        query::omp_set_schedule(kind, chunk);
    }

    fn ompc_get_ancestor_thread_num(level: c_int) -> c_int {
        query::omp_get_ancestor_thread_num(level)
    }

    fn ompc_get_team_size(level: c_int) -> c_int {
        query::omp_get_team_size(level)
    }
}
