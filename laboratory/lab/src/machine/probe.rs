//! Programs that measure one operation. The same programs run on this host and on a simulated machine.

use super::team;
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Ordering, Platform};
use std::io;
use std::time::Duration;

/// How long threads repeat an operation in one sample.
const WINDOW: Duration = Duration::from_micros(300);

/// Operations between two reads of the clock.
const BATCH: u64 = 32;

/// Instructions of the loop around an operation.
const LOOP: u64 = 2;

/// Round trips in one sample.
const HANDOVERS: u64 = 1_000;

/// Lets all threads repeat an operation. Returns the mean nanoseconds of one operation of a thread.
pub(super) fn repeated<P: Platform>(
    places: &[Vec<usize>],
    operation: impl Fn(usize) + Send + Sync + 'static,
) -> io::Result<f64> {
    let threads = team::run_on::<P, _>(places, move |rank| window::<P>(|| operation(rank)))?;
    Ok(mean(&threads))
}

/// Repeats an operation for a window. Returns the number of operations, and the nanoseconds of all.
fn window<P: Platform>(mut operation: impl FnMut()) -> (f64, f64) {
    let window = P::duration_to_ticks(WINDOW);
    let start = P::now();
    let mut done = 0;
    loop {
        for _ in 0..BATCH {
            operation();
            P::compute(LOOP);
        }
        done += BATCH;
        let ticks = P::now().saturating_sub(start);
        if ticks >= window {
            return (done as f64, P::ticks_to_ns(ticks));
        }
    }
}

/// The mean nanoseconds of one operation over all threads. `threads` has each thread's operations and nanoseconds.
fn mean(threads: &[(f64, f64)]) -> f64 {
    let sum = |of: fn(&(f64, f64)) -> f64| threads.iter().map(of).sum::<f64>();
    sum(|thread| thread.1) / sum(|thread| thread.0)
}

/// Several threads' additions to one word.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Increments {
    /// The nanoseconds of one addition.
    pub(super) ns: f64,
    /// The mean number of additions that a thread does in a row before another thread's addition comes between.
    pub(super) run: f64,
}

/// Several threads add to one word by fetch-and-add.
pub(super) fn increments<P: Platform>(places: &[Vec<usize>]) -> io::Result<Increments> {
    let word = CachePadded::new(P::AtomicU64::new(0));
    let threads = team::run_on::<P, _>(places, move |_| {
        let (mut next, mut runs) = (u64::MAX, 0);
        let measured = window::<P>(|| {
            let found = word.fetch_add(1, Ordering::Relaxed);
            runs += u64::from(found != next);
            next = found + 1;
        });
        (measured, runs)
    })?;
    let windows: Vec<(f64, f64)> = threads.iter().map(|thread| thread.0).collect();
    let all: f64 = windows.iter().map(|thread| thread.0).sum();
    let runs: u64 = threads.iter().map(|thread| thread.1).sum();
    Ok(Increments {
        ns: mean(&windows),
        run: all / runs as f64,
    })
}

/// Two threads take turns on one word. Returns the nanoseconds from a write to the other thread's write. Native
/// threads wait without a pause instruction.
pub(super) fn handover<P: Platform>(places: &[Vec<usize>]) -> io::Result<f64> {
    let word = CachePadded::new(P::AtomicU64::new(0));
    let times = team::run_on::<P, _>(places, move |rank| {
        let start = P::now();
        for turn in 0..HANDOVERS {
            let mine = 2 * turn + rank as u64;
            // Acquire and release are the orderings of a program that hands data over.
            while word.load(Ordering::Acquire) != mine {}
            word.store(mine + 1, Ordering::Release);
        }
        P::ticks_to_ns(P::now().saturating_sub(start))
    })?;
    Ok(times[0] / (2 * HANDOVERS) as f64)
}
