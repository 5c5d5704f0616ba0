//! The numbers, one observation a row.

use super::config::StreamclusterConfig;
use crate::study::team::{TeamMeasured, TeamProgram};
use crate::study::unit::Unit;
use serde::Serialize;

/// A barrier at an input: a line of `streamcluster.csv`.
#[derive(Clone, Debug, Serialize)]
pub(super) struct StreamclusterRow {
    world: &'static str,
    machine: String,
    cores: usize,
    barrier: String,
    input: &'static str,
    /// In `unit`.
    total_cycles: f64,
    exit_latency_median: f64,
    /// The hash of the verified answer: the same whatever the barrier and the cores.
    output_hash: Option<String>,
    unit: Unit,
    /// Waits of each member.
    episodes: usize,
    exit_latency_p10: f64,
    exit_latency_p90: f64,
    total_p10: f64,
    total_p90: f64,
    runs: usize,
    messages: u64,
}

/// All that was measured.
pub(super) fn rows(config: &StreamclusterConfig, measured: &TeamMeasured) -> Vec<StreamclusterRow> {
    let unit = config.setup.unit();
    let row = measured.all.iter().filter_map(|summary| {
        let TeamProgram::Streamcluster { input } = summary.point.program else {
            return None;
        };
        Some(StreamclusterRow {
            world: config.setup.world,
            machine: config.setup.machines.name(summary.point.machine),
            cores: summary.point.cores,
            barrier: summary.point.barrier.clone(),
            input: input.name(),
            total_cycles: unit.round(summary.total.median),
            exit_latency_median: unit.round(summary.exit.median),
            output_hash: summary.output.clone(),
            unit,
            episodes: summary.episodes,
            exit_latency_p10: unit.round(summary.exit.p10),
            exit_latency_p90: unit.round(summary.exit.p90),
            total_p10: unit.round(summary.total.p10),
            total_p90: unit.round(summary.total.p90),
            runs: summary.runs,
            messages: summary.messages,
        })
    });
    row.collect()
}
