//! The C library's `sched_yield` and spin locks: a rank that waits by these functions lets another rank run.
//!
//! Such a rank (a thread of a team that workers execute) may wait for a rank that has no worker. A timer cannot make
//! the first rank leave its worker, since its next instruction is nearly always in the C library. So these functions
//! are defined here, in front of those of the C library, for programs that find this library first. A rank that calls
//! such a function looks for another rank that can continue, and leaves its worker to that rank. If there is no such
//! rank, or if the caller is no rank, the call goes to the system.
//!
//! # When a rank does not leave
//!
//! * The rank's signal mask is not the mask that this library has noted, as in most signal handlers, or the rank is on
//!   an alternate stack. The worker would execute another rank in that state.
//! * The caller is a signal handler that has interrupted the rank while it is about to leave. In other handlers with
//!   the noted mask the rank may leave.
//! * The rank is at its [home](super::home), where it is a usual thread.
//! * The process is a child after `fork`, with one thread.
//!
//! A rank that leaves may hold any lock, even one of this library: the library may call an allocator of the program
//! that yields. The rank can continue at any time, on any worker or at its home. So others wait for this rank as they
//! would for a thread without a core.

use super::rank::Rank;
use super::{current, home, registry};
use crate::system::export;
use crate::system::next::{self, Next};
use manycore_platform::{Native, Platform};
use std::ffi::c_int;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::compiler_fence;

/// The number of looks at a spin lock before the rank lets another rank run: the lock's owner may be about to unlock
/// it.
const LOOKS: u32 = 20;

static SPIN_LOCK: Next = Next::new(c"pthread_spin_lock");

/// Finds `pthread_spin_lock` in the C library.
pub(super) fn find() {
    SPIN_LOCK.find();
}

/// The calling rank, if a worker executes it.
pub(super) fn rank() -> Option<&'static Rank> {
    current::rank().filter(|rank| rank.worker().index < home::FIRST)
}

/// Calls `leave` with the calling rank, if the rank may leave its worker now. Another worker may execute the rank
/// afterwards. Returns `None` if `leave` was not called, or did nothing.
pub(super) fn leave<R>(leave: impl FnOnce(&'static Rank) -> Option<R>) -> Option<R> {
    at_worker(|rank| rank.state.is_as_noted().then(|| leave(rank)).flatten())
}

/// Calls `what` with the calling rank, if a worker executes the rank and the rank is not about to leave. Unlike
/// [`leave`], this does not ask the kernel whether the rank may leave.
fn at_worker<R>(what: impl FnOnce(&'static Rank) -> Option<R>) -> Option<R> {
    let here = 0_u8;
    let here = (&raw const here).addr();
    let rank = rank().filter(|rank| !rank.is_leaving(here))?;
    // The old value may differ from 0: a handler on an alternate stack may call this function while the rank is about
    // to leave on its own stack.
    let before = rank.leaves.load(Relaxed);
    rank.leaves.store(here, Relaxed);
    // From here on no handler makes the rank leave, so the worker stays the same.
    compiler_fence(SeqCst);
    let result = what(rank);
    compiler_fence(SeqCst);
    rank.leaves.store(before, Relaxed);
    result
}

/// Lets another rank run, or sometimes other threads of the system.
pub(super) fn give_way() {
    if !pass() {
        // SAFETY: the call has no arguments, and does not fail.
        unsafe { next::syscall(libc::SYS_sched_yield, [0; 6]) };
    }
}

/// Lets another rank run in place of the caller. Returns `false` if no other rank can run, or if each rank has had a
/// turn: then other threads of the system should have theirs.
pub(super) fn pass() -> bool {
    if rank().is_some_and(Rank::is_summoned) {
        leave(|rank| {
            rank.handle_signals();
            Some(())
        });
    }
    let is_round = at_worker(|rank| {
        // The rank may be on another worker after `pass`.
        let has_passed = rank.worker().pass(rank);
        has_passed.then(|| rank.worker().count_yield(registry::size()))
    });
    if is_round == Some(true) {
        registry::division().inspect(|it| it.found_yielding());
    }
    is_round == Some(false)
}

unsafe extern "C" {
    fn pthread_spin_trylock(lock: *mut c_int) -> c_int;
}

export! {
    fn sched_yield() -> c_int {
        give_way();
        0
    }

    fn pthread_yield() -> c_int {
        give_way();
        0
    }

    fn thrd_yield() {
        give_way();
    }

    fn pthread_spin_lock(lock: *mut c_int) -> c_int {
        // SAFETY: the program passes one of its locks.
        let is_taken = || unsafe { pthread_spin_trylock(lock) } == 0;
        if rank().is_none() && let Some(function) = SPIN_LOCK.find() {
            // SAFETY: the C library's function of this name has this type.
            let function: extern "C" fn(*mut c_int) -> c_int =
                unsafe { std::mem::transmute(function) };
            return function(lock);
        }
        loop {
            for _ in 0..LOOKS {
                if is_taken() {
                    return 0;
                }
                Native::relax();
            }
            give_way();
        }
    }
}
