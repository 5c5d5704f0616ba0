//! Short sleeps: a rank that sleeps leaves its worker to others meanwhile.
//!
//! It waits for a time, as for any other condition: [`Polled`](super::ownership::Polled) has the time, so that a worker that
//! finds nothing else sleeps until then and no longer.
//!
//! Long sleeps are left to the kernel, at the rank's [home](super::home). The kernel ends them early where a signal's handler has run: a program may sleep for as long
//! as a handler of its own takes to come. A sleep of some milliseconds ends soon enough by itself.

use super::blocking;
use super::yields;
use crate::system::export;
use crate::system::next::Next;
use libc::{clockid_t, timespec, useconds_t};
use manycore_platform::{Native, Platform};
use std::ffi::{c_int, c_long, c_uint};
use std::ptr;
use std::time::Duration;

/// Shorter sleeps are short: the watch does nothing about those before they end.
const SHORT: Duration = super::division::STALL;

static SLEEP: Next = Next::new(c"sleep");
static USLEEP: Next = Next::new(c"usleep");
static NANOSLEEP: Next = Next::new(c"nanosleep");
static CLOCK_NANOSLEEP: Next = Next::new(c"clock_nanosleep");

/// The functions behind these are looked for.
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
    // SAFETY: writes the time; for a clock that there is not, it stays 0.
    unsafe { libc::clock_gettime(id, &raw mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// A time of the program's, if it is one.
fn read(time: *const timespec) -> Option<Duration> {
    // SAFETY: null, or the program's.
    let time = unsafe { time.as_ref() }?;
    let is_time = time.tv_sec >= 0 && (0..1_000_000_000).contains(&time.tv_nsec);
    is_time.then(|| Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
}

/// The caller sleeps for so long as a rank, if it is one, and if that is short. Returns what is left.
fn doze(duration: Duration) -> Option<Duration> {
    yields::rank()?;
    if duration >= SHORT {
        blocking::go_home();
        return None;
    }
    if duration.is_zero() {
        // After a full round the sleep is the kernel's. A worker that never sleeps has used up its share, so that another process would
        // take its core for whole time slices.
        return yields::pass().then_some(duration);
    }
    yields::leave(|rank| {
        let since = clock(libc::CLOCK_MONOTONIC);
        let end = Native::now() + Native::duration_to_ticks(duration);
        rank.polled.set_time(end);
        rank.worker().let_others_first();
        rank.leave_until(&|| Native::now() >= end);
        rank.polled.set(false);
        // By the clock that the program looks at.
        let slept = clock(libc::CLOCK_MONOTONIC).saturating_sub(since);
        Some(duration.saturating_sub(slept))
    })
}

/// The same to the end.
fn sleeps(duration: Duration) -> bool {
    match doze(duration) {
        None => false,
        Some(Duration::ZERO) => true,
        Some(rest) => {
            let rest = timespec {
                tv_sec: 0,
                tv_nsec: rest.subsec_nanos() as c_long,
            };
            // Some microseconds: the two clocks differ.
            sleep_in_kernel(libc::CLOCK_MONOTONIC, 0, &raw const rest, ptr::null_mut());
            true
        }
    }
}

/// Returns an error's number, as `clock_nanosleep` does.
fn sleep_in_kernel(
    id: clockid_t,
    flags: c_int,
    time: *const timespec,
    rest: *mut timespec,
) -> c_int {
    type Function = extern "C" fn(clockid_t, c_int, *const timespec, *mut timespec) -> c_int;
    if let Some(function) = CLOCK_NANOSLEEP.find() {
        // SAFETY: it is the function of this name.
        let function: Function = unsafe { std::mem::transmute(function) };
        return function(id, flags, time, rest);
    }
    libc::ENOSYS
}

export! {
    fn sleep(seconds: c_uint) -> c_uint {
        if seconds > 0 {
            blocking::go_home();
        }
        let Some(function) = SLEEP.find() else { return seconds };
        // SAFETY: it is the function of this name.
        let function: extern "C" fn(c_uint) -> c_uint = unsafe { std::mem::transmute(function) };
        function(seconds)
    }

    fn usleep(microseconds: useconds_t) -> c_int {
        if sleeps(Duration::from_micros(microseconds.into())) {
            return 0;
        }
        let Some(function) = USLEEP.find() else { return -1 };
        // SAFETY: it is the function of this name.
        let function: extern "C" fn(useconds_t) -> c_int = unsafe { std::mem::transmute(function) };
        function(microseconds)
    }

    fn nanosleep(time: *const timespec, rest: *mut timespec) -> c_int {
        if read(time).is_some_and(sleeps) {
            return 0;
        }
        let Some(function) = NANOSLEEP.find() else { return -1 };
        // SAFETY: it is the function of this name.
        let function: extern "C" fn(*const timespec, *mut timespec) -> c_int =
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
