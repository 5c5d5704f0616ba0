//! `setuid` and similar functions, which change every kernel thread of the process.
//!
//! The kernel changes only the calling kernel thread, but POSIX requires the change for all. So the C library sends a
//! signal to every other thread. The handler of this signal makes the system call on its kernel thread. Then the
//! handler finds its POSIX thread by the thread pointer, and marks this POSIX thread as done. The caller repeats this
//! until every thread is marked. But a worker's kernel thread that executes a rank (a POSIX thread of a team) has the
//! thread pointer of the rank. There the handler would mark the rank twice and the worker's own POSIX thread never, and
//! the caller would never return.
//!
//! * *The other threads*: our handler sets the kernel thread's own thread pointer, and calls the C library's handler.
//!   The signal may come at any instruction, even while a worker exchanges stacks. So our handler afterwards restores
//!   the thread pointer that it found.
//! * *The caller*: the C library leaves out the POSIX thread of the caller. If the caller is a rank, the kernel thread
//!   that made the rank is parked (it sleeps), and would keep its rights. So these functions are defined here as well,
//!   and call those of the C library with the worker's thread pointer. During this call no signal handler of the
//!   program may run, since it would find another thread's thread-locals. If this library was not preloaded, these
//!   definitions have no effect, and the parked kernel thread keeps its old rights. If these rights allow a later call
//!   and the rights of other threads do not, the C library ends the program.

use super::{current, kernel_threads, switch};
use crate::system::masks::{block_all, errno, set_errno, set_mask};
use crate::system::next::{self, Next};
use std::ffi::{c_char, c_int, c_void};
use std::mem;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

/// The signal that the C library uses for such a change. Programs get the numbers from 34 on.
const SIGNAL: usize = 33;
/// The offset, in words, of a handler's mask in the structure with which the kernel describes the handler.
pub(super) const BLOCKED: usize = if cfg!(target_arch = "riscv64") { 2 } else { 3 };
/// The size of a set of signals in the kernel, in bytes.
const SET: usize = 8;

type Handler = unsafe extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

/// The address of the C library's handler.
static LIBRARYS: AtomicUsize = AtomicUsize::new(0);

/// Installs our handler in place of that of the C library. Our handler calls that of the C library, which installs
/// its handler once, when the process starts its first thread, and so before a worker executes a rank.
pub(super) fn install() {
    // The kernel's layout: the handler, the flags, on most processors the address that the handler returns to, and the
    // set of signals that are blocked in the handler.
    let mut action = [0_usize; 8];
    // SAFETY: the kernel writes and reads its structure, which has fewer than eight words. The call bypasses the C
    // library, whose function refuses this signal.
    unsafe {
        let size = SET;
        next::syscall(
            libc::SYS_rt_sigaction,
            [SIGNAL, 0, action.as_mut_ptr() as usize, size, 0, 0],
        );
        let library = action[0];
        if library == libc::SIG_DFL || library == libc::SIG_IGN || library == ours() {
            return;
        }
        // Relaxed: the kernel calls our handler after the call below.
        LIBRARYS.store(library, Relaxed);
        action[0] = ours();
        // No handler of the program may interrupt our handler, since it would find another thread's thread-locals.
        action[BLOCKED] = usize::MAX;
        next::syscall(
            libc::SYS_rt_sigaction,
            [SIGNAL, action.as_ptr() as usize, 0, size, 0, 0],
        );
    }
}

fn ours() -> usize {
    handler as *const () as usize
}

/// This function must not touch a thread-local.
unsafe extern "C" fn handler(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let here = switch::thread_pointer();
    let home = kernel_threads::home().unwrap_or(here);
    // SAFETY: `home` is this kernel thread's own thread pointer, which no other kernel thread uses. `here` is the
    // thread pointer from before. `library` is a handler, since it was installed as one.
    unsafe {
        let library = mem::transmute::<usize, Handler>(LIBRARYS.load(Relaxed));
        switch::set_thread_pointer(home);
        library(signal, info, context);
        switch::set_thread_pointer(here);
    }
}

/// Calls `call`, a function of the C library that changes all kernel threads. Returns the result, which is 0 for
/// success.
fn for_all(call: impl Fn() -> c_int) -> c_int {
    let Some(rank) = current::rank() else {
        return call();
    };
    let here = switch::thread_pointer();
    let mask = block_all();
    // SAFETY: the worker executes the caller, and only the worker's kernel thread uses this thread pointer. Meanwhile
    // only the signal handler above can run, so the rank stays on this worker.
    let (result, error, index) = unsafe {
        let worker = rank.worker();
        switch::set_thread_pointer(worker.thread_pointer);
        let result = call();
        let error = errno();
        switch::set_thread_pointer(here);
        (result, error, worker.index)
    };
    if result != 0 {
        set_errno(error);
    } else if index == 0 {
        // Worker 0 runs on the kernel thread of the leader. So the first call has left out worker 0's own kernel
        // thread, which is parked. A second call changes this thread. For the other threads a second change to the same
        // value does no harm.
        call();
    }
    set_mask(mask);
    result
}

/// Defines functions that change all kernel threads.
macro_rules! for_all {
    ($($name:ident = $text:literal ($($argument:ident: $type:ty),*);)*) => {
        $(
            // Tests call the C library's functions.
            #[cfg_attr(not(any(test, miri)), unsafe(no_mangle))]
            #[cfg_attr(any(test, miri), allow(dead_code))]
            extern "C" fn $name($($argument: $type),*) -> c_int {
                static NEXT: Next = Next::new($text);
                // SAFETY: the C library's function of this name has this type.
                let next = unsafe {
                    mem::transmute::<*mut c_void, extern "C" fn($($type),*) -> c_int>(NEXT.get())
                };
                for_all(|| next($($argument),*))
            }
        )*
    };
}

for_all! {
    setuid = c"setuid" (user: libc::uid_t);
    setgid = c"setgid" (group: libc::gid_t);
    seteuid = c"seteuid" (user: libc::uid_t);
    setegid = c"setegid" (group: libc::gid_t);
    setreuid = c"setreuid" (real: libc::uid_t, effective: libc::uid_t);
    setregid = c"setregid" (real: libc::gid_t, effective: libc::gid_t);
    setresuid = c"setresuid" (real: libc::uid_t, effective: libc::uid_t, saved: libc::uid_t);
    setresgid = c"setresgid" (real: libc::gid_t, effective: libc::gid_t, saved: libc::gid_t);
    setgroups = c"setgroups" (count: usize, groups: *const libc::gid_t);
    initgroups = c"initgroups" (user: *const c_char, group: libc::gid_t);
}
