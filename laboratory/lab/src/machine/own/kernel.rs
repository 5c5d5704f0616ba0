//! The prices of the operating system.

use crate::machine::team;
use manycore_platform::{Futex, Native, Platform, ThreadSpec};
use std::io;
use std::time::Duration;

type Word = <Native as Platform>::Futex;

/// Calls in one sample of a short system call.
const CALLS: u32 = 200;

fn timed(work: impl FnOnce()) -> f64 {
    let start = Native::now();
    work();
    Native::ticks_to_ns(Native::now().saturating_sub(start))
}

/// Returns the nanoseconds of a system call that does almost nothing.
#[cfg(unix)]
pub(super) fn short_call() -> f64 {
    // SAFETY: the call has no arguments and always succeeds.
    let call = |_| _ = unsafe { libc::getppid() };
    timed(|| (0..CALLS).for_each(call)) / f64::from(CALLS)
}

#[cfg(not(unix))]
pub(super) fn short_call() -> f64 {
    yield_alone()
}

/// Returns the nanoseconds of a yield on a CPU where no other thread waits.
fn yield_alone() -> f64 {
    timed(|| (0..CALLS).for_each(|_| Native::yield_now())) / f64::from(CALLS)
}

/// Returns the nanoseconds of a futex wait that finds a different value, and so does not sleep.
pub(super) fn refused_wait() -> f64 {
    let word = Word::new(0);
    timed(|| (0..CALLS).for_each(|_| word.wait(1, None))) / f64::from(CALLS)
}

/// Returns the nanoseconds of a yield on a CPU that two threads share, so that each yield switches threads.
pub(super) fn yield_shared(cpu: &[usize]) -> io::Result<f64> {
    let places = [cpu.to_vec(), cpu.to_vec()];
    let times = team::run_on::<Native, _>(&places, |_| yield_alone())?;
    // The threads take turns, so each of the two times covers the yields of both threads: two yields for each yield of
    // its own. Hence the mean of the two times, divided by 2.
    Ok(times.iter().sum::<f64>() / 4.0)
}

/// Returns the nanoseconds that a thread spends to start another thread.
pub(super) fn spawn() -> io::Result<f64> {
    let mut thread = None;
    let ns = timed(|| thread = Some(Native::spawn(ThreadSpec::default(), Box::new(|| ()))));
    if let Some(thread) = thread {
        Native::join(thread?);
    }
    Ok(ns)
}

/// Returns the nanoseconds of a heavy fence while a thread of the process runs on another core.
pub(super) fn heavy_fence(places: &[Vec<usize>]) -> io::Result<f64> {
    let [begin, spin] = [100, 300].map(|us| Native::duration_to_ticks(Duration::from_micros(us)));
    let times = team::run_on::<Native, _>(places, move |rank| {
        let start = Native::now();
        let runs_for = |ticks| while Native::now().saturating_sub(start) < ticks {};
        if rank > 0 {
            runs_for(spin);
            return 0.0;
        }
        // By then the other thread runs too. It makes no fence, which this one would wait for in the kernel.
        runs_for(begin);
        timed(Native::heavy_fence)
    })?;
    Ok(times[0])
}

/// Runs two threads on one CPU. Returns the nanoseconds of each turn: how long a thread ran before the system switched
/// to the other thread.
pub(super) fn slices(cpu: &[usize]) -> io::Result<Vec<f64>> {
    let places = [cpu.to_vec(), cpu.to_vec()];
    let window = Native::duration_to_ticks(Duration::from_millis(100));
    let gap = Native::duration_to_ticks(Duration::from_micros(500));
    let turns = team::run_on::<Native, _>(&places, move |_| {
        let (begin, mut turns) = (Native::now(), Vec::new());
        let (mut since, mut last) = (begin, begin);
        while last.saturating_sub(begin) < window {
            let now = Native::now();
            if now.saturating_sub(last) > gap {
                turns.push(Native::ticks_to_ns(last.saturating_sub(since)));
                since = now;
            }
            last = now;
        }
        turns
    })?;
    // A thread that runs for less than 0.1 ms has only interrupted a turn of the other thread. That is not a turn.
    Ok(turns.concat().into_iter().filter(|&ns| ns > 1e5).collect())
}

/// Returns the nanoseconds of each interruption of this thread within 50 ms. Only interruptions of 0.5 to 50 us count,
/// since clock interrupts take that long.
pub(super) fn interruptions() -> Vec<f64> {
    let window = Native::duration_to_ticks(Duration::from_millis(50));
    let begin = Native::now();
    let (mut last, mut found) = (begin, Vec::new());
    while last.saturating_sub(begin) < window {
        let now = Native::now();
        let ns = Native::ticks_to_ns(now.saturating_sub(last));
        if (500.0..50_000.0).contains(&ns) {
            found.push(ns);
        }
        last = now;
    }
    found
}

/// Returns the nanoseconds between two clock interrupts, which is the resolution of the system's coarse clock.
#[cfg(target_os = "linux")]
pub(super) fn tick() -> f64 {
    let tick = rustix::time::clock_getres(rustix::time::ClockId::RealtimeCoarse);
    tick.tv_sec as f64 * 1e9 + tick.tv_nsec as f64
}

#[cfg(not(target_os = "linux"))]
pub(super) fn tick() -> f64 {
    4e6
}

/// Returns the nanoseconds by which the system may delay the end of a sleep.
pub(super) fn timer_slack() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/timerslack_ns").ok()?;
    text.trim().parse().ok()
}
