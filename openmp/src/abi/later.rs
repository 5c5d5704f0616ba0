//! Functions that libgomp has since GCC 13 and 14.

use super::export;
use crate::task::Order;
use crate::tasking::make;
use crate::team::context::context;
use std::ffi::{c_int, c_void};
use std::ptr;

unsafe extern "C" fn nothing(_: *mut c_void) {}

export! {
    fn omp_in_explicit_task() -> c_int {
        c_int::from(context().task().is_explicit())
    }

    fn omp_in_explicit_task_() -> c_int {
        omp_in_explicit_task()
    }

    // Makes a task without work. It waits for the tasks that `depend` names, and later tasks can wait for it.
    fn GOMP_taskwait_depend_nowait(depend: *mut *mut c_void) {
        let order = Order {
            function: nothing,
            data: ptr::null_mut(),
            copy: None,
            size: 0,
            align: 1,
            bounds: None,
            deferred: true,
            is_final: false,
            priority: 0,
            depend,
            discard: None,
            event: ptr::null_mut(),
        };
        // SAFETY: the compiler made the array.
        unsafe { make(context(), &order) };
    }

    // The only device is the host. Its functions keep their addresses.
    fn GOMP_target_map_indirect_ptr(function: *mut c_void) -> *mut c_void {
        function
    }
}
