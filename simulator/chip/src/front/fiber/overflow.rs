//! Reports a simulated thread that overflows its stack.
//!
//! Below each stack are inaccessible pages (`arena::stack`). A thread that recurses too deep touches these pages, and
//! the system sends a signal. The handler names the thread and ends the process, as the standard library does for its
//! own threads. The handler cannot end only the run, because the thread may hold a lock of the host, such as a lock of
//! the host's allocator. A check when the thread suspends would come too late, or never.

use super::super::arena;
use super::context;
use std::ffi::{c_int, c_void};
use std::fmt::{self, Write};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::{Once, OnceLock};

/// The signals of a guard page: `SIGSEGV` on Linux, `SIGBUS` on other systems.
const SIGNALS: [c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];

static BEFORE: [OnceLock<libc::sigaction>; 2] = [const { OnceLock::new() }; 2];

/// Installs the handlers for this process.
pub(super) fn watch() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for (signal, before) in SIGNALS.into_iter().zip(&BEFORE) {
            let mut old = MaybeUninit::uninit();
            // SAFETY: a `sigaction` of zeros is valid (an empty mask, the default action). The new handler has the
            // signature that `SA_SIGINFO` demands, and it calls only functions that a signal handler may call, as the
            // comments in `handle` argue.
            let done = unsafe {
                let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
                action.sa_sigaction = handle as *const () as usize;
                // The thread's stack is full, so the handler uses the signal stack that the
                // standard library gives each of its threads.
                action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                libc::sigaction(signal, &raw const action, old.as_mut_ptr())
            };
            if done == 0 {
                // SAFETY: the call succeeded, so it wrote the old action.
                let _ = before.set(unsafe { old.assume_init() });
            }
        }
    });
}

/// Reports an overflow and ends the process. Leaves any other fault to the previous handler.
extern "C" fn handle(signal: c_int, info: *mut libc::siginfo_t, machine: *mut c_void) {
    // SAFETY: the system passes valid information to a handler with `SA_SIGINFO`. For these two
    // signals, it contains an address.
    let address = unsafe { (*info).si_addr() }.addr();
    // All mapped memory of an arena (the memory of a simulated machine) is readable and writable except its stacks'
    // guards, so the fault is at a guard. `holds` reads only atomics.
    if arena::holds(address) {
        report();
        // SAFETY: a signal handler may call `abort`.
        unsafe { libc::abort() };
    }
    let at = SIGNALS.iter().position(|one| *one == signal);
    let before = at.and_then(|at| BEFORE[at].get());
    match before {
        Some(old) if old.sa_sigaction != libc::SIG_DFL && old.sa_sigaction != libc::SIG_IGN => {
            if old.sa_flags & libc::SA_SIGINFO != 0 {
                // SAFETY: `SA_SIGINFO` says that the handler has this signature.
                let old: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
                    unsafe { std::mem::transmute(old.sa_sigaction) };
                old(signal, info, machine);
            } else {
                // SAFETY: a handler without `SA_SIGINFO` has this signature.
                let old: extern "C" fn(c_int) = unsafe { std::mem::transmute(old.sa_sigaction) };
                old(signal);
            }
        }
        // With the default action, the instruction faults again and the system ends the process.
        // SAFETY: the action is the default action and otherwise zero, and the signal exists. A
        // signal handler may call `sigaction`.
        _ => unsafe {
            let action: libc::sigaction = MaybeUninit::zeroed().assume_init();
            libc::sigaction(signal, &raw const action, ptr::null_mut());
        },
    }
}

/// Writes a line to standard error, without an allocation.
fn report() {
    let mut line = Line {
        text: [0; 400],
        length: 0,
    };
    // `Line` drops text that does not fit.
    let _ = match context::running_thread() {
        Some((thread, name, core)) => writeln!(
            line,
            "manycore-chip: the simulated thread {thread} ({name}) on core {core} has overflowed \
             its stack; Simulation::stack_size gives threads a larger one"
        ),
        None => writeln!(
            line,
            "manycore-chip: a stack of a simulated thread has overflowed"
        ),
    };
    // SAFETY: the pointer and the length describe the line's text. A signal handler may call `write`.
    unsafe { libc::write(libc::STDERR_FILENO, line.text.as_ptr().cast(), line.length) };
}

struct Line {
    text: [u8; 400],
    length: usize,
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = self.text.len() - self.length;
        let part = &text.as_bytes()[..text.len().min(room)];
        self.text[self.length..][..part.len()].copy_from_slice(part);
        self.length += part.len();
        Ok(())
    }
}
