//! The signal mask of the calling kernel thread, and `errno`. The system calls bypass the functions that this library
//! redefines.

use super::next;
use std::ffi::c_int;

/// Signals 32 and 33, which the C library uses itself and which are never blocked.
const LIBRARYS: u64 = 3 << 31;
/// Signals that cannot be blocked: the kernel drops them from each mask.
const KERNELS: u64 = 1 << (libc::SIGKILL - 1) | 1 << (libc::SIGSTOP - 1);
/// A mask with all other signals.
pub(crate) const ALL: u64 = !(LIBRARYS | KERNELS);

/// The bit of a signal in a mask.
pub(crate) fn bit(signal: c_int) -> u64 {
    1 << (signal - 1)
}

/// Runs `body` with all signals blocked. The threads that `body` starts begin with all signals blocked too.
pub(crate) fn with_signals_blocked<R>(body: impl FnOnce() -> R) -> R {
    let mask = block_all();
    let result = body();
    set_mask(mask);
    result
}

/// Blocks all signals in [`ALL`]. Returns the mask from before.
pub(crate) fn block_all() -> u64 {
    change_mask(Some(ALL))
}

/// The mask of the calling kernel thread.
pub(crate) fn mask() -> u64 {
    change_mask(None)
}

/// The signals that wait for the calling kernel thread or for the process.
pub(crate) fn pending() -> u64 {
    let mut set = 0_u64;
    let arguments = [&raw mut set as usize, size_of::<u64>(), 0, 0, 0, 0];
    // SAFETY: the kernel writes only `set`.
    unsafe { next::syscall(libc::SYS_rt_sigpending, arguments) };
    set
}

pub(crate) fn set_mask(mask: u64) {
    change_mask(Some(mask));
}

fn change_mask(new: Option<u64>) -> u64 {
    let mut old = 0_u64;
    let new = new
        .as_ref()
        .map_or(0, |new| std::ptr::from_ref(new) as usize);
    // SAFETY: the kernel reads and writes one word. The C library's function would use sets of sixteen words.
    unsafe {
        next::syscall(
            libc::SYS_rt_sigprocmask,
            [
                libc::SIG_SETMASK as usize,
                new,
                &raw mut old as usize,
                size_of::<u64>(),
                0,
                0,
            ],
        );
    }
    old
}

/// The `errno` of the calling thread. The thread pointer leads to this word. So a rank (a thread that several kernel
/// threads execute in turn) finds its own `errno` on each of them.
#[inline(never)]
pub(crate) fn errno() -> c_int {
    // SAFETY: the C library returns the address of a word of this thread.
    unsafe { *libc::__errno_location() }
}

#[inline(never)]
pub(crate) fn set_errno(error: c_int) {
    // SAFETY: the C library returns the address of a word of this thread.
    unsafe { *libc::__errno_location() = error };
}

/// The signals that the library's handler blocks: all signals except faults, which the handler's own instructions may
/// cause.
pub(crate) fn blocked_in_handler() -> u64 {
    const FAULTS: [i32; 6] = [
        libc::SIGSEGV,
        libc::SIGBUS,
        libc::SIGFPE,
        libc::SIGILL,
        libc::SIGTRAP,
        libc::SIGSYS,
    ];
    FAULTS.iter().fold(ALL, |all, &fault| all & !bit(fault))
}
