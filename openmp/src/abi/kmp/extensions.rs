//! The extensions of Intel and LLVM (`kmp_*`): memory, and hints that this library ignores.

use super::super::alloc::{omp_aligned_alloc, omp_calloc, omp_free, omp_realloc};
use super::export;
use crate::team::context::context;
use std::ffi::{c_int, c_void};
use std::sync::atomic::AtomicI32;
use std::sync::atomic::Ordering::Relaxed;

/// The number of the default allocator.
const DEFAULT: usize = 1;
/// The alignment of blocks in bytes, as in the C library.
const ALIGN: usize = 16;

/// How many milliseconds threads should spin after a region, as the program has set it. The value is only returned to
/// the program: [`spin`](crate::words::spin) decides how long threads spin.
static AWAKE: AtomicI32 = AtomicI32::new(200);

macro_rules! memory {
    ($($malloc:ident $aligned:ident $calloc:ident $realloc:ident $free:ident;)*) => {
        $(export! {
            fn $malloc(bytes: usize) -> *mut c_void {
                omp_aligned_alloc(ALIGN, bytes, DEFAULT)
            }

            fn $aligned(bytes: usize, align: usize) -> *mut c_void {
                if !align.is_power_of_two() {
                    return std::ptr::null_mut();
                }
                omp_aligned_alloc(align.max(ALIGN), bytes, DEFAULT)
            }

            fn $calloc(count: usize, bytes: usize) -> *mut c_void {
                omp_calloc(count, bytes, DEFAULT)
            }

            fn $realloc(block: *mut c_void, bytes: usize) -> *mut c_void {
                omp_realloc(block, bytes, DEFAULT, DEFAULT)
            }

            fn $free(block: *mut c_void) {
                omp_free(block, DEFAULT);
            }
        })*
    };
}

memory! {
    kmp_malloc kmp_aligned_malloc kmp_calloc kmp_realloc kmp_free;
    kmpc_malloc kmpc_aligned_malloc kmpc_calloc kmpc_realloc kmpc_free;
}

export! {
    fn kmp_set_blocktime(ms: c_int) {
        AWAKE.store(ms, Relaxed);
    }

    fn kmpc_set_blocktime(ms: c_int) {
        AWAKE.store(ms, Relaxed);
    }

    fn kmp_set_blocktime_(ms: *const c_int) {
        // SAFETY: Fortran passes the address of a number.
        AWAKE.store(unsafe { *ms }, Relaxed);
    }

    fn kmp_get_blocktime() -> c_int {
        AWAKE.load(Relaxed)
    }

    fn kmp_get_blocktime_() -> c_int {
        AWAKE.load(Relaxed)
    }

    fn kmp_set_warnings_on() {}
    fn kmp_set_warnings_on_() {}
    fn kmp_set_warnings_off() {}
    fn kmp_set_warnings_off_() {}

    // This library needs no such limit of unfinished loops.
    fn kmp_set_disp_num_buffers(_number: c_int) {}
    fn kmp_set_disp_num_buffers_(_number: *const c_int) {}
    fn kmpc_set_disp_num_buffers(_number: c_int) {}

    // These state whether other programs share the machine. This library observes that itself.
    fn kmp_set_library_throughput() {}
    fn kmp_set_library_throughput_() {}
    fn kmp_set_library_turnaround() {}
    fn kmp_set_library_turnaround_() {}

    // The result -2: there is no tool to control.
    fn omp_control_tool(_command: c_int, _modifier: c_int, _argument: *mut c_void) -> c_int {
        -2
    }

    fn omp_control_tool_(
        _command: *const c_int, _modifier: *const c_int, _argument: *mut c_void,
    ) -> c_int {
        -2
    }

    fn kmp_get_num_known_threads() -> c_int {
        context().team().size.cast_signed()
    }

    fn kmp_get_num_known_threads_() -> c_int {
        kmp_get_num_known_threads()
    }
}
