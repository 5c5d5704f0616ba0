//! The rows of `models.csv`.

use super::case::ModelCase;
use super::policy::ModelPolicy;
use crate::measure::statistics::Spread;
use crate::report::csv::columns;
use crate::study::trial::{Runs, Setup};

columns! {
    /// A policy in a loop, with latencies in ns.
    pub(super) ModelRow(setup: &Setup, runs: &Runs<ModelCase>, latency: Spread) {
        world: &'static str = setup.world,
        machine: String = setup.machine.clone(),
        core_groups: usize = runs.trial.at.core_groups,
        threads: usize = runs.trial.at.threads,
        unit_read: u64 = runs.trial.at.unit_read,
        unit_write: u64 = runs.trial.at.unit_write,
        unit_comp: u64 = runs.trial.at.unit_comp,
        n: usize = runs.trial.at.n,
        policy: ModelPolicy = runs.trial.policy,
        /// Empty if the policy picks blocks while the loop runs.
        block_size: Option<usize> = runs.outcomes.first().and_then(|run| run.block),
        latency_ns: f64 = latency.median.round(),
        latency_p10_ns: f64 = latency.p10.round(),
        latency_p90_ns: f64 = latency.p90.round(),
        runs: usize = runs.outcomes.len(),
    }
}
