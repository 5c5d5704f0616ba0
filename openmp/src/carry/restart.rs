//! System calls that a signal of ours breaks off.
//!
//! The kernel begins most calls again by itself. It does not where a call has a time that is left: a sleep,
//! `poll`, a wait for a condition until some time. A program that sleeps for a second in a rank would find that
//! it has slept for some milliseconds. So the handler goes on with such a call, by the kernel's own
//! `restart_syscall`, which has kept the time that is left, and the program sees that call's result.
//!
//! What remains broken off, as by any other signal: `select`, `epoll_wait`, `pause` and their like, for
//! which the kernel keeps nothing.

use super::frame::Registers;
use crate::system::masks::{errno, set_errno};
use crate::system::next;
use std::ffi::c_long;

/// Whether the frame's signal has broken off a call that the kernel does not begin again.
pub(super) fn is_broken_off(frame: &libc::ucontext_t) -> bool {
    // SAFETY: the frame's next instruction, and so the one before it, is code.
    unsafe { Registers::of(frame).is_broken_off() }
}

/// Goes on with the call, for as long as it takes, and puts its result into the frame. The calling kernel
/// thread is the one that the call was made on.
pub(super) fn go_on(frame: &mut libc::ucontext_t) {
    let error = errno();
    // SAFETY: goes on with this thread's last call; its arguments are the program's.
    let result = match unsafe { next::syscall(libc::SYS_restart_syscall, [0; 6]) } {
        -1 => -c_long::from(errno()),
        result => result,
    };
    set_errno(error);
    // A simulated kernel may not have the call.
    if result != -c_long::from(libc::ENOSYS) {
        Registers::set_result(frame, result);
    }
}
