//! Measures all policies of one cell, in rounds.
//!
//! A host changes its speed, and other programs disturb it. So each round runs every policy once, in a new random
//! order, and all policies meet the same conditions. The study compares medians over rounds.

use super::config::BlockSizeConfig;
use super::grid::LoopCell;
use super::load::Kernel;
use super::policy::LoopPolicy;
use crate::measure::progress::Progress;
use crate::measure::statistics::median;
use crate::measure::{disturbance, interrupt};
use crate::study::trial::CellRecord;
use crate::study::unit::Unit;
use anyhow::{Context, anyhow};
use manycore::Pool;
use manycore_programs::partition::{Block, Loops, Partitioner};
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

/// The fewest rounds for a median. The number is even, since the rounds are divided into halves.
const FEWEST_ROUNDS: usize = 4;
/// The most rounds, without and with `--full`. They are enough for a short loop, and longer loops get the remaining
/// time.
const MOST_ROUNDS: [usize; 2] = [100, 400];

/// The latencies of the policies of one cell, round by round. This is a line of the journal (the file of measurements).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct MeasuredLoops {
    pub(super) cell: LoopCell,
    pub(super) unit: Unit,
    /// Whether the cell was measured to its end, without ctrl-C.
    pub(super) complete: bool,
    /// Seconds that the cell took.
    pub(super) seconds: f64,
    /// Seconds that all threads of the cell together waited for a CPU.
    pub(super) waited: f64,
    pub(super) policies: Vec<LoopSamples>,
    /// For simulated loops: each policy's fingerprint.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) hashes: Vec<String>,
}

/// One policy's latencies by round.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct LoopSamples {
    /// The policy's name, which [`LoopSamples::policy`] parses.
    pub(super) policy: String,
    pub(super) latency: Vec<f64>,
}

impl LoopSamples {
    /// The policy, parsed from its name.
    pub(super) fn policy(&self) -> LoopPolicy {
        // An unknown name in a journal counts as the default.
        let parsed = self.policy.parse();
        parsed.unwrap_or(LoopPolicy::Ours(Partitioner::default()))
    }

    /// The block size, if the policy gives one to manycore's pool with a shared counter.
    pub(super) fn fixed_block(&self) -> Option<usize> {
        match self.policy() {
            LoopPolicy::Ours(Partitioner::FixedBlock(Block::Size(size))) => Some(size.get()),
            _ => None,
        }
    }

    /// The block size, if the policy is the pool of the document (Shuai's paper).
    pub(super) fn document_block(&self) -> Option<usize> {
        match self.policy() {
            LoopPolicy::Document(size) => Some(size.get()),
            LoopPolicy::Ours(_) => None,
        }
    }

    pub(super) fn median(&self) -> f64 {
        median(self.latency.iter().copied())
    }
}

impl MeasuredLoops {
    /// A record without samples.
    pub(super) fn new(cell: LoopCell, unit: Unit, policies: &[LoopPolicy]) -> Self {
        let samples = |policy: &LoopPolicy| LoopSamples {
            policy: policy.to_string(),
            latency: Vec::new(),
        };
        Self {
            cell,
            unit,
            hashes: Vec::new(),
            complete: false,
            seconds: 0.0,
            waited: 0.0,
            policies: policies.iter().map(samples).collect(),
        }
    }

    /// The median latency of the document's pool with this block size, if it
    /// was simulated.
    pub(super) fn of_document(&self, block: usize) -> Option<f64> {
        let mut policies = self.policies.iter();
        let found = policies.find(|samples| samples.document_block() == Some(block));
        found.map(LoopSamples::median)
    }
}

impl CellRecord for MeasuredLoops {
    type At = LoopCell;

    fn cell(&self) -> LoopCell {
        self.cell
    }

    fn weight(cell: LoopCell) -> f64 {
        cell.threads as f64
    }

    fn is_complete(&self) -> bool {
        self.complete
    }

    fn runs(&self) -> usize {
        let counts = self.policies.iter().map(|samples| samples.latency.len());
        counts.min().unwrap_or(0)
    }

    fn seconds(&self) -> f64 {
        self.seconds
    }

    fn hashes(&self) -> Vec<(String, String)> {
        let names = self.policies.iter().map(|samples| samples.policy.clone());
        names.zip(self.hashes.iter().cloned()).collect()
    }
}

