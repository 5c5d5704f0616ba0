//! A watch in a child after `fork`: the watch's thread exists only in the parent.

use manycore::elastic::Watch;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// Runs `body` in a child. Returns the child's exit code, or `None` if it hangs and is killed.
fn in_child(body: impl FnOnce() -> u8) -> Option<i32> {
    // SAFETY: `body` allocates and makes threads, which POSIX does not promise to a child. The C library
    // allows both here: it takes its own locks around a fork.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let code = catch_unwind(AssertUnwindSafe(body)).unwrap_or(u8::MAX);
        // SAFETY: the call only ends the process.
        unsafe { libc::_exit(code.into()) };
    }
    assert!(child > 0, "{}", std::io::Error::last_os_error());
    let mut status = 0;
    // Long enough for any machine; only a child that hangs uses it up.
    for _ in 0..3_000 {
        // SAFETY: the status is a local variable.
        if unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG) } == child {
            assert!(libc::WIFEXITED(status), "the child ended with {status:#x}");
            return Some(libc::WEXITSTATUS(status));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    // SAFETY: this process's child, which has not been waited for.
    unsafe {
        libc::kill(child, libc::SIGKILL);
        libc::waitpid(child, &raw mut status, 0);
    }
    None
}

#[test]
fn a_watch_ends_in_a_child_and_another_begins() {
    let watch = Watch::start().unwrap();
    let mut watch = Some(watch);
    let ended = in_child(|| {
        drop(watch.take());
        let mine = Watch::start().unwrap();
        mine.cap(NonZeroUsize::new(1));
        u8::from(mine.allotment().cores() != 1)
    });
    assert_eq!(ended, Some(0));
    assert!(watch.unwrap().limits().cpus >= 1);
}

#[test]
fn asking_a_parents_watch_is_an_error_at_once() {
    let watch = Watch::start().unwrap();
    let ended = in_child(|| {
        let asked = catch_unwind(AssertUnwindSafe(|| watch.limits()));
        u8::from(asked.is_ok())
    });
    assert_eq!(ended, Some(0));
}
