//! Barriers, singles, critical sections, reductions and cancellation.

use super::super::loops::current;
use super::super::sync::{cancel, cancellation_point, claim_single, come_to_barrier};
use super::{Place, export, leave_open};
use crate::system::report::{fatal, line};
use crate::tasking::meet;
use crate::team::context::{Context, context};
use crate::words::lock::WordLock;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::Ordering::SeqCst;

/// The construct to cancel, as a bit for libgomp. LLVM numbers the same constructs 1 to 4, in the bits' order.
fn what(kind: c_int) -> c_int {
    1 << (kind - 1).clamp(0, 3)
}

/// Waits at the barrier. `from` is the address of the barrier in the program.
fn wait(context: &Context, from: usize) {
    leave_open(context);
    come_to_barrier(context, from);
}

extern "C" fn barrier(_place: Place, _number: c_int, from: usize) {
    wait(context(), from);
}

/// Passes its return address to [`barrier`].
#[unsafe(naked)]
#[unsafe(no_mangle)]
extern "C" fn __kmpc_barrier(place: Place, number: c_int) {
    std::arch::naked_asm!("mov rdx, [rsp]", "jmp {}", sym barrier)
}

/// The lock of a critical section or a reduction. The compiler makes some words for the construct. They are zero at
/// first. The first word is the lock.
unsafe fn lock<'a>(words: *mut c_void) -> &'a WordLock {
    // SAFETY: the caller passes such words.
    unsafe { &*words.cast::<WordLock>() }
}

export! {
    fn __kmpc_cancel_barrier(_place: Place, _number: c_int) -> c_int {
        let context = context();
        leave_open(context);
        c_int::from(meet(context, true))
    }

    fn __kmpc_cancel(_place: Place, _number: c_int, kind: c_int) -> c_int {
        c_int::from(cancel(what(kind), true))
    }

    fn __kmpc_cancellationpoint(_place: Place, _number: c_int, kind: c_int) -> c_int {
        c_int::from(cancellation_point(what(kind)))
    }

    fn __kmpc_single(_place: Place, _number: c_int) -> c_int {
        c_int::from(claim_single(context()))
    }

    fn __kmpc_end_single(_place: Place, _number: c_int) {}

    fn __kmpc_master(_place: Place, _number: c_int) -> c_int {
        c_int::from(context().id() == 0)
    }

    fn __kmpc_end_master(_place: Place, _number: c_int) {}

    fn __kmpc_masked(_place: Place, _number: c_int, member: c_int) -> c_int {
        c_int::from(context().id().cast_signed() == member)
    }

    fn __kmpc_end_masked(_place: Place, _number: c_int) {}

    fn __kmpc_copyprivate(
        _place: Place, _number: c_int, _size: usize, data: *mut c_void,
        copy: unsafe extern "C" fn(*mut c_void, *mut c_void), is_source: c_int,
    ) {
        let context = context();
        let team = context.team();
        context.come(|_| ());
        if let Some(share) = current(context) {
            if is_source != 0 {
                share.copied.store(data.cast(), SeqCst);
                team.bell.ring();
            } else {
                let copied = || share.copied.load(SeqCst);
                team.bell.wait_until(&context.carried, &|| !copied().is_null());
                // SAFETY: the compiler made the function. The source keeps its data until all members have arrived at
                // the barrier below.
                unsafe { copy(data, copied().cast()) };
            }
        }
        context.leave();
        meet(context, false);
    }

    fn __kmpc_critical(_place: Place, _number: c_int, words: *mut c_void) {
        // SAFETY: the compiler made the words.
        unsafe { lock(words) }.lock(&context().carried);
    }

    fn __kmpc_critical_with_hint(place: Place, number: c_int, words: *mut c_void, _hint: u32) {
        __kmpc_critical(place, number, words);
    }

    fn __kmpc_end_critical(_place: Place, _number: c_int, words: *mut c_void) {
        // SAFETY: the compiler made the words.
        unsafe { lock(words) }.unlock(&context().carried);
    }

    // The result 1 lets each member combine its values itself. The lock makes the members do so one after another.
    fn __kmpc_reduce(
        place: Place, number: c_int, _count: c_int, _size: usize, _data: *mut c_void,
        _function: *const c_void, words: *mut c_void,
    ) -> c_int {
        leave_open(context());
        __kmpc_critical(place, number, words);
        1
    }

    fn __kmpc_end_reduce(place: Place, number: c_int, words: *mut c_void) {
        __kmpc_end_critical(place, number, words);
        // The address of the words identifies the reduction.
        wait(context(), words as usize);
    }

    fn __kmpc_reduce_nowait(
        place: Place, number: c_int, count: c_int, size: usize, data: *mut c_void,
        function: *const c_void, words: *mut c_void,
    ) -> c_int {
        __kmpc_reduce(place, number, count, size, data, function, words)
    }

    fn __kmpc_end_reduce_nowait(place: Place, number: c_int, words: *mut c_void) {
        __kmpc_end_critical(place, number, words);
    }

    fn __kmpc_scope(_place: Place, _number: c_int, _reserved: *mut c_void) {}

    fn __kmpc_end_scope(_place: Place, _number: c_int, _reserved: *mut c_void) {}

    // All members arrive. Member 0 then runs alone until it calls `__kmpc_end_barrier_master`.
    fn __kmpc_barrier_master(_place: Place, _number: c_int) -> c_int {
        let context = context();
        wait(context, 0);
        if context.id() == 0 {
            return 1;
        }
        wait(context, 0);
        0
    }

    fn __kmpc_end_barrier_master(_place: Place, _number: c_int) {
        wait(context(), 0);
    }

    fn __kmpc_barrier_master_nowait(_place: Place, _number: c_int) -> c_int {
        let context = context();
        wait(context, 0);
        c_int::from(context.id() == 0)
    }

    // `#pragma omp error at(execution)`. Severity 2 is fatal.
    pub(super) fn __kmpc_error(_place: Place, severity: c_int, message: *const c_char) {
        let text = if message.is_null() {
            c"no message"
        } else {
            // SAFETY: the compiler made the string.
            unsafe { CStr::from_ptr(message) }
        };
        let text = text.to_string_lossy();
        if severity == 2 {
            fatal(format_args!("the program says: {text}"));
        }
        line(format_args!("the program says: {text}"));
    }

    fn __kmpc_flush(_place: Place) {
        std::sync::atomic::fence(SeqCst);
    }
}
