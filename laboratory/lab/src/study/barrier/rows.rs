//! The numbers, one observation a row.

use super::config::BarrierConfig;
use crate::study::team::{TeamMeasured, TeamProgram};
use crate::study::unit::Unit;
use serde::Serialize;

/// A loop: a line of `barrier.csv`.
#[derive(Clone, Debug, Serialize)]
pub(super) struct BarrierRow {
    world: &'static str,
    machine: String,
    cores: usize,
    barrier: String,
    episodes: usize,
    /// Time of all episodes together, in `unit`.
    total_cycles: f64,
    exit_latency_median: f64,
    unit: Unit,
    /// In a loop, together or apart.
    arrivals: &'static str,
    exit_latency_p10: f64,
    exit_latency_p90: f64,
    total_p10: f64,
    total_p90: f64,
    runs: usize,
    /// Messages of the broadcast network, the waits for warmth included.
    messages: u64,
    /// Changes to the machine.
    settings: String,
}

/// All that was measured.
pub(super) fn rows(config: &BarrierConfig, measured: &TeamMeasured) -> Vec<BarrierRow> {
    let unit = config.setup.unit();
    let all = measured.all.iter();
    let row = all.filter_map(|summary| {
        let TeamProgram::Loop { arrivals, .. } = summary.point.program else {
            return None;
        };
        Some(BarrierRow {
            world: config.setup.world,
            machine: config.setup.machines.name(summary.point.machine),
            cores: summary.point.cores,
            barrier: summary.point.barrier.clone(),
            episodes: summary.episodes,
            total_cycles: unit.round(summary.total.median),
            exit_latency_median: unit.round(summary.exit.median),
            unit,
            arrivals: arrivals.name(),
            exit_latency_p10: unit.round(summary.exit.p10),
            exit_latency_p90: unit.round(summary.exit.p90),
            total_p10: unit.round(summary.total.p10),
            total_p90: unit.round(summary.total.p90),
            runs: summary.runs,
            messages: summary.messages,
            settings: summary.point.settings.join(" "),
        })
    });
    row.collect()
}
