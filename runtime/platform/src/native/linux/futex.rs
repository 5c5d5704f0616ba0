//! The kernel's futex, private to the process.

use std::ptr;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

pub(in crate::native) fn wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>) {
    let timeout = timeout.map(|t| libc::timespec {
        tv_sec: t.as_secs().try_into().unwrap_or(libc::time_t::MAX),
        // Nanoseconds of a second are less than 10^9.
        tv_nsec: t.subsec_nanos() as _,
    });
    let timeout = timeout.as_ref().map_or(ptr::null(), ptr::from_ref);
    // Every error (the word has changed, a signal has come, the time is up) has the effect of a spurious wake-up: the
    // caller looks again. SAFETY: the kernel reads the word, which is alive, and the time, which is null or alive.
    keeping_errno(|| unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
            expected,
            timeout,
        )
    });
}

pub(in crate::native) fn wake(word: &AtomicU32, count: u32) -> usize {
    // SAFETY: the kernel only uses the word's address.
    let woken = keeping_errno(|| unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
            count.min(i32::MAX as u32),
        )
    });
    usize::try_from(woken).unwrap_or(0)
}

/// Makes a system call and ignores its errors. A program that waits by this function without a call of the C library,
/// such as a compiled OpenMP program at a barrier, finds `errno` unchanged.
fn keeping_errno<R>(call: impl FnOnce() -> R) -> R {
    // SAFETY: this is the address of the C library's word for the calling thread. Only this thread, and signal
    // handlers on it, use the word, and the word lives as long as the thread.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    let before = unsafe { errno.read() };
    let result = call();
    // SAFETY: as above.
    unsafe { errno.write(before) };
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering::Relaxed;

    #[test]
    fn errno_stays_as_the_program_left_it() {
        let errno = || std::io::Error::last_os_error().raw_os_error();
        // SAFETY: as in `keeping_errno`.
        unsafe { libc::__errno_location().write(libc::EDOM) };
        let word = AtomicU32::new(1);
        // The word differs, or the time passes. Both are errors of the call.
        wait(&word, 0, None);
        assert_eq!(errno(), Some(libc::EDOM));
        wait(&word, 1, Some(Duration::from_nanos(1)));
        assert_eq!(errno(), Some(libc::EDOM));
        assert_eq!(wake(&word, 1), 0);
        assert_eq!((errno(), word.load(Relaxed)), (Some(libc::EDOM), 1));
    }
}
