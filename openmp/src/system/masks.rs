//! The calling kernel thread's signal mask, and `errno`, past the functions that this library defines anew.

use super::next;
use std::ffi::c_int;

/// The C library's own signals, 32 and 33, are never blocked.
const LIBRARYS: u64 = 3 << 31;
/// These cannot be: the kernel leaves them out.
const KERNELS: u64 = 1 << (libc::SIGKILL - 1) | 1 << (libc::SIGSTOP - 1);
/// A mask with all other signals.
pub(crate) const ALL: u64 = !(LIBRARYS | KERNELS);

/// The bit of a signal in a mask.
pub(crate) fn bit(signal: c_int) -> u64 {
    1 << (signal - 1)
}

/// Runs `body` with all signals blocked: what threads it starts have them blocked from their beginning.
pub(crate) fn with_signals_blocked<R>(body: impl FnOnce() -> R) -> R {
    let mask = block_all();
    let result = body();
    set_mask(mask);
    result
}

/// Blocks all signals that may be, and returns the mask of before.
pub(crate) fn block_all() -> u64 {
    change_mask(Some(ALL))
}

/// The calling kernel thread's mask.
pub(crate) fn mask() -> u64 {
    change_mask(None)
}

/// The signals that wait for the calling kernel thread or for the process.
pub(crate) fn pending() -> u64 {
    let mut set = 0_u64;
    let arguments = [&raw mut set as usize, size_of::<u64>(), 0, 0, 0, 0];
    // SAFETY: the kernel writes a word.
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
    // SAFETY: the kernel reads and writes a word. The C library's function has sets of sixteen.
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

/// The rank's: by the thread pointer, which is the rank's wherever it runs.
#[inline(never)]
pub(crate) fn errno() -> c_int {
    // SAFETY: the C library's word of this thread.
    unsafe { *libc::__errno_location() }
}

#[inline(never)]
pub(crate) fn set_errno(error: c_int) {
    // SAFETY: the C library's word of this thread.
    unsafe { *libc::__errno_location() = error };
}

/// The signals that our handler blocks: all signals but faults. The handler's own instructions may cause a fault, as the rank's may.
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
