//! Short sleeps: a rank (a thread of a team) that sleeps leaves its worker, a kernel thread, to other ranks.
//!
//! A sleeping rank waits for a time as for any other condition. [`Polled`](super::ownership::Polled) has that time, so
//! that a worker which finds no rank sleeps until then and no longer.
//!
//! For a long sleep the rank goes [home](super::home), and the kernel makes the sleep. When a signal handler has run,
//! the kernel ends a sleep early. Some programs sleep just to wait for their own handler. A sleep of a few milliseconds
//! ends soon enough by itself.

use super::blocking;
use super::questions;
use super::yields;
use crate::system::clock::has_passed;
use crate::system::export;
use crate::system::next::Next;
use libc::{clockid_t, timespec, useconds_t};
use manycore_platform::{Native, Platform};
use std::ffi::{c_int, c_long, c_uint};
use std::ptr;
use std::time::Duration;

/// Sleeps below this are short: they end before the [watchdog](super::watchdog) acts.
const SHORT: Duration = super::division::STALL;
/// If at most this is left of a short sleep, the kernel makes the rest. The two clocks differ by less.
const FEW: Duration = Duration::from_micros(100);

static SLEEP: Next = Next::new(c"sleep");
static USLEEP: Next = Next::new(c"usleep");
static NANOSLEEP: Next = Next::new(c"nanosleep");
static CLOCK_NANOSLEEP: Next = Next::new(c"clock_nanosleep");

/// Finds these functions of the C library.
pub(super) fn find() {
    for function in [&SLEEP, &USLEEP, &NANOSLEEP, &CLOCK_NANOSLEEP] {
        function.find();
    }
}

fn clock(id: clockid_t) -> Duration {
    let mut time = timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // If there is no such clock, the time stays 0.
    questions::read(id, &raw mut time);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The time that the program passes, if it is valid.
pub(super) fn read(time: *const timespec) -> Option<Duration> {
    // SAFETY: null, or an address that the program passes.
    let time = unsafe { time.as_ref() }?;
    let is_time = time.tv_sec >= 0 && (0..1_000_000_000).contains(&time.tv_nsec);
    is_time.then(|| Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
}

/// If the caller is a rank and the sleep is short, leaves the worker for that time. Returns the remaining time, or
/// `None` if the kernel has to make the sleep.
fn doze(duration: Duration) -> Option<Duration> {
    yields::rank()?;
    if duration >= SHORT {
        blocking::go_home();
        return None;
    }
    if duration.is_zero() {
        // If no other rank can run, or each has had its turn, the kernel makes the sleep. A worker that never sleeps
        // uses up its share of the core. Then another process would take the core for whole time slices.
        return yields::pass().then_some(duration);
    }
    yields::leave(|rank| {
        let since = clock(libc::CLOCK_MONOTONIC);
        let (begin, ticks) = (Native::now(), Native::duration_to_ticks(duration));
        rank.polled.set_time(begin.saturating_add(ticks));
        rank.worker().let_others_first();
        // If the processor's counter steps, the rank and a sleeping worker do not wait for the same time. Workers sleep
        // for at most 10 ms.
        rank.leave_until(&|| has_passed(ticks, begin, Native::now()));
        rank.polled.set(false);
        // Measures the sleep by a clock that the program can read.
        let slept = clock(libc::CLOCK_MONOTONIC).saturating_sub(since);
        Some(duration.saturating_sub(slept))
    })
}

/// Sleeps like [`doze`], and makes the remaining sleep in the kernel. Returns whether the caller has slept.
pub(super) fn sleeps(duration: Duration) -> bool {
    let Some(mut rest) = doze(duration) else {
        return false;
    };
    // More is left if the processor's counter has stepped. In the kernel, a rank that sleeps blocks its worker.
    while let Some(left) = (rest > FEW).then(|| doze(rest)).flatten() {
        rest = left;
    }
    if !rest.is_zero() {
        let rest = timespec {
            tv_sec: 0,
            tv_nsec: rest.subsec_nanos() as c_long,
        };
        sleep_in_kernel(libc::CLOCK_MONOTONIC, 0, &raw const rest, ptr::null_mut());
    }
    true
}

/// Calls the C library's `clock_nanosleep`. Returns the error's number.
fn sleep_in_kernel(
    id: clockid_t,
    flags: c_int,
    time: *const timespec,
    rest: *mut timespec,
) -> c_int {
    type Function = extern "C-unwind" fn(clockid_t, c_int, *const timespec, *mut timespec) -> c_int;
    if let Some(function) = CLOCK_NANOSLEEP.find() {
        // SAFETY: the C library's function of this name has this type.
        let function: Function = unsafe { std::mem::transmute(function) };
        return function(id, flags, time, rest);
    }
    libc::ENOSYS
}

export! {
    abi "C-unwind";

    fn sleep(seconds: c_uint) -> c_uint {
        if seconds > 0 {
            blocking::go_home();
        }
        let Some(function) = SLEEP.find() else { return seconds };
        // SAFETY: the C library's function of this name has this type.
        let function: extern "C-unwind" fn(c_uint) -> c_uint = unsafe { std::mem::transmute(function) };
        function(seconds)
    }

    fn usleep(microseconds: useconds_t) -> c_int {
        if sleeps(Duration::from_micros(microseconds.into())) {
            return 0;
        }
        let Some(function) = USLEEP.find() else { return -1 };
        // SAFETY: the C library's function of this name has this type.
        let function: extern "C-unwind" fn(useconds_t) -> c_int = unsafe { std::mem::transmute(function) };
        function(microseconds)
    }

    fn nanosleep(time: *const timespec, rest: *mut timespec) -> c_int {
        if read(time).is_some_and(sleeps) {
            return 0;
        }
        let Some(function) = NANOSLEEP.find() else { return -1 };
        // SAFETY: the C library's function of this name has this type.
        let function: extern "C-unwind" fn(*const timespec, *mut timespec) -> c_int =
            unsafe { std::mem::transmute(function) };
        function(time, rest)
    }

    fn clock_nanosleep(
        id: clockid_t, flags: c_int, time: *const timespec, rest: *mut timespec,
    ) -> c_int {
        let is_usual = matches!(id, libc::CLOCK_REALTIME | libc::CLOCK_MONOTONIC);
        let duration = match flags {
            _ if !is_usual => None,
            0 => read(time),
            libc::TIMER_ABSTIME => read(time).map(|time| time.saturating_sub(clock(id))),
            _ => None,
        };
        if duration.is_some_and(sleeps) {
            return 0;
        }
        sleep_in_kernel(id, flags, time, rest)
    }
}
