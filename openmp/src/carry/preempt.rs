//! Preemption: a signal of the worker's [alarm](super::alarm) makes a rank leave, at any instruction. This is its handler.
//!
//! The handler runs on the rank's stack, above the frame in which the kernel has saved all
//! registers. It goes to the worker as any waiting rank does; the worker that takes the rank again
//! returns from the handler there, and the kernel restores the registers. The frame restores the
//! signal mask and the alternate stack as well, which are the rank's
//! ([`thread_state`](super::thread_state)).
//!
//! # When a rank leaves
//!
//! * Its next instruction is in the program's own code ([`code_map`]): not in a library that
//!   has locks, nor here. So the worker is not on its own stack either.
//! * It is not at a system call that goes on in the handler ([`restart`]).
//! * It has no lock of OpenMP's.
//! * The signals are blocked that the rank is known to have blocked. In a handler of the program's
//!   others are.
//! * It is not on an alternate stack. A handler of the program's may run there with no more signals blocked.
//! * It has not used the matrix registers (AMX): a kernel thread that has not used them does not restore them.
//!
//! Otherwise the alarm is set again, later each time, and after some times no more.
//!
//! # Ranks that spin
//!
//! The handler follows the rank's next instructions by hand ([`waits`](super::waits)). A rank that
//! only waits for memory leaves with this as its condition. If it has unknown instructions, and
//! another thread has rung since the worker has stalled, the handler notes the rank's registers,
//! the vector registers too, and looks again a little later. A loop that computes has changed one;
//! a loop that waits for a word of memory has not. Three looks must show the same. Another
//! process's time does not count, as far as the kernel knows of it: a virtual processor may have
//! been taken away between two looks, which then show the same of any loop.

use super::alarm::Alarm;
use super::costs::LATE;
use super::frame::{Noted, Registers, has_matrices};
use super::waits::Machine;
use super::worker::Worker;
use super::{code_map, registry, restart, signals};
use crate::system::masks::{errno, set_errno};
use manycore_platform::{Native, Platform};
use std::ffi::{c_int, c_void};
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// Between two looks at a rank that may spin.
const LOOK: Duration = Duration::from_micros(40);
/// The number of looks after the first that must show the same registers.
const LOOKS: u32 = 2;

/// How long this kernel thread has been executed, in ns.
fn thread_time() -> i64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: writes the time.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// Notes what the rank has in its registers, and looks `left` times more.
fn look_again(alarm: &Alarm, now: u64, registers: Registers, left: u32) {
    alarm.wake_after(now, Native::duration_to_ticks(LOOK));
    // After the timer is set, which takes some of the thread's time.
    let time = thread_time();
    alarm.noted.set(Some(Noted {
        registers,
        time,
        left,
    }));
}

/// This function must not lock, allocate or wait, except for the rank's own condition.
pub(super) extern "C" fn handler(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel's description of the signal, and the frame that it restores.
    let (info, frame) = unsafe { (&mut *info, &mut *context.cast::<libc::ucontext_t>()) };
    let Some(worker) = signals::addressee(info) else {
        return signals::pass_on(signal, info, context);
    };
    // SAFETY: the address that this kernel thread has entered itself with, which is a worker's; workers live for ever.
    let worker = unsafe { &*worker.cast::<Worker>() };
    let by_timer = info.si_code == libc::SI_TIMER;
    let broken_off = restart::broken_off(frame);
    look(worker, by_timer, broken_off.is_some(), frame);
    if let Some(Some(call)) = broken_off {
        // The rank has not left: the worker is its own.
        call.go_on(&worker.alarm, frame);
    }
}

/// The worker's rank leaves, if it is to and can.
fn look(worker: &'static Worker, by_timer: bool, broken_off: bool, frame: &mut libc::ucontext_t) {
    let alarm = &worker.alarm;
    alarm.rung.store(0, Relaxed);
    // SAFETY: ranks live for ever.
    let Some(rank) = (unsafe { worker.current.load(Relaxed).as_ref() }) else {
        return;
    };
    let now = Native::now();
    if by_timer {
        let due = alarm.due.load(Relaxed);
        if due == 0 || now < alarm.end.get() {
            return;
        }
        if alarm.tries.get() == 0 && alarm.noted.get().is_none() {
            LATE.learn((now + LATE.ticks()).saturating_sub(due));
        }
    }
    let (registers, machine) = (Registers::of(frame), Machine::of(frame));
    // SAFETY: the frame has the kernel's part of the mask, a word.
    let mask = unsafe { (&raw const frame.uc_sigmask).cast::<u64>().read() };
    let has_other_mask = mask != rank.state.mask();
    if has_other_mask {
        rank.state.doubt();
    }
    let is_elsewhere = broken_off
        || !code_map::is_programs(registers.at)
        || rank.state.is_on_stack(&frame.uc_stack, registers.stack());
    if is_elsewhere || rank.held.get() > 0 || has_other_mask || has_matrices(frame) {
        alarm.put_off(now);
        return;
    }
    let (waits, revoked) = (machine.waits(), worker.is_revoked());
    match alarm.noted.take() {
        _ if waits => {
            registry::division().inspect(|it| it.found_waiting(!by_timer));
        }
        None if !by_timer && !revoked => {
            return look_again(alarm, now, registers.and_vectors(frame), LOOKS);
        }
        Some(noted)
            if noted.registers.spin_until(&registers.and_vectors(frame))
                && thread_time() - noted.time > LOOK.as_nanos() as i64 / 2 =>
        {
            if noted.left > 1 {
                return look_again(alarm, now, noted.registers, noted.left - 1);
            }
            registry::division().inspect(|it| it.found_waiting(true));
        }
        _ => {}
    }
    if !revoked {
        registry::division().inspect(|it| it.end_turn());
    }
    rank.state.leaves_by_preemption(frame.uc_stack);
    let error = errno();
    alarm.in_handler.set(true);
    if waits {
        rank.polled.set(true);
        rank.leave_until(&|| !machine.waits());
        rank.polled.set(false);
    } else {
        rank.wait_once(None);
    }
    set_errno(error);
}
