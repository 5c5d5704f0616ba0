//! The end of a program after `pthread_exit` in `main`.
//!
//! Such a program ends when the last of its threads ends. The C library counts all threads, including those of this
//! library, which never end. So after the first thread's end, a thread of this library, the *ending thread*, checks
//! whether the program has any thread left. If not, it ends the program as the C library would, by `exit(0)`.
//!
//! GCC's library needs no such thread: there the threads of a team end with the thread that has led the team.
//!
//! # The library's threads
//!
//! The kernel lists all threads of the process. A thread of this library adds its number to the library's list as it
//! begins, and removes the number as it ends ([`threads`](super::threads)). So for a moment a thread of this library
//! may count as one of the program. The ending thread then looks again later. A thread of the program never counts as
//! one of this library. If a thread ends while the kernel makes its list, the kernel may leave another thread out. So
//! the ending thread requires twice in a row that the list has as many threads as the process. The thread that watches
//! the cores belongs to another crate, and is recognised by its name. No thread inherits that name, since that thread
//! starts no others.

use super::threads::{is_first, is_ours, spawn, try_spawn};
use manycore_platform::{Native, Platform};
use std::ffi::c_void;
use std::sync::Once;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::time::Duration;
use std::{fs, io, mem};

/// The pause between two counts of the threads: the first pause, and the longest one.
const LOOKS: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(20)];

/// The least size of the ending thread's stack.
const SMALL: usize = 256 << 10;

/// The name of the thread that watches the cores.
pub(crate) const WATCH: &str = "manycore-watch";

/// Makes the C library call `at_end` in the calling thread as it ends, after the destructors of all thread-locals.
/// Threads that lead regions call this, and so does the first thread of the program.
pub(crate) fn attend(at_end: fn()) {
    static KEY: AtomicU32 = AtomicU32::new(0);
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let mut key = 0;
        // SAFETY: `thread_ends` has the type that the C library calls at a thread's end.
        if unsafe { libc::pthread_key_create(&raw mut key, Some(thread_ends)) } == 0 {
            // The word has the key plus 1, since 0 is a valid key.
            KEY.store(key + 1, Release);
        }
    });
    if let Some(key) = KEY.load(Acquire).checked_sub(1) {
        // SAFETY: the key was created above. Its value is not null, so the C library passes it to `thread_ends`.
        unsafe { libc::pthread_setspecific(key, at_end as *const c_void) };
    }
}

/// Called by the C library when a thread ends, after the destructors of thread-locals, including Rust's. The C library
/// does not call this when the process ends.
extern "C" fn thread_ends(at_end: *mut c_void) {
    // SAFETY: the value is the function that `attend` has stored.
    let at_end = unsafe { mem::transmute::<*mut c_void, fn()>(at_end) };
    at_end();
    let is_first = is_first();
    // Other threads check this too, since a program may begin all its regions in threads other than the first.
    if !is_first && !has_first_ended() {
        return;
    }
    static STARTED: AtomicU32 = AtomicU32::new(0);
    // A child process after `fork` starts its own ending thread.
    let generation = Native::forks() + 1;
    if STARTED.swap(generation, Relaxed) != generation {
        // This thread has a stack of the usual size, since the program's `atexit` functions run there. If a limit on
        // memory leaves no room for that, the stack is small.
        if try_spawn(c"omp-end", None, await_end).is_err() {
            spawn(c"omp-end", Some(SMALL), await_end);
        }
    }
}

/// Ends the process after the last thread of the program has ended.
fn await_end() {
    let [mut pause, most] = LOOKS;
    while !(is_over() && is_over()) {
        std::thread::sleep(pause);
        pause = most.min(2 * pause);
    }
    // SAFETY: the C library makes the same call after the last thread of a process.
    unsafe { libc::exit(0) }
}

fn has_first_ended() -> bool {
    first_thread().is_some_and(|(has_ended, _)| has_ended)
}

/// Whether the first thread has ended, and the number of threads. The kernel lists the first thread until the process
/// ends.
fn first_thread() -> Option<(bool, usize)> {
    let id = std::process::id();
    let all = fs::read_to_string(format!("/proc/self/task/{id}/stat")).ok()?;
    // The fields follow the name of the thread, which may contain any characters.
    let mut fields = all.rsplit(')').next()?.split_whitespace();
    let state = fields.next()?;
    let count = fields.nth(16)?.parse().ok()?;
    Some((matches!(state, "Z" | "X"), count))
}

/// Whether no thread of the program is left.
fn is_over() -> bool {
    let (Some((true, count)), Ok(threads)) = (first_thread(), fs::read_dir("/proc/self/task"))
    else {
        return false;
    };
    let first = std::process::id().cast_signed();
    let is_ours = |thread: libc::pid_t| thread == first || is_ours(thread) || is_watch(thread);
    // If the number of a thread cannot be read, the thread counts as one of the program.
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
