//! Signals that were sent to the kernel thread of a [worker](super::worker) while the worker rests.
//!
//! A worker that rests has all signals blocked. The program may have sent a signal to this very kernel thread: by a
//! timer that signals one thread (`SIGEV_THREAD_ID`), or by the thread's number (`tgkill`). A rank (a thread of a team)
//! got this number when it ran there and asked for its own number. No other thread can take such a signal, and a rank
//! may wait for the effect of the signal's handler. So before a worker sleeps, it looks for such signals, and takes
//! each one that its last rank had unblocked. While a region runs, a worker sleeps for 10 ms at most. Between regions
//! it sleeps until the next region begins. But once a rank has asked for the number of its kernel thread, signals may
//! come, and the worker sleeps for 10 ms at most between regions too. The handler of a signal that is taken runs on the
//! worker's stack, with the worker's thread-locals.
//!
//! Signals to the process keep waiting, unless a signal with the same number waits for the kernel thread: then the
//! kernel delivers both. The worker reads in `/proc` which signals wait for its kernel thread alone. It reads this only
//! if a signal waits, and without allocating memory. A worker without a core does not look.

use crate::system::masks::{ALL, set_mask};
use crate::system::{next, small_file};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// Whether a rank has asked for the number of a worker's kernel thread. Relaxed: while a region
/// runs, workers look in any case, and the region's end orders the write before their next sleep.
static IS_KNOWN: AtomicBool = AtomicBool::new(false);

/// Notes that a rank asks for the number of the kernel thread that executes it.
pub(super) fn number_is_asked_for() {
    IS_KNOWN.store(true, Relaxed);
}

/// Whether signals for a worker's kernel thread may come.
pub(super) fn may_come() -> bool {
    IS_KNOWN.load(Relaxed)
}

/// Delivers those signals that wait for the calling kernel thread alone and are not in `mask`. All signals are blocked
/// before and after.
pub(super) fn take(mask: u64) {
    if waiting() & !mask == 0 {
        return;
    }
    let own = own() & !mask;
    if own != 0 {
        set_mask(ALL & !own);
        set_mask(ALL);
    }
}

/// The signals that wait for the calling kernel thread, or for the process.
fn waiting() -> u64 {
    let mut set = 0_u64;
    // SAFETY: the kernel writes a word.
    unsafe {
        let arguments = [&raw mut set as usize, size_of::<u64>(), 0, 0, 0, 0];
        next::syscall(libc::SYS_rt_sigpending, arguments);
    }
    set
}

/// The signals that wait for the calling kernel thread alone. Empty if `/proc` cannot be read.
fn own() -> u64 {
    let mut text = [0_u8; 4096];
    parse(small_file::read(c"/proc/thread-self/status", &mut text))
}

/// The number in the line `SigPnd`, in hexadecimal digits.
fn parse(status: &[u8]) -> u64 {
    const NAME: &[u8] = b"\nSigPnd:\t";
    let Some(at) = status.windows(NAME.len()).position(|part| part == NAME) else {
        return 0;
    };
    let digits = status[at + NAME.len()..].iter();
    let digits = digits.map_while(|&digit| char::from(digit).to_digit(16));
    digits.fold(0, |number, digit| number << 4 | u64::from(digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_found() {
        let status =
            b"Threads:\t9\nSigQ:\t0/95\nSigPnd:\t0000200000000000\nShdPnd:\t00000000000000ff\n";
        assert_eq!(parse(status), 1 << 45);
        assert_eq!(parse(b"Name:\tx\n"), 0);
        assert_eq!(parse(b""), 0);
    }

    #[test]
    fn the_kernel_has_the_line() {
        assert_eq!(own() & !waiting(), 0);
    }
}