/// Adds rounds to `measured` until its cell has enough, its `share` of the
/// time is spent, or ctrl-C is pressed.
pub(super) fn measure(
    config: &BlockSizeConfig,
    measured: &mut MeasuredLoops,
    policies: &[LoopPolicy],
    share: Duration,
    progress: &Progress,
) -> anyhow::Result<()> {
    let begin = Instant::now();
    let cell = measured.cell;
    let what = cell.to_string();
    progress.inside(&what, 0.0);
    let kernel = Kernel::new(cell.workload, config.seed)?;
    // Each cell has its own pool, which learns only from this cell. No threads of other pools spin meanwhile.
    let pool = Pool::builder()
        .threads(cell.threads)
        .build()
        .with_context(|| format!("block-size, {}", super::grid::threads(cell.threads)))?;

    // The audit and one round to warm up do not count. In native runs no policy is the document's pool.
    let ours = |policy: &LoopPolicy| match policy {
        LoopPolicy::Ours(partitioner) => Some(*partitioner),
        LoopPolicy::Document(_) => None,
    };
    let partitioners: Vec<Partitioner> = policies.iter().filter_map(ours).collect();
    for &policy in &partitioners {
        kernel
            .audit(Loops::new(&pool, policy))
            .map_err(|fault| anyhow!("block-size, {cell}: {policy} broke the loop: {fault}"))?;
        kernel.time(Loops::new(&pool, policy));
        if interrupt::asked() {
            return Ok(());
        }
    }

    let (spent, waited_before) = (measured.seconds, measured.waited);
    let waited = disturbance::waited();
    // Both times include those of earlier processes that have measured this cell.
    let add_times = |measured: &mut MeasuredLoops| {
        measured.seconds = spent + begin.elapsed().as_secs_f64();
        if let (Some(before), Some(after)) = (waited, disturbance::waited()) {
            let more = after.saturating_sub(before).as_secs_f64();
            measured.waited = waited_before + more;
        }
    };
    let mut random = fastrand::Rng::with_seed(config.seed ^ measured.runs() as u64);
    let mut order: Vec<usize> = (0..partitioners.len()).collect();
    let wanted = match config.rounds {
        Some(rounds) => rounds as usize..=rounds as usize,
        None => FEWEST_ROUNDS..=MOST_ROUNDS[usize::from(config.full)],
    };
    while !enough(measured.runs(), &wanted, begin.elapsed() < share) {
        random.shuffle(&mut order);
        let mut round = vec![0.0; partitioners.len()];
        for &at in &order {
            round[at] = kernel.time(Loops::new(&pool, partitioners[at]));
            if interrupt::asked() {
                // Only whole rounds count.
                add_times(measured);
                return Ok(());
            }
        }
        for (samples, us) in measured.policies.iter_mut().zip(round) {
            samples.latency.push(us);
        }
        let by_time = begin.elapsed().as_secs_f64() / share.as_secs_f64().max(1e-9);
        let by_rounds = measured.runs() as f64 / *wanted.end() as f64;
        let part = match config.rounds {
            Some(_) => by_rounds,
            None => by_rounds.max(by_time),
        };
        progress.inside(&what, part);
    }
    add_times(measured);
    measured.complete = true;
    Ok(())
}

/// Whether there are enough rounds: the most that are `wanted` or, when time is up, an even number in the wanted range.
fn enough(rounds: usize, wanted: &RangeInclusive<usize>, in_time: bool) -> bool {
    let will_do = wanted.contains(&rounds) && rounds.is_multiple_of(2);
    rounds >= *wanted.end() || will_do && !in_time
}

/// A warning about a run on a busy machine. `cpus` is the number of CPUs that the threads may use.
pub(super) fn disturbance(measured: &[MeasuredLoops], cpus: usize) -> Option<String> {
    // In cells with more threads than CPUs, threads wait for each other in any case.
    let fitting = || measured.iter().filter(|cell| cell.cell.threads <= cpus);
    let waited: f64 = fitting().map(|cell| cell.waited).sum();
    let time: f64 = fitting()
        .map(|cell| cell.seconds * cell.cell.threads as f64)
        .sum();
    disturbance::warning(waited / time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_end_with_time_but_not_before_there_are_enough() {
        assert!(!enough(2, &(4..=100), false));
        assert!(enough(4, &(4..=100), false));
        assert!(!enough(5, &(4..=100), false));
        assert!(!enough(6, &(4..=100), true));
        assert!(enough(100, &(4..=100), true));
        assert!(!enough(2, &(3..=3), false));
        assert!(enough(3, &(3..=3), true));
    }
}
