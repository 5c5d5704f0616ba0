//! A rank that asks again and again, for the time or for a lock, lets another rank run.
//!
//! Such a rank (a thread of a team that workers execute) may wait for another rank: until that rank writes a word, but
//! not beyond a deadline, or until it frees a lock. A cut does not find this out ([`waits`](super::waits)), since the
//! time is another one in each turn of the loop. So the rank leaves its worker after [`MOST`] questions, if they came
//! so fast that the rank did little else.
//!
//! This file defines the functions of the C library that tell the time. A program that finds this library before the C
//! library calls the functions here. The limits of [`yields`] on when a rank leaves hold here too. This library itself
//! calls these functions on a rank only where the rank may leave: in functions that it exports.

use super::yields;
use crate::system::export;
use crate::system::next::{self, Next};
use manycore_platform::{Native, Platform};
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// The questions of a rank before it lets another rank run.
const MOST: u32 = 64;

/// The longest time of a question, besides [`COST`]: some 30 ns to read a clock, and the rest for the turn of the loop.
const EACH: Duration = Duration::from_nanos(300);

/// The ticks of the fastest of a few reads of a clock. A read takes long where it is a call of the kernel. Accesses are
/// relaxed: a wrong value changes only when a rank leaves.
static COST: AtomicU64 = AtomicU64::new(0);

/// The questions of one rank. Only the rank itself uses them. A signal handler that asks in between can change only
/// when the rank leaves.
pub(super) struct Questions {
    count: Cell<u32>,
    /// When the count began, in ticks.
    since: Cell<u64>,
}

impl Questions {
    pub(super) const fn new() -> Self {
        Self {
            count: Cell::new(0),
            since: Cell::new(0),
        }
    }

    /// Counts a question. After each [`MOST`] questions, returns the ticks that these took.
    fn ask(&self, now: impl Fn() -> u64) -> Option<u64> {
        let count = (self.count.get() + 1) % MOST;
        self.count.set(count);
        if count != 0 {
            return None;
        }
        let now = now();
        Some(now.saturating_sub(self.since.replace(now)))
    }
}

static CLOCK_GETTIME: Next = Next::new(c"clock_gettime");
static GETTIMEOFDAY: Next = Next::new(c"gettimeofday");
static TIME: Next = Next::new(c"time");
static TIMESPEC_GET: Next = Next::new(c"timespec_get");

/// Finds these functions of the C library, and measures a read of a clock.
pub(super) fn find() {
    for function in [&CLOCK_GETTIME, &GETTIMEOFDAY, &TIME, &TIMESPEC_GET] {
        function.find();
    }
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let mut cost = || {
        let began = Native::now();
        read(libc::CLOCK_MONOTONIC, &raw mut time);
        Native::now().saturating_sub(began)
    };
    let least = cost().min(cost()).min(cost());
    COST.store(least, Relaxed);
}

/// Reads a clock. The rank does not leave. If there is no such clock, returns -1, as the C library does.
pub(super) fn read(clock: libc::clockid_t, time: *mut libc::timespec) -> c_int {
    match CLOCK_GETTIME.find() {
        Some(function) => {
            type Read = unsafe extern "C" fn(libc::clockid_t, *mut libc::timespec) -> c_int;
            // SAFETY: the C library's function of this name has this type. The caller passes room for a time.
            unsafe { std::mem::transmute::<*mut c_void, Read>(function.as_ptr())(clock, time) }
        }
        None => {
            let arguments = [clock as usize, time.addr(), 0, 0, 0, 0];
            // SAFETY: as above.
            unsafe { next::syscall(libc::SYS_clock_gettime, arguments) as c_int }
        }
    }
}

export! {
    fn clock_gettime(clock: libc::clockid_t, time: *mut libc::timespec) -> c_int {
        // Negative numbers and the numbers 2 and 3 are clocks of processor time.
        if !matches!(clock, ..0 | 2 | 3) {
            ask();
        }
        read(clock, time)
    }

    fn gettimeofday(time: *mut libc::timeval, zone: *mut c_void) -> c_int {
        ask();
        type Read = unsafe extern "C" fn(*mut libc::timeval, *mut c_void) -> c_int;
        // SAFETY: the C library's function of this name has this type. The program passes what it requires.
        unsafe { std::mem::transmute::<*mut c_void, Read>(GETTIMEOFDAY.get())(time, zone) }
    }

    fn time(time: *mut libc::time_t) -> libc::time_t {
        ask();
        type Read = unsafe extern "C" fn(*mut libc::time_t) -> libc::time_t;
        // SAFETY: as above.
        unsafe { std::mem::transmute::<*mut c_void, Read>(TIME.get())(time) }
    }

    fn timespec_get(time: *mut libc::timespec, base: c_int) -> c_int {
        ask();
        type Read = unsafe extern "C" fn(*mut libc::timespec, c_int) -> c_int;
        // SAFETY: as above.
        unsafe { std::mem::transmute::<*mut c_void, Read>(TIMESPEC_GET.get())(time, base) }
    }
}

/// The program asks for the time, or tries to take a lock.
#[inline]
pub(crate) fn ask() {
    let Some(rank) = yields::rank() else {
        return;
    };
    let Some(took) = rank.questions.ask(Native::now) else {
        return;
    };
    let each = 3 * COST.load(Relaxed) + Native::duration_to_ticks(EACH);
    if took <= u64::from(MOST) * each {
        // If no other rank can continue, this rank goes on.
        yields::pass();
        // The time away is no question's.
        rank.questions.since.set(Native::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ticks that each [`MOST`] questions take, if one question comes in each of `count` ticks.
    fn took(count: u64) -> Vec<u64> {
        let questions = Questions::new();
        let asked = (1..=count).filter_map(|at| questions.ask(|| 1_000 + at));
        asked.collect()
    }

    #[test]
    fn questions_are_timed_together() {
        assert!(took(63).is_empty());
        // The first count began at no known time.
        assert_eq!(took(3 * 64 + 63), [1_064, 64, 64]);
    }

    #[test]
    fn clocks_tell_the_time() {
        let mut by = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let mut of_day = libc::timeval {
            tv_sec: 0,
            tv_usec: 0,
        };
        assert_eq!(clock_gettime(libc::CLOCK_REALTIME, &raw mut by), 0);
        assert_eq!(gettimeofday(&raw mut of_day, std::ptr::null_mut()), 0);
        let now = time(std::ptr::null_mut());
        // `time` may be a tick behind the other clocks.
        assert!(by.tv_sec > 1_000_000_000 && of_day.tv_sec >= by.tv_sec && now + 1 >= by.tv_sec);
        // `TIME_UTC` is 1.
        assert_eq!(timespec_get(&raw mut by, 1), 1);
        assert!(by.tv_sec >= of_day.tv_sec);
        assert_eq!(clock_gettime(1 << 20, &raw mut by), -1);
    }
}
