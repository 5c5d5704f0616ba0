//! The end of a program after `pthread_exit` in `main`.
//!
//! Such a program ends with the last of its threads. The C library counts them, and this library's threads, which
//! never end, are among them. So once the first thread ends, a thread of this library looks whether any thread is left
//! that is not this library's, and if none is, ends the program as the C library would: by `exit(0)`.
//!
//! With GCC's library the threads of a team end with the thread that has led it, and the C library then does the same.
//!
//! # The library's threads
//!
//! The kernel lists the threads there are. A thread of this library puts its number on a list as it begins, and takes it away as it
//! ends ([`threads`](super::threads)). So for a moment a thread of this library may count as the program's: then this thread looks
//! again. A thread of the program's is never taken for this library's. The kernel may leave a thread out of its list where another
//! one ends meanwhile: so as many must be listed as there are, and two times in a row. The thread that watches the cores is another
//! crate's, and is known by its name, which no thread inherits from it, since it starts none.

use super::threads::{is_first, is_ours, spawn};
use manycore_platform::{Native, Platform};
use std::ffi::c_void;
use std::sync::Once;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::time::Duration;
use std::{fs, io, mem};

/// How often the threads are counted, at first and later.
const LOOKS: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(20)];

/// The name of the thread that watches the cores.
pub(crate) const WATCH: &str = "manycore-watch";

/// The calling thread leads regions, or is the program's first: its end is looked at. In the thread, `at_end`
/// is called after the destructors of all thread-locals.
pub(crate) fn attend(at_end: fn()) {
    static KEY: AtomicU32 = AtomicU32::new(0);
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let mut key = 0;
        // SAFETY: the function is called at a thread's end, in the thread.
        if unsafe { libc::pthread_key_create(&raw mut key, Some(thread_ends)) } == 0 {
            // One more, since 0 is a key.
            KEY.store(key + 1, Release);
        }
    });
    if let Some(key) = KEY.load(Acquire).checked_sub(1) {
        // SAFETY: a key. The value is not null, so that the C library hands it to `thread_ends`.
        unsafe { libc::pthread_setspecific(key, at_end as *const c_void) };
    }
}

/// A thread ends while the process goes on: at the end of a process no such function is called. The C library calls
/// the destructors of thread-locals first, Rust's among them.
extern "C" fn thread_ends(at_end: *mut c_void) {
    // SAFETY: the value that `attend` has given to the key.
    let at_end = unsafe { mem::transmute::<*mut c_void, fn()>(at_end) };
    at_end();
    let is_first = is_first();
    // A program may begin regions in other threads only.
    if !is_first && !has_first_ended() {
        return;
    }
    static STARTED: AtomicU32 = AtomicU32::new(0);
    // A child after `fork` starts its own.
    let generation = Native::forks() + 1;
    if STARTED.swap(generation, Relaxed) != generation {
        spawn("manycore-omp-e", Some(64 << 10), await_end);
    }
}

/// Ends the process after the last thread of the program's.
fn await_end() {
    let [mut pause, most] = LOOKS;
    while !(is_over() && is_over()) {
        std::thread::sleep(pause);
        pause = most.min(2 * pause);
    }
    // SAFETY: as the C library does after the last thread.
    unsafe { libc::exit(0) }
}

/// Whether the first thread has ended.
fn has_first_ended() -> bool {
    first_thread().is_some_and(|(has_ended, _)| has_ended)
}

/// Whether the first thread has ended, which the kernel has on its list for as long as the process lives, and how many
/// threads there are.
fn first_thread() -> Option<(bool, usize)> {
    let id = std::process::id();
    let all = fs::read_to_string(format!("/proc/self/task/{id}/stat")).ok()?;
    // Behind the name, which may have any characters.
    let mut fields = all.rsplit(')').next()?.split_whitespace();
    let state = fields.next()?;
    let count = fields.nth(16)?.parse().ok()?;
    Some((matches!(state, "Z" | "X"), count))
}

/// Whether no thread of the program's is left.
fn is_over() -> bool {
    let (Some((true, count)), Ok(threads)) = (first_thread(), fs::read_dir("/proc/self/task"))
    else {
        return false;
    };
    let first = std::process::id().cast_signed();
    let is_ours = |thread: libc::pid_t| thread == first || is_ours(thread) || is_watch(thread);
    // A thread with an unreadable number is the program's.
    let number = |thread: io::Result<fs::DirEntry>| thread.ok()?.file_name().to_str()?.parse().ok();
    let mut listed = 0;
    let is_over = threads
        .inspect(|_| listed += 1)
        .all(|thread| number(thread).is_some_and(is_ours));
    is_over && listed == count
}

fn is_watch(thread: libc::pid_t) -> bool {
    let name = fs::read_to_string(format!("/proc/self/task/{thread}/comm"));
    name.is_ok_and(|name| name.trim_end() == WATCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_thread_is_looked_at() {
        let (has_ended, count) = first_thread().expect("there is /proc");
        assert!(!has_ended && count >= 1);
        assert!(!is_over());
    }
}
