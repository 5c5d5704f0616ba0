//! Measures every policy of a cell on this host, in turns.
//!
//! A host changes its speed and is disturbed by other processes. Each round therefore runs every policy once, in random
//! order, in a pool of its own. All policies thus see the same host, and their medians over rounds are compared.

use super::cell::Policy;
use super::config::SleepConfig;
use super::measured::{MeasuredPolicies, SleepSample};
use super::pool::{self, Erased};
use crate::measure::progress::Progress;
use crate::measure::{cpu_time, disturbance, interrupt};
use crate::study::trial::CellRecord;
use anyhow::{Context, anyhow};
use manycore::Native;
use manycore_programs::fork::{Kernel, Prepared};
use std::time::{Duration, Instant};

/// With fewer rounds a median says nothing.
const FEWEST_ROUNDS: usize = 3;
/// The number of runs in the document (Fontena's experiment).
const MOST_ROUNDS: usize = 30;

/// Adds rounds to `measured` until the cell has enough rounds, its `share` of the time is spent, or ctrl-C is pressed.
pub(super) fn measure(
    config: &SleepConfig,
    measured: &mut MeasuredPolicies,
    share: Duration,
    progress: &Progress,
) -> anyhow::Result<()> {
    let begin = Instant::now();
    let cell = measured.cell;
    let what = cell.to_string();
    let mut kernel = cell.algorithm.prepare(config.seed, config.size);
    let spent = measured.seconds;
    let mut random = fastrand::Rng::with_seed(config.seed ^ measured.runs() as u64);
    let mut order: Vec<usize> = (0..measured.policies.len()).collect();
    let (fewest, most) = match config.runs {
        Some(runs) => (runs as usize, runs as usize),
        None => (FEWEST_ROUNDS, MOST_ROUNDS),
    };
    let enough = |rounds| rounds >= most || rounds >= fewest && begin.elapsed() >= share;
    while !enough(measured.runs()) {
        let round = measured.runs();
        random.shuffle(&mut order);
        let mut runs = vec![SleepSample::default(); order.len()];
        for (done, &at) in order.iter().enumerate() {
            let policy = &measured.policies[at].policy;
            let sample = run(&mut kernel, policy, cell.threads, round == 0);
            runs[at] = sample.with_context(|| format!("sleep, {cell}: {policy}"))?;
            if interrupt::asked() {
                // Only whole rounds count.
                measured.seconds = spent + begin.elapsed().as_secs_f64();
                return Ok(());
            }
            let part = round as f64 + done as f64 / order.len() as f64;
            progress.inside(&what, part / most as f64);
        }
        for (samples, run) in measured.policies.iter_mut().zip(runs) {
            samples.runs.push(run);
        }
    }
    measured.seconds = spent + begin.elapsed().as_secs_f64();
    measured.complete = true;
    Ok(())
}

/// Times one run in a pool of its own, after a warm-up run. Verifies the answer if `audited`.
fn run(
    kernel: &mut Prepared,
    policy: &Policy,
    threads: usize,
    audited: bool,
) -> anyhow::Result<SleepSample> {
    let pool = pool::native(policy, threads)?;
    let mut run = || {
        kernel.reset();
        let start = Instant::now();
        pool.install(&mut || kernel.run(&Erased::<Native>::new(&*pool)));
        start.elapsed()
    };
    run();
    let (before, waited) = (pool.tally(), disturbance::waited());
    let on_cpu = cpu_time::of_process();
    let time = run();
    let on_cpu = cpu_time::of_process() - on_cpu;
    let after = pool.tally();
    let waited = disturbance::waited().zip(waited);
    if audited {
        kernel
            .verify()
            .map_err(|wrong| anyhow!("the answer is wrong: {wrong}"))?;
    }
    let us = |time: Duration| time.as_secs_f64() * 1e6;
    Ok(SleepSample {
        order: 0,
        time: us(time),
        cpu_time: us(on_cpu),
        waited: waited.map_or(0.0, |(after, before)| us(after.saturating_sub(before))),
        sleeps: after.sleeps - before.sleeps,
        wakeups: after.wakeups - before.wakeups,
        recovered: after.recovered - before.recovered,
    })
}
