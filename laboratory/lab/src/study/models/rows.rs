//! The numbers, one observation a row.

use super::policy::ModelPolicy;
use super::results::{ModelResults, latency};
use serde::Serialize;

/// A policy in a loop: a line of `models.csv`. Latencies are in nanoseconds.
#[derive(Clone, Debug, Serialize)]
pub(super) struct ModelRow {
    world: &'static str,
    machine: String,
    core_groups: usize,
    threads: usize,
    unit_read: u64,
    unit_write: u64,
    unit_comp: u64,
    n: usize,
    policy: ModelPolicy,
    /// Empty where the policy picks blocks while the loop runs.
    block_size: Option<usize>,
    latency_ns: f64,
    latency_p10_ns: f64,
    latency_p90_ns: f64,
    runs: usize,
}

/// All that was measured.
pub(super) fn rows(results: &ModelResults<'_>) -> Vec<ModelRow> {
    let setup = &results.config.setup;
    let row = results.measured.0.iter().map(|runs| {
        let (at, spread) = (&runs.trial.at, latency(runs));
        ModelRow {
            world: setup.world,
            machine: setup.machine.clone(),
            core_groups: at.core_groups,
            threads: at.threads,
            unit_read: at.unit_read,
            unit_write: at.unit_write,
            unit_comp: at.unit_comp,
            n: at.n,
            policy: runs.trial.policy,
            block_size: runs.outcomes.first().and_then(|run| run.block),
            latency_ns: spread.median.round(),
            latency_p10_ns: spread.p10.round(),
            latency_p90_ns: spread.p90.round(),
            runs: runs.outcomes.len(),
        }
    });
    row.collect()
}
