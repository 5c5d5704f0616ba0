//! An asymmetric fence by the system call `membarrier`, if the kernel grants it.
//!
//! `membarrier(PRIVATE_EXPEDITED)` returns when every running thread of the process has executed a full barrier. A
//! thread that was not running has passed a barrier in the scheduler. A light fence keeps the compiler from moving
//! accesses across it. So a heavy fence finds each thread either after its light fence or before it. In the first case
//! the thread's earlier stores are visible. In the second case the thread's later loads are yet to come.
//!
//! Sandboxes may refuse the call. Light fences are full fences until [`DECIDED`] says that the call was granted. The
//! process is registered before that, and heavy fences make the call from then on.
//!
//! # Why the process registers before `main`
//!
//! A process with one thread registers in less than a microsecond. In a process with several threads the kernel waits
//! until all cores have passed a quiet state, which takes some 10 ms. The first pool would have to wait for that.
//!
//! # If the call is refused later
//!
//! A process may enter a sandbox while pools run. The pools' threads have left out fences, and may leave out the next
//! fence before they could learn that the call is refused. No other barrier reaches them for these accesses (changing
//! a page's protection interrupts the other cores on some processors only). So a heavy fence that is refused must not
//! return. It must not unwind either, since other threads rely on the call that contains the fence. So the process is
//! aborted with a line that says what to do.
//!
//! # After a fork
//!
//! A child's memory is registered if its parent's memory was registered: the kernel keeps the registration with the
//! address space, which `fork` copies. A kernel that only looks like Linux may not do so. Then the call fails once,
//! and the heavy fence registers again and repeats the call.

use std::io;
use std::sync::atomic::{AtomicU8, Ordering, compiler_fence, fence};

/// Whether light fences may be light. This is `UNKNOWN`, or the kernel's answer.
static DECIDED: AtomicU8 = AtomicU8::new(UNKNOWN);

const UNKNOWN: u8 = 0;
const REFUSED: u8 = 1;
const GRANTED: u8 = 2;

#[inline(always)]
pub(in crate::native) fn light() {
    // Relaxed: a thread reads `GRANTED` after the registration, and `heavy` needs no stronger ordering, since it calls
    // `are_light` itself.
    if DECIDED.load(Ordering::Relaxed) == GRANTED {
        compiler_fence(Ordering::SeqCst);
    } else {
        fence(Ordering::SeqCst);
    }
}

pub(in crate::native) fn heavy() {
    // The call fences this thread too, but the language does not know that.
    fence(Ordering::SeqCst);
    if are_light() {
        if let Err(error) = fence_all() {
            refused_later(&error);
        }
        fence(Ordering::SeqCst);
    }
}

/// Whether the kernel grants the call. The first answer is final.
pub(in crate::native) fn are_light() -> bool {
    // Relaxed: the answer publishes nothing else.
    let decided = match DECIDED.load(Ordering::Relaxed) {
        UNKNOWN => decide(),
        decided => decided,
    };
    decided == GRANTED
}

/// Several threads may run this function at once. There is no lock, since a fork could leave it locked. Registering
/// twice is harmless, and the first answer counts for all.
#[cold]
fn decide() -> u8 {
    let granted = !cfg!(miri)
        && membarrier(libc::MEMBARRIER_CMD_QUERY)
            .is_ok_and(|granted| granted & libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED != 0)
        && register().is_ok()
        && membarrier(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED).is_ok();
    let mine = if granted { GRANTED } else { REFUSED };
    // Relaxed: the registration is a property of the process, whatever its threads have seen of each other. A thread
    // that reads `UNKNOWN` calls this function itself.
    match DECIDED.compare_exchange(UNKNOWN, mine, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => mine,
        Err(first) => first,
    }
}

/// The kernel's answer to a command.
fn membarrier(command: libc::c_int) -> io::Result<libc::c_int> {
    // SAFETY: the call takes numbers, and no memory.
    let answer = unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) };
    if answer < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(answer as libc::c_int)
    }
}

fn register() -> io::Result<libc::c_int> {
    membarrier(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED)
}

/// The loader calls this function. If the kernel refuses, [`decide`] finds that out when a thread first needs a fence.
#[cfg(not(miri))]
extern "C" fn register_early() {
    _ = register();
}

// SAFETY: the section is a list of functions without arguments, which the loader calls when the C library is ready.
// This function makes one system call.
#[cfg(not(miri))]
#[used]
#[unsafe(link_section = ".init_array")]
static REGISTERS: extern "C" fn() = register_early;

fn fence_all() -> io::Result<libc::c_int> {
    let fence_all = || membarrier(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED);
    // Registers again if necessary: see the module's "After a fork".
    fence_all().or_else(|_| register().and_then(|_| fence_all()))
}

/// This writes by the system call, since a thread that waits for this thread may hold the lock of the standard
/// library's `stderr`.
#[cold]
fn refused_later(error: &io::Error) -> ! {
    let line = format!(
        "manycore: the system refuses membarrier, which it granted before ({error}); aborting, \
         since threads of this process rely on it; if a sandbox forbids it before the first \
         pool is made, manycore does without it\n"
    );
    // SAFETY: `len` bytes of the string are readable. An error has no remedy.
    let _ = unsafe { libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), line.len()) };
    std::process::abort();
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    /// Two threads each write a word and read the other's. At least one must see the other's write. (Without fences,
    /// on x86-64 both miss within a few rounds.)
    #[test]
    fn one_of_two_sees_the_other() {
        const ROUNDS: u32 = 2_000;
        let (x, y) = (AtomicU32::new(0), AtomicU32::new(0));
        let (saw_x, saw_y) = (AtomicU32::new(0), AtomicU32::new(0));
        let turn = std::sync::Barrier::new(2);
        heavy();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for round in 1..=ROUNDS {
                    turn.wait();
                    x.store(round, Ordering::Relaxed);
                    light();
                    saw_y.store(y.load(Ordering::Relaxed), Ordering::Relaxed);
                    turn.wait();
                }
            });
            for round in 1..=ROUNDS {
                turn.wait();
                y.store(round, Ordering::Relaxed);
                heavy();
                saw_x.store(x.load(Ordering::Relaxed), Ordering::Relaxed);
                turn.wait();
                let sees = |word: &AtomicU32| word.load(Ordering::Relaxed) == round;
                assert!(sees(&saw_x) || sees(&saw_y), "both miss in round {round}");
            }
        });
    }

    #[test]
    fn the_answer_does_not_change() {
        let first = are_light();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| assert_eq!(are_light(), first));
            }
        });
    }
}
