//! The cost of an atomic read-modify-write for one thread alone, and for several threads on one cache line.

use super::summary::Summary;
use super::team;
use manycore_platform::{CachePadded, Native, Platform};
use serde::Serialize;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How long the threads of one sample increment the counter.
const WINDOW: Duration = Duration::from_micros(300);

/// Operations between two reads of the clock by a thread that is alone. A read takes about 10 ns, which must not affect
/// the result.
const BATCH: u64 = 256;

manycore_programs::by_name! {
    /// An operation that increments a shared counter.
    pub(crate) enum CounterOperation: "unknown operation", "expected some of" {
        FetchAndAdd = "fetch-and-add",
        /// Load, then compare-and-swap until it succeeds.
        CompareAndSwap = "compare-and-swap",
    }
}

impl CounterOperation {
    #[inline(always)]
    fn increment(self, counter: &AtomicU64) {
        match self {
            Self::FetchAndAdd => {
                counter.fetch_add(1, Ordering::Relaxed);
            }
            Self::CompareAndSwap => {
                let mut seen = counter.load(Ordering::Relaxed);
                while let Err(now) =
                    counter.compare_exchange(seen, seen + 1, Ordering::Relaxed, Ordering::Relaxed)
                {
                    seen = now;
                }
            }
        }
    }
}

/// One sample: several threads increment one counter.
#[derive(Clone, Copy, Debug)]
pub(super) struct CounterSample {
    /// Nanoseconds between two successful operations of one thread, as the mean over all threads.
    pub(super) ns_per_op: f64,
    /// Successful operations of all threads together, in millions for each second.
    pub(super) mops: f64,
}

/// Lets one thread on each of `places` increment one counter for a while.
pub(super) fn sample(
    operation: CounterOperation,
    places: &[Vec<usize>],
) -> io::Result<CounterSample> {
    let counter = CachePadded::new(AtomicU64::new(0));
    let window = Native::duration_to_ticks(WINDOW);
    let batch = (BATCH / (places.len() as u64).pow(2)).max(4);
    let runs = team::run_on::<Native, _>(places, move |_| {
        // The `match` is outside the loop, so that the loop has no branch on the operation.
        match operation {
            CounterOperation::FetchAndAdd => hammer(window, batch, || {
                CounterOperation::FetchAndAdd.increment(&counter)
            }),
            CounterOperation::CompareAndSwap => hammer(window, batch, || {
                CounterOperation::CompareAndSwap.increment(&counter)
            }),
        }
    })?;
    let ns: f64 = runs.iter().map(|run| run.ns).sum();
    let operations: f64 = runs.iter().map(|run| run.operations as f64).sum();
    let per_us: f64 = runs
        .iter()
        .map(|run| run.operations as f64 / run.ns * 1e3)
        .sum();
    Ok(CounterSample {
        ns_per_op: ns / operations,
        mops: per_us,
    })
}

struct Run {
    operations: u64,
    ns: f64,
}

#[inline(always)]
fn hammer(window: u64, batch: u64, increment: impl Fn()) -> Run {
    let start = Native::now();
    let mut operations = 0;
    loop {
        for _ in 0..batch {
            increment();
        }
        operations += batch;
        let ticks = Native::now().saturating_sub(start);
        if ticks >= window {
            return Run {
                operations,
                ns: Native::ticks_to_ns(ticks),
            };
        }
    }
}

/// The cost of an operation that several threads execute on one cache line.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct AtomicCost {
    pub(crate) operation: CounterOperation,
    pub(crate) threads: usize,
    /// The CPUs to which the threads were pinned; empty if that failed.
    pub(crate) cpus: Vec<usize>,
    /// Nanoseconds of a successful operation, for each thread.
    pub(crate) ns_per_op: Summary,
    /// Successful operations of all threads, in millions for each second.
    pub(crate) mops: Summary,
}

/// Measures both operations on every list of CPUs, in turn, `rounds` times.
pub(super) fn measure(
    teams: &[Vec<Vec<usize>>],
    rounds: usize,
    progress: &mut dyn FnMut(&str),
) -> io::Result<Vec<AtomicCost>> {
    let cells: Vec<(&Vec<Vec<usize>>, CounterOperation)> = teams
        .iter()
        .flat_map(|places| CounterOperation::ALL.map(|operation| (places, operation)))
        .collect();
    let mut samples = vec![Vec::with_capacity(rounds); cells.len()];
    for round in 0..=rounds {
        progress(&format!("atomics, round {round} of {rounds}"));
        for (&(places, operation), samples) in cells.iter().zip(&mut samples) {
            let sample = sample(operation, places)?;
            // Round 0 warms up the clocks, the caches and the threads' stacks.
            if round > 0 {
                samples.push(sample);
            }
        }
    }
    let costs = cells
        .into_iter()
        .zip(samples)
        .filter_map(|(cell, samples)| {
            let (places, operation) = cell;
            Some(AtomicCost {
                operation,
                threads: places.len(),
                cpus: places.concat(),
                ns_per_op: Summary::of(samples.iter().map(|s| s.ns_per_op).collect())?,
                mops: Summary::of(samples.iter().map(|s| s.mops).collect())?,
            })
        });
    Ok(costs.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_positive_and_agree_with_the_throughput() {
        let teams = [vec![Vec::new()], vec![Vec::new(); 2]];
        let costs = measure(&teams, 2, &mut |_| ()).unwrap();
        assert_eq!(costs.len(), 4);
        for cost in costs {
            assert!(cost.ns_per_op.median > 0.0);
            assert!(cost.mops.median > 0.0);
        }
    }
}
