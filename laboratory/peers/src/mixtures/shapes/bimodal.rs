//! A loop that mostly has nothing to do: the time of a full call after 300 empty calls.

use super::{Case, Effort, Figure, ms};
use crate::runtime::Runtime;
use crate::stats::quantile;
use anyhow::Result;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

const EMPTY_CALLS: usize = 300;

pub fn run<R: Runtime>(effort: Effort) -> Result<Vec<Figure>> {
    let repeats = match effort {
        Effort::Quick => 2,
        Effort::Full => 5,
    };
    let mut figures = Vec::new();
    for threads in [2, 4] {
        for (n, each) in [(8, 20), (63, 3)] {
            let runtime = R::new(threads)?;
            let sleep = AtomicU64::new(0);
            // Relaxed: the call of a loop orders earlier writes before its iterations.
            let body = |_: usize| match sleep.load(Relaxed) {
                0 => (),
                some => std::thread::sleep(ms(some)),
            };
            let times: Vec<_> = (0..repeats)
                .map(|_| {
                    sleep.store(0, Relaxed);
                    (0..EMPTY_CALLS).for_each(|_| runtime.parallel_for(n, body));
                    sleep.store(each, Relaxed);
                    let start = Instant::now();
                    runtime.parallel_for(n, body);
                    start.elapsed().as_secs_f64() * 1e3
                })
                .collect();
            let serial = n as u64 * each;
            let name = format!("{n} iterations of {each} ms ({serial} ms serially)");
            let mut case = Case::new(name, threads);
            case.add("median", "ms", quantile(&times, 0.5));
            case.add("longest", "ms", quantile(&times, 1.0));
            figures.extend(case.figures);
        }
    }
    Ok(figures)
}
