//! Measures one cell on a simulated machine. Every policy under every order of events is a separate simulation. The
//! host's cores share the simulations.

use super::cell::{Policy, SleepCell};
use super::config::SleepConfig;
use super::measured::{Line, MeasuredPolicies, SleepSample};
use super::pool::{self, Erased};
use crate::instrument;
use crate::measure::journal;
use crate::measure::progress::Progress;
use crate::study::chip::Chip;
use crate::study::order;
use crate::study::trial::simulate_policies;
use crate::threads::start;
use anyhow::{Context, anyhow};
use manycore::Pool;
use manycore_chip::{Simulated, Simulation};
use manycore_platform::Platform;
use manycore_programs::fork::{Kernel, Size};
use std::sync::mpsc;

/// Bytes of a simulated thread's stack. A thread that waits runs stolen work on top of its waiting frames.
const STACK: usize = 4 << 20;

/// Simulates every policy of `measured`'s cell. The results do not depend on the number of threads of `host`.
pub(super) fn measure(
    config: &SleepConfig,
    chip: &Chip,
    measured: &mut MeasuredPolicies,
    host: &Pool,
    progress: &Progress,
) -> anyhow::Result<()> {
    let begin = std::time::Instant::now();
    let cell = measured.cell;
    let what = cell.to_string();
    let policies = &measured.policies;
    let orders = &config.orders;
    let simulate = |at: usize| {
        let (policy, order) = (
            &policies[at / orders.len()].policy,
            orders[at % orders.len()],
        );
        let outcome = simulate(config, chip, cell, policy, order);
        outcome.with_context(|| format!("sleep, {cell}: {policy}, order {order}"))
    };
    let count = policies.len() * orders.len();
    let outcomes = simulate_policies(host, progress, &what, count, simulate)?;
    let Some(outcomes) = outcomes else {
        return Ok(());
    };
    for (samples, outcomes) in measured
        .policies
        .iter_mut()
        .zip(outcomes.chunks(orders.len()))
    {
        let hashes: Vec<String> = outcomes
            .iter()
            .map(|(_, hash)| format!("{hash:016x}"))
            .collect();
        let runs = outcomes.iter().flat_map(|(found, _)| &found.runs);
        samples.runs = runs.copied().collect();
        samples.lines = Line::sums(outcomes.iter().flat_map(|(found, _)| &found.lines));
        samples.hash = match &hashes[..] {
            [one] => one.clone(),
            _ => journal::hash(&hashes)?,
        };
    }
    measured.seconds = begin.elapsed().as_secs_f64();
    measured.complete = true;
    Ok(())
}

/// The result of a simulation.
#[derive(Clone, Debug)]
struct Found {
    runs: Vec<SleepSample>,
    lines: Vec<Line>,
}

/// Simulates one policy under one order of events. Also returns the simulation's fingerprint.
fn simulate(
    config: &SleepConfig,
    chip: &Chip,
    cell: SleepCell,
    policy: &Policy,
    order: u64,
) -> anyhow::Result<(Found, u64)> {
    let chip = &order::machine(chip, order);
    let runs = config.runs.unwrap_or(1) as usize;
    let (seed, size) = (config.seed, config.size);
    let program = || {
        let (send, receive) = mpsc::channel();
        let (chip, policy) = (chip.clone(), policy.clone());
        let caller = move || {
            // `send` fails only if the receiver is dropped.
            let _ = send.send(run(&chip, cell, &policy, runs, seed, size));
        };
        Simulated::join(start::<Simulated>("caller".into(), vec![0], caller)?);
        receive.try_recv().context("the caller panicked")?
    };
    let simulation = Simulation::new(&chip.0).stack_size(STACK);
    let name = format!("{cell}: {policy}");
    let run = instrument::run(simulation, &name, program).map_err(|error| anyhow!("{error}"))?;
    // The clone is on the host's heap. The original would keep all of the simulated machine's memory alive.
    let mut found = run.value?.clone();
    found.runs.iter_mut().for_each(|run| run.order = order);
    Ok((found, run.statistics.hash))
}

/// The simulated program: a pool, a warm-up run, and then the runs that count.
fn run(
    chip: &Chip,
    cell: SleepCell,
    policy: &Policy,
    runs: usize,
    seed: u64,
    size: Size,
) -> anyhow::Result<Found> {
    let pool = pool::simulated(policy, chip, cell.threads)?;
    let mut kernel = cell.algorithm.prepare(seed, size);
    let fork = Erased::<Simulated>::new(&*pool);
    pool.install(&mut || kernel.run(&fork));
    let lines = Simulated::named_lines();
    let mut found = Found {
        runs: Vec::with_capacity(runs),
        lines: Vec::new(),
    };
    for _ in 0..runs {
        kernel.reset();
        let before = pool.tally();
        let (start, on_cpu) = (Simulated::now(), Simulated::cpu_time());
        pool.install(&mut || kernel.run(&fork));
        let (time, on_cpu) = (Simulated::now() - start, Simulated::cpu_time() - on_cpu);
        let after = pool.tally();
        found.runs.push(SleepSample {
            order: 0,
            time: time as f64,
            cpu_time: on_cpu as f64,
            waited: 0.0,
            sleeps: after.sleeps - before.sleeps,
            wakeups: after.wakeups - before.wakeups,
            recovered: after.recovered - before.recovered,
        });
        kernel
            .verify()
            .map_err(|wrong| anyhow!("the answer is wrong: {wrong}"))?;
    }
    found.lines = Line::between(&lines, &Simulated::named_lines());
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::side_by_side;
    use crate::measure::time_left::TimeLeft;
    use crate::study::unit::Unit;
    use manycore_programs::fork::Algorithm;

    /// Simulates a cell of two threads with `packed`.
    fn simulated(orders: Vec<u64>) -> MeasuredPolicies {
        let mut config = SleepConfig::on_dahu(&["packed"], &["runs=2"], &[2]).unwrap();
        config.orders = orders;
        let cell = SleepCell {
            algorithm: Algorithm::QuickSort,
            threads: 2,
        };
        let mut measured = MeasuredPolicies::new(cell, Unit::Cycles, &config.policies);
        let progress = Progress::new("test", TimeLeft::new([1.0], 1));
        let host = side_by_side::host().unwrap();
        let chip = config.chip.clone().unwrap();
        measure(&config, &chip, &mut measured, host, &progress).unwrap();
        measured
    }

    #[test]
    fn equal_orders_have_the_accesses_per_run_of_one_order() {
        let accesses = |orders: Vec<u64>| -> Vec<(String, usize, [f64; 3])> {
            let measured = simulated(orders);
            let samples = &measured.policies[0];
            let of = |line: &Line| {
                let counts = [line.reads, line.writes, line.transfers];
                let each = counts.map(|count| samples.a_run(count));
                (line.names.clone(), line.lines, each)
            };
            samples.lines.iter().map(of).collect()
        };
        let one = accesses(vec![1]);
        assert!(one.iter().any(|line| line.2[1] > 0.0), "{one:?}");
        assert_eq!(accesses(vec![1, 1, 1]), one);
    }
}
