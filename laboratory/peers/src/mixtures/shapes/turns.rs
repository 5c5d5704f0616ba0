//! A caller that calls continuously, and another that waits for a turn.

use super::{Case, Effort, Figure, compute, ms};
use crate::runtime::Runtime;
use crate::stats::quantile;
use anyhow::Result;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

/// `starve1`: a pool of one thread, a caller of continuous joins of 1 ms, and a job that another
/// thread spawns.
pub fn spawned<R: Runtime>(effort: Effort) -> Result<Vec<Figure>> {
    let (repeats, patience) = match effort {
        Effort::Quick => (3, ms(1_000)),
        Effort::Full => (10, ms(5_000)),
    };
    let turns = (0..repeats).map(|_| turn::<R>(patience));
    let (waits, calls): (Vec<_>, Vec<_>) = turns.collect::<Result<Vec<_>>>()?.into_iter().unzip();
    let mut case = Case::new(
        "a spawned job, while another thread calls joins".to_owned(),
        1,
    );
    case.add_waits(&waits);
    case.add("calls of the other thread", "calls", quantile(&calls, 0.5));
    Ok(case.figures)
}

/// The wait of the job, at most `patience`, and the number of joins meanwhile.
fn turn<R: Runtime>(patience: Duration) -> Result<(Duration, f64)> {
    let runtime = R::new(1)?;
    // This call comes first because the first caller may get the pool's only place.
    runtime.install(|| ());
    let (tell, told) = mpsc::channel();
    let turn = std::thread::scope(|scope| {
        let runtime = &runtime;
        scope.spawn(move || {
            std::thread::sleep(ms(50));
            let called = Instant::now();
            runtime.spawn(move || {
                // A late message has no receiver.
                let _ = tell.send(called.elapsed());
            });
        });
        let (start, half) = (Instant::now(), Duration::from_micros(500));
        let mut calls = 0.0;
        loop {
            runtime.join(|| compute(half), || compute(half));
            calls += 1.0;
            match told.try_recv() {
                Ok(waited) => return (waited, calls),
                Err(_) if start.elapsed() > patience => return (patience, calls),
                Err(_) => (),
            }
        }
    });
    Ok(turn)
}

/// `starve2`: a pool of two threads with a long job. A caller continuously installs 1 ms of work,
/// and another installs an empty job every 5 ms.
pub fn calls<R: Runtime>(effort: Effort) -> Result<Vec<Figure>> {
    let time = match effort {
        Effort::Quick => ms(1_000),
        Effort::Full => ms(6_000),
    };
    let runtime = R::new(2)?;
    // Relaxed, here and below: the flag publishes no other memory.
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    runtime.spawn(move || {
        while !stopped.load(Relaxed) {
            std::thread::sleep(ms(10));
        }
    });
    std::thread::sleep(ms(100));
    let waits = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Relaxed) {
                runtime.install(|| compute(ms(1)));
            }
        });
        std::thread::sleep(ms(100));
        let (start, mut waits) = (Instant::now(), Vec::new());
        while start.elapsed() < time {
            let called = Instant::now();
            runtime.install(|| ());
            waits.push(called.elapsed());
            std::thread::sleep(ms(5));
        }
        stop.store(true, Relaxed);
        waits
    });
    let mut case = Case::new("a caller beside another that never pauses".to_owned(), 2);
    let per_second = waits.len() as f64 / time.as_secs_f64();
    case.add("calls", "/s", per_second);
    case.add_waits(&waits);
    let ms: Vec<_> = waits.iter().map(|wait| wait.as_secs_f64() * 1e3).collect();
    case.add("90% of waits", "ms", quantile(&ms, 0.9));
    Ok(case.figures)
}
