//! A rank that asks again and again, for the time or for a lock, lets another rank run.
//!
//! Such a rank (a thread of a team that workers execute) may wait for another rank: until that rank writes a word, but
//! not beyond a deadline, or until it frees a lock. A cut does not find this out ([`waits`](super::waits)), since the
//! time is another one in each turn of the loop. So the rank leaves its worker after [`MOST`] questions, if they came
//! so fast that the rank did little else. If the rank was away meanwhile, that time counts too, and the rank leaves
//! after the next [`MOST`]. `clock_gettime` and `gettimeofday` are defined here, in front of those of the C library,
//! for programs that preload this library. The limits of [`yields`] on when a rank leaves hold here too.
//!
//! This library itself asks a rank's clocks only in the functions that it exports, where the rank may leave.

use super::yields;
use crate::system::export;
use crate::system::next::{self, Next};
use manycore_platform::{Native, Platform};
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::time::Duration;

/// The questions of a rank before it lets another rank run.
const MOST: u32 = 64;

/// The longest time of these questions. Each takes some 30 ns, and twice as long under an emulator.
const TOGETHER: Duration = Duration::from_micros(20);

/// The questions of one rank since its count was last [`MOST`]. Only the rank itself uses them. A signal handler that
/// asks in between can change only when the rank leaves.
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

    /// Counts a question. Returns whether the rank asks again and again.
    fn ask(&self, now: impl Fn() -> u64, together: u64) -> bool {
        let count = (self.count.get() + 1) % MOST;
        self.count.set(count);
        if count != 0 {
            return false;
        }
        let now = now();
        let took = now.saturating_sub(self.since.replace(now));
        took <= together
    }
}

static CLOCK_GETTIME: Next = Next::new(c"clock_gettime");
static GETTIMEOFDAY: Next = Next::new(c"gettimeofday");

/// Finds the clocks of the C library.
pub(super) fn find() {
    for function in [&CLOCK_GETTIME, &GETTIMEOFDAY] {
        function.find();
    }
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
}

/// The program asks for the time, or tries to take a lock.
#[inline]
pub(crate) fn ask() {
    let Some(rank) = yields::rank() else {
        return;
    };
    if rank
        .questions
        .ask(Native::now, Native::duration_to_ticks(TOGETHER))
    {
        // If no other rank can continue, this rank goes on.
        yields::pass();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of times that a rank leaves if it asks `count` times, each `each` ticks after the last.
    fn leaves(count: u64, each: u64) -> usize {
        let questions = Questions::new();
        let asks = |at: &u64| questions.ask(|| at * each, 1_000);
        (1_000..1_000 + count).filter(asks).count()
    }

    #[test]
    fn a_rank_that_only_asks_leaves_and_a_rank_that_computes_does_not() {
        // The first count began at no known time.
        assert_eq!(leaves(64 * 10, 15), 9);
        assert_eq!(leaves(64 * 10, 16), 0);
        assert_eq!(leaves(63, 0), 0);
    }
}
