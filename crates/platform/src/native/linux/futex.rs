//! The kernel's futex, private to the process.

use std::ptr;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

pub(in crate::native) fn wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>) {
    let timeout = timeout.map(|t| libc::timespec {
        tv_sec: t.as_secs().try_into().unwrap_or(libc::time_t::MAX),
        // Less than 10^9.
        tv_nsec: t.subsec_nanos() as _,
    });
    let timeout = timeout.as_ref().map_or(ptr::null(), ptr::from_ref);
    // Every error (the word has changed, a signal, the time is up) means
    // what a spurious wake-up means: the caller looks again.
    // SAFETY: the kernel reads the word, which lives, and the time, which is none or lives.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
            expected,
            timeout,
        );
    }
}

pub(in crate::native) fn wake(word: &AtomicU32, count: u32) -> usize {
    // SAFETY: of the word the kernel takes the address.
    let woken = unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
            count.min(i32::MAX as u32),
        )
    };
    usize::try_from(woken).unwrap_or(0)
}
