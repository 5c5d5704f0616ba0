//! `sched_yield` and spin locks of the C library's: a rank that waits by them lets another rank go on.
//!
//! Such a rank waits for another, which may have no worker. It cannot be cut: nearly always its next instruction is the C
//! library's. So these functions are defined here, in front of the C library's, for programs that find this library
//! first. A rank that calls such a function looks for another rank that can go on, and leaves its worker to that rank. If no
//! rank can, and in every other thread, the call is the system's.
//!
//! # When a rank does not leave
//!
//! * Its thread has blocked signals, as it has in most signals' handlers, or is on an alternate stack: the worker would execute
//!   another rank like that. Another handler may leave, but not where it has
//!   interrupted a rank that is about to leave.
//! * It is at its [home](super::home), where it is a thread as any other.
//! * It is in a child after `fork`, which has one thread.
//!
//! A rank that leaves may have any lock, also of this library's: an allocator of the program's that yields may be called from
//! here. It can go on at any time, by any worker or at its home, so that others wait for it as for a thread that has no
//! core.

use super::rank::Rank;
use super::{current, home, registry};
use crate::system::export;
use crate::system::next::{self, Next};
use manycore_platform::{Native, Platform};
use std::ffi::c_int;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::compiler_fence;

/// Looks at a spin lock before the rank lets another go on: its owner may be about to let it go.
const LOOKS: u32 = 20;

static SPIN_LOCK: Next = Next::new(c"pthread_spin_lock");

/// The functions behind these are looked for.
pub(super) fn find() {
    SPIN_LOCK.find();
}

/// The rank that the caller is, if a worker executes it.
pub(super) fn rank() -> Option<&'static Rank> {
    current::rank().filter(|rank| rank.worker().index < home::FIRST)
}

/// Calls `leave` with the calling rank, if that may leave its worker as it is; it may be another's after that. `None`: it
/// was not called, or did nothing.
pub(super) fn leave<R>(leave: impl FnOnce(&'static Rank) -> Option<R>) -> Option<R> {
    at_worker(|rank| rank.state.is_as_noted().then(|| leave(rank)).flatten())
}

/// Calls `what` with the calling rank, if a worker executes it, and if it is not about to leave. The kernel was not asked
/// whether it may.
fn at_worker<R>(what: impl FnOnce(&'static Rank) -> Option<R>) -> Option<R> {
    let rank = rank().filter(|rank| !rank.leaves.load(Relaxed))?;
    rank.leaves.store(true, Relaxed);
    // No handler leaves from here on: the worker stays the same.
    compiler_fence(SeqCst);
    let result = what(rank);
    compiler_fence(SeqCst);
    rank.leaves.store(false, Relaxed);
    result
}

/// Lets others go on: ranks, and now and then other threads.
pub(super) fn give_way() {
    if !pass() {
        // SAFETY: a call without arguments; it does not fail.
        unsafe { next::syscall(libc::SYS_sched_yield, [0; 6]) };
    }
}

/// Another rank goes on in place of the caller. `false` if no rank can, or if each rank has had its turn, so that other threads
/// have theirs.
pub(super) fn pass() -> bool {
    let is_round = at_worker(|rank| {
        // It may be another worker after that.
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
        // SAFETY: a lock of the program's.
        let is_taken = || unsafe { pthread_spin_trylock(lock) } == 0;
        if rank().is_none() && let Some(function) = SPIN_LOCK.find() {
            // SAFETY: it is the function of this name.
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
