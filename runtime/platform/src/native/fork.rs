//! Counts forks on unix, where the C library calls a handler in each child.
//!
//! The child of a process with many threads has only the thread that forked. The work of the other threads stays half
//! done. Before `exec` the child may only call functions that POSIX calls async-signal-safe. So the handler only
//! stores to atomics.

use super::system;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

static FORKS: AtomicU32 = AtomicU32::new(0);

/// Whether the C library knows the handler.
static WATCHED: AtomicBool = AtomicBool::new(false);

#[inline(always)]
pub(super) fn forks() -> u32 {
    // Relaxed: no other data depends on the number. It is written only while a child has one thread, before that
    // thread returns from `fork`.
    FORKS.load(Ordering::Relaxed)
}

pub(super) fn watch() -> io::Result<()> {
    // Relaxed: the flag guards no memory. A stale value only leads to another call.
    if cfg!(miri) || WATCHED.load(Ordering::Relaxed) {
        return Ok(());
    }
    // There is no lock, since a fork while it is held would leave it locked in the child. If two threads both make
    // this call, each fork counts as two. That is no problem, since `forks` only promises a different number. SAFETY:
    // the handler is a function of this program, and may run whenever a child begins.
    match unsafe { libc::pthread_atfork(None, None, Some(count)) } {
        0 => {
            WATCHED.store(true, Ordering::Relaxed);
            Ok(())
        }
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// Runs in a child, on its only thread.
unsafe extern "C" fn count() {
    // Relaxed: the child has one thread. The number wraps after 2^32 generations, and still differs from the parent's.
    FORKS.fetch_add(1, Ordering::Relaxed);
    system::begin_anew();
}
