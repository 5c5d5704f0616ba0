//! A periodic loop on a pool of two threads, with another call between two loops: the time until
//! the second thread takes part in that call.

use super::{Case, Effort, Figure, ms, sleep_until};
use crate::mixtures::meeting::Meeting;
use crate::runtime::Runtime;
use anyhow::Result;
use std::sync::mpsc;
use std::time::{Duration, Instant};

const THREADS: usize = 2;
/// A longer wait is not due to the operating system's scheduling.
const LONG: Duration = Duration::from_millis(8);

/// The shape `deaf`: a join of two jobs that wait for each other, some time after the loop's end.
pub fn join<R: Runtime>(effort: Effort) -> Result<Vec<Figure>> {
    let full = [
        (50, 0),
        (50, 25),
        (50, 38),
        (200, 100),
        (200, 180),
        (400, 380),
        (1000, 990),
    ];
    let mut figures = Vec::new();
    for (period, after) in cases(effort, &full) {
        let runtime = R::new(THREADS)?;
        let waits = rhythm(&runtime, period, repeats(effort, period), 2, |_| {
            std::thread::sleep(ms(after));
            let meeting = Meeting::call(Duration::from_secs(2));
            runtime.join(|| meeting.attend(), || meeting.attend());
            meeting.waited()
        });
        let name = format!("loop every {period} ms, join {after} ms after it");
        let mut case = Case::new(name, THREADS);
        case.add_waits(&waits);
        let long = waits.iter().filter(|wait| **wait > LONG).count();
        let share = long as f64 / waits.len() as f64;
        case.add("waits above 8 ms", "of 1", share);
        figures.extend(case.figures);
    }
    Ok(figures)
}

/// The shape `spawn`: a detached job, some time after the loop's start.
pub fn spawn<R: Runtime>(effort: Effort) -> Result<Vec<Figure>> {
    let full = [(20, 8), (50, 10), (200, 50)];
    let mut figures = Vec::new();
    for (period, after) in cases(effort, &full) {
        let runtime = R::new(THREADS)?;
        let waits = rhythm(&runtime, period, repeats(effort, period), 1, |begin| {
            sleep_until(begin + ms(after));
            let (tell, told) = mpsc::channel();
            let called = Instant::now();
            runtime.spawn(move || {
                // The caller waits for this message.
                let _ = tell.send(called.elapsed());
            });
            told.recv().expect("the job is run once")
        });
        let name = format!("loop every {period} ms, spawn {after} ms after it begins");
        let mut case = Case::new(name, THREADS);
        case.add_waits(&waits);
        figures.extend(case.figures);
    }
    Ok(figures)
}

/// Every `period` ms, runs a loop of four iterations that sleep `long` ms, then calls `between`
/// with the loop's start.
fn rhythm<R: Runtime>(
    runtime: &R,
    period: u64,
    repeats: u64,
    long: u64,
    between: impl Fn(Instant) -> Duration,
) -> Vec<Duration> {
    let once = |_| {
        let begin = Instant::now();
        runtime.parallel_for(4, |_| std::thread::sleep(ms(long)));
        let wait = between(begin);
        sleep_until(begin + ms(period));
        wait
    };
    (0..repeats).map(once).collect()
}

fn cases(effort: Effort, full: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let short = |&&(period, _): &&(u64, u64)| effort == Effort::Full || period <= 50;
    full.iter().filter(short).copied().collect()
}

fn repeats(effort: Effort, period: u64) -> u64 {
    match effort {
        Effort::Quick => 10,
        Effort::Full => 24.min(9_000 / period),
    }
}
