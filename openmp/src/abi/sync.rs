//! Barriers, singles, critical sections, atomics and cancellation.

use super::export;
use crate::environment::settings;
use crate::tasking::meet;
use crate::team::context::{Context, context};
use crate::words::lock::WordLock;
use std::ffi::{c_int, c_void};
use std::sync::atomic::Ordering::SeqCst;

/// `GOMP_barrier`, called from the address `from`. The address identifies the barrier: after the same barrier, members
/// most likely do again what they did before.
extern "C" fn barrier(from: usize) {
    come_to_barrier(context(), from);
}

pub(super) fn come_to_barrier(context: &Context, from: usize) {
    context.site.set(from);
    meet(context, false);
}

/// Whether the caller is the first member to reach its next `single`.
#[inline]
pub(super) fn claim_single(context: &Context) -> bool {
    let seat = &context.seat;
    let number = seat.singles.get();
    let next = number.wrapping_add(1);
    seat.singles.set(next);
    // A member that is behind the others does not take the cache line from them.
    if seat.taken.get().wrapping_sub(next).cast_signed() >= 0 {
        return false;
    }
    // There is no load before the exchange, so that the cache line is fetched only once, for writing.
    match context
        .team()
        .singles
        .compare_exchange(number, next, SeqCst, SeqCst)
    {
        Ok(_) => {
            // This is set after a success too: the difference above must stay small when the numbers wrap.
            seat.taken.set(next);
            true
        }
        Err(taken) => {
            seat.taken.set(taken);
            false
        }
    }
}

/// Passes its return address to [`barrier`].
#[cfg(target_arch = "x86_64")]
#[unsafe(no_mangle)]
#[unsafe(naked)]
extern "C" fn GOMP_barrier() {
    std::arch::naked_asm!("mov rdi, [rsp]", "jmp {}", sym barrier)
}

#[cfg(target_arch = "aarch64")]
#[unsafe(no_mangle)]
#[unsafe(naked)]
extern "C" fn GOMP_barrier() {
    std::arch::naked_asm!("mov x0, x30", "b {}", sym barrier)
}

#[cfg(target_arch = "riscv64")]
#[unsafe(no_mangle)]
#[unsafe(naked)]
extern "C" fn GOMP_barrier() {
    std::arch::naked_asm!("mv a0, ra", "tail {}", sym barrier)
}

#[cfg(not(any(
    target_arch = "x86_64",
    target_arch = "aarch64",
    target_arch = "riscv64"
)))]
export! {
    fn GOMP_barrier() {
        barrier(0);
    }
}

static CRITICAL: WordLock = WordLock::new();
static ATOMIC: WordLock = WordLock::new();

/// Begins an atomic change for which the processor has no instruction. One lock serves all such changes.
pub(super) fn begin_atomic() {
    ATOMIC.lock(&context().carried);
}

pub(super) fn end_atomic() {
    ATOMIC.unlock(&context().carried);
}

const PARALLEL: c_int = 1;
const LOOP: c_int = 2;
const SECTIONS: c_int = 4;
const TASKGROUP: c_int = 8;

/// Whether `what` is cancelled for the calling task.
fn is_cancelled(what: c_int) -> bool {
    let context = context();
    let team = context.team();
    if what & (LOOP | SECTIONS) != 0 {
        return team.are_shares_cancelled();
    }
    if what & TASKGROUP != 0 {
        let group = context.task().current_group();
        if group.is_some_and(|group| group.is_discarded()) {
            return true;
        }
    }
    team.is_cancelled()
}

pub(super) fn cancellation_point(what: c_int) -> bool {
    settings().cancellation && is_cancelled(what)
}

/// Cancels `what`, if the user allows cancellation and `does` is true. Returns whether `what` is cancelled.
pub(super) fn cancel(what: c_int, does: bool) -> bool {
    if !settings().cancellation {
        return false;
    }
    if !does {
        return is_cancelled(what);
    }
    let context = context();
    if what & (LOOP | SECTIONS) != 0 {
        context.team().cancel_shares();
    } else if what & TASKGROUP != 0 {
        if let Some(group) = context.task().current_group() {
            group.to_cancel().cancel();
        }
    } else {
        debug_assert_eq!(what & PARALLEL, PARALLEL);
        context.team().cancel();
    }
    true
}

export! {
    fn GOMP_barrier_cancel() -> bool {
        let context = context();
        meet(context, true)
    }

    fn GOMP_single_start() -> bool {
        claim_single(context())
    }

    fn GOMP_single_copy_start() -> *mut c_void {
        let context = context();
        let team = context.team();
        if context.come(|_| ()) {
            return std::ptr::null_mut();
        }
        let Some(share) = super::loops::current(context) else {
            return std::ptr::null_mut();
        };
        let copied = || share.copied.load(SeqCst);
        team.bell.wait_until(&context.carried, &|| !copied().is_null());
        let data = copied();
        context.leave();
        data.cast()
    }

    fn GOMP_single_copy_end(data: *mut c_void) {
        let context = context();
        let team = context.team();
        if let Some(share) = super::loops::current(context) {
            share.copied.store(data.cast(), SeqCst);
            team.bell.ring();
        }
        context.leave();
    }

    fn GOMP_critical_start() {
        CRITICAL.lock(&context().carried);
    }

    fn GOMP_critical_end() {
        CRITICAL.unlock(&context().carried);
    }

    fn GOMP_critical_name_start(name: *mut *mut c_void) {
        // SAFETY: the compiler made a word for each name. The word is zero at first.
        unsafe { &*name.cast::<WordLock>() }.lock(&context().carried);
    }

    fn GOMP_critical_name_end(name: *mut *mut c_void) {
        // SAFETY: the compiler made a word for each name. The word is zero at first.
        unsafe { &*name.cast::<WordLock>() }.unlock(&context().carried);
    }

    fn GOMP_atomic_start() {
        begin_atomic();
    }

    fn GOMP_atomic_end() {
        end_atomic();
    }

    fn GOMP_cancellation_point(what: c_int) -> bool {
        cancellation_point(what)
    }

    fn GOMP_cancel(what: c_int, does: bool) -> bool {
        cancel(what, does)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering::Relaxed;

    /// A team of one member takes each of its `single` constructs. The numbers of these wrap after 2^32.
    #[test]
    fn a_team_of_one_takes_singles_for_ever() {
        let context = context();
        for before_limit in [i32::MAX as u32 - 1, u32::MAX - 1] {
            context.seat.singles.set(before_limit);
            context.seat.taken.set(before_limit);
            context.team().singles.store(before_limit, Relaxed);
            assert!((0..4).all(|_| claim_single(context)));
        }
        // The first half of all numbers passes without a success of another member.
        context.seat.singles.set(0);
        context.seat.taken.set(0);
        context.team().singles.store(0, Relaxed);
        for number in [0, 1 << 30, 1 << 31, 3 << 30] {
            context.seat.singles.set(number);
            context.team().singles.store(number, Relaxed);
            assert!(claim_single(context), "{number}");
        }
    }
}
