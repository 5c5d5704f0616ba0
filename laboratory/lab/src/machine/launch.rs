//! The cost of starting a loop right after another loop, and of starting it after the caller has done other work.

use super::summary::Summary;
use super::team;
use manycore::{Affinity, Pool};
use manycore_platform::{Native, Platform};
use serde::Serialize;
use std::hint::black_box;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// How long each thread's task lasts.
const TASK_NS: f64 = 10_000.0;

/// The number of empty loops that are timed together, since one loop is too short for the clock's resolution.
const EMPTY_BATCH: u32 = 64;

/// The caller's activity between two loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Before {
    /// No activity: the next loop starts at once.
    Hot,
    /// Works for a millisecond without the pool.
    Busy1Ms,
    /// Sleeps for ten milliseconds.
    Sleep10Ms,
}

impl Before {
    const ALL: [Self; 3] = [Self::Hot, Self::Busy1Ms, Self::Sleep10Ms];

    fn pass(self) {
        match self {
            Self::Hot => {}
            Self::Busy1Ms => {
                let end = Native::now() + Native::duration_to_ticks(Duration::from_millis(1));
                while Native::now() < end {}
            }
            Self::Sleep10Ms => std::thread::sleep(Duration::from_millis(10)),
        }
    }

    /// The number of loops before the first timed loop. The pool predicts gaps from earlier gaps.
    fn untimed(self) -> u32 {
        match self {
            Self::Hot => 50,
            Self::Busy1Ms => 4,
            Self::Sleep10Ms => 2,
        }
    }

    fn timed(self) -> u32 {
        match self {
            Self::Hot => 16,
            Self::Busy1Ms => 6,
            Self::Sleep10Ms => 3,
        }
    }
}

/// The cost of starting a loop.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct LaunchCost {
    pub(crate) threads: usize,
    pub(crate) before: Before,
    /// Nanoseconds of a loop with one empty iteration for each thread.
    pub(crate) empty_ns: Summary,
    /// Nanoseconds of a loop with one task of 10 us for each thread, minus the time of one such task alone.
    pub(crate) overhead_ns: Summary,
}

/// A pool to be measured, and the CPU of its caller.
pub(super) struct Crew {
    pub(super) threads: usize,
    pub(super) affinity: Affinity,
    pub(super) caller: Vec<usize>,
}

#[derive(Clone, Default)]
struct LaunchSamples {
    empty: Vec<f64>,
    overhead: Vec<f64>,
}

/// Measures pools of the given sizes in turn, `rounds` times.
pub(super) fn measure(
    crews: &[Crew],
    rounds: usize,
    progress: &mut dyn FnMut(&str),
) -> io::Result<Vec<LaunchCost>> {
    let work = LaunchWork::calibrate();
    let cells: Vec<(&Crew, Before)> = crews
        .iter()
        .flat_map(|crew| Before::ALL.map(|before| (crew, before)))
        .collect();
    let mut samples = vec![LaunchSamples::default(); cells.len()];
    for round in 0..=rounds {
        progress(&format!("loop launch, round {round} of {rounds}"));
        for (&(crew, before), samples) in cells.iter().zip(&mut samples) {
            let taken = launch(crew, before, work)?;
            if round > 0 {
                samples.empty.extend(taken.empty);
                samples.overhead.extend(taken.overhead);
            }
        }
    }
    let costs = cells.into_iter().zip(samples);
    let costs = costs.filter_map(|((crew, before), samples)| {
        Some(LaunchCost {
            threads: crew.threads,
            before,
            empty_ns: Summary::of(samples.empty)?,
            overhead_ns: Summary::of(samples.overhead)?,
        })
    });
    Ok(costs.collect())
}

/// Measures one pool. The pool ends with this call, so that its workers disturb no other measurement. The loops start
/// from a thread that is pinned to the caller's CPU.
fn launch(crew: &Crew, before: Before, work: LaunchWork) -> io::Result<LaunchSamples> {
    // This thread is not pinned. Workers that a pinned thread starts would inherit its CPU.
    let pool = Pool::builder()
        .threads(crew.threads)
        .affinity(crew.affinity.clone())
        .build()
        .map_err(io::Error::other)?;
    let pool = Arc::new(pool);
    let taken = team::run_on::<Native, _>(std::slice::from_ref(&crew.caller), move |_| {
        let alone = work.alone();
        let tasks = || pool.parallel_for(0..pool.threads(), |_| work.run());
        let batch = match before {
            Before::Hot => EMPTY_BATCH,
            _ => 1,
        };
        let empty = || {
            for _ in 0..batch {
                pool.parallel_for(0..pool.threads(), |index| {
                    black_box(index);
                });
            }
        };
        LaunchSamples {
            empty: time(before, empty)
                .map(|ns| ns / f64::from(batch))
                .collect(),
            overhead: time(before, tasks).map(|ns| ns - alone).collect(),
        }
    })?;
    taken
        .into_iter()
        .next()
        .ok_or_else(|| io::Error::other("no measurement came back"))
}

/// Returns the nanoseconds of each timed run.
fn time(before: Before, run: impl Fn()) -> impl Iterator<Item = f64> {
    for _ in 0..before.untimed() {
        before.pass();
        run();
    }
    (0..before.timed()).map(move |_| {
        before.pass();
        let start = Native::now();
        run();
        Native::ticks_to_ns(Native::now().saturating_sub(start))
    })
}

/// A chain of arithmetic that a compiler can neither fold nor drop.
#[derive(Clone, Copy)]
struct LaunchWork {
    steps: u32,
}

impl LaunchWork {
    /// Finds the number of steps that take [`TASK_NS`] in the fastest of some runs.
    fn calibrate() -> Self {
        let probe = Self { steps: 20_000 };
        Self {
            steps: (f64::from(probe.steps) * TASK_NS / probe.fastest()) as u32,
        }
    }

    #[inline(never)]
    fn run(self) {
        let mut state = black_box(0x9E37_79B9_7F4A_7C15_u64);
        for _ in 0..self.steps {
            state = (state ^ (state >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        }
        black_box(state);
    }

    fn timed(self) -> f64 {
        let start = Native::now();
        self.run();
        Native::ticks_to_ns(Native::now().saturating_sub(start))
    }

    fn fastest(self) -> f64 {
        (0..32).map(|_| self.timed()).fold(f64::INFINITY, f64::min)
    }

    /// Returns the nanoseconds of the task alone on this thread.
    fn alone(self) -> f64 {
        let runs: Vec<f64> = (0..15).map(|_| self.timed()).collect();
        Summary::of(runs).map_or(TASK_NS, |summary| summary.median)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_task_lasts_about_as_long_as_it_should() {
        // The range is wide, since this test runs side by side with others.
        let alone = LaunchWork::calibrate().alone();
        assert!((TASK_NS / 4.0..TASK_NS * 20.0).contains(&alone), "{alone}");
    }
}
