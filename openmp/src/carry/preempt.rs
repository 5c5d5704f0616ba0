//! The handler of the signal by which the [alarm](super::alarm) of a worker makes a rank (a thread of a team) leave the
//! worker, at any instruction.
//!
//! The handler runs on the rank's stack, above the frame in which the kernel has saved all registers. The handler
//! switches to the worker, as a rank that waits does. When a worker takes the rank again, the handler returns on that
//! worker, and the kernel restores the registers from the frame. The kernel also restores the rank's signal mask and
//! alternate stack ([`thread_state`](super::thread_state)).
//!
//! # Conditions for leaving
//!
//! * The rank's next instruction is in the program's own code ([`code_map`]), and not in this library or a library that
//!   has locks. So the kernel thread is not on the worker's own stack either.
//! * The rank has no interrupted system call that the handler must continue ([`restart`]).
//! * The rank holds no OpenMP lock.
//! * The rank's signal mask is the mask that this library has noted. In a signal handler of the program the mask
//!   differs.
//! * The rank is not on an alternate stack, where a signal handler of the program may run with the noted mask.
//! * The program has not asked for the matrix registers (AMX): afterwards the frames of kernel threads may differ in
//!   size, and a kernel thread restores only frames of its own size.
//!
//! Otherwise the alarm is set again, each time after a longer delay, for a limited number of times.
//!
//! # Ranks that spin
//!
//! The handler simulates the rank's next instructions ([`waits`](super::waits)). If the rank only spins on memory, it
//! leaves, and can continue when its loop would end. If an instruction is unknown, and the [watchdog](super::watchdog)
//! has rung the alarm because the worker stalled, the handler notes all registers of the rank, and looks again a little
//! later. A loop that computes has changed a register then. A loop that waits for a word of memory has not. Three looks
//! must show the same registers. Two looks count only if this kernel thread was executed between them: otherwise any
//! loop shows the same registers. This check cannot see when a virtual processor was taken away, since the kernel does
//! not know.

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

/// The time between two looks at a rank that may spin.
const LOOK: Duration = Duration::from_micros(40);
/// The number of looks, after the first, that must show the same registers.
const LOOKS: u32 = 2;

/// The processor time of this kernel thread, in ns.
fn thread_time() -> i64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the call writes the time.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// Notes the rank's registers for comparison in `left` more looks.
fn look_again(alarm: &Alarm, now: u64, registers: Registers, left: u32) {
    alarm.wake_after(now, Native::duration_to_ticks(LOOK));
    // The time is read after the timer is set, since setting it takes some of the thread's time.
    let time = thread_time();
    alarm.noted.set(Some(Noted {
        registers,
        time,
        left,
    }));
}

/// This function must not lock, allocate or wait, except for the rank's own condition.
pub(super) extern "C" fn handler(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes its description of the signal, and the frame that it restores.
    let (info, frame) = unsafe { (&mut *info, &mut *context.cast::<libc::ucontext_t>()) };
    let Some(worker) = signals::addressee(info) else {
        return signals::pass_on(signal, info, context);
    };
    // SAFETY: the address is the one in this kernel thread's own entry, which is the address of a worker. Workers live
    // for ever.
    let worker = unsafe { &*worker.cast::<Worker>() };
    let by_timer = info.si_code == libc::SI_TIMER;
    let broken_off = restart::broken_off(frame);
    look(worker, by_timer, broken_off.is_some(), frame);
    if let Some(Some(call)) = broken_off {
        // Such a rank does not leave, so this is still its worker.
        call.go_on(&worker.alarm, frame);
    }
}

/// Makes the worker's rank leave, if its alarm is due and it can leave.
fn look(worker: &'static Worker, by_timer: bool, broken_off: bool, frame: &mut libc::ucontext_t) {
    let alarm = &worker.alarm;
    alarm.rung.store(0, Relaxed);
    // SAFETY: ranks live for ever.
    let Some(rank) = (unsafe { worker.current.load(Relaxed).as_ref() }) else {
        return;
    };
    let now = Native::now();
    if by_timer {
        if !alarm.has_ended(now) {
            return;
        }
        if alarm.tries.get() == 0 && alarm.noted.get().is_none() {
            LATE.learn((now + LATE.ticks()).saturating_sub(alarm.due.load(Relaxed)));
        }
    }
    let (registers, machine) = (Registers::of(frame), Machine::of(frame));
    // SAFETY: the kernel's part of the mask in the frame is a word.
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
