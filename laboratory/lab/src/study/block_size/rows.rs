//! The numbers, one observation a row.

use super::config::BlockSizeConfig;
use super::measure::MeasuredLoops;
use crate::measure::statistics::Spread;
use crate::study::unit::Unit;
use manycore::topology::Topology;
use serde::Serialize;

/// A policy in a cell: a line of `block-size.csv`.
#[derive(Clone, Debug, Serialize)]
pub(super) struct BlockSizeRow {
    world: &'static str,
    machine: String,
    core_groups: usize,
    threads: usize,
    unit_read: usize,
    unit_write: usize,
    unit_comp: u64,
    task: &'static str,
    partitioner: &'static str,
    /// Empty where the partitioner chooses.
    block_size: Option<usize>,
    latency_median: f64,
    latency_p10: f64,
    latency_p90: f64,
    unit: Unit,
    runs: usize,
    /// Iterations of the loop.
    n: usize,
}

/// The rows of every cell that has a round.
pub(super) fn rows(config: &BlockSizeConfig, measured: &[MeasuredLoops]) -> Vec<BlockSizeRow> {
    let mut rows = Vec::new();
    for cell in measured {
        let workload = cell.cell.workload;
        let groups = match &config.chip {
            Some(chip) => chip.groups_of(cell.cell.threads),
            None => core_groups().min(cell.cell.threads),
        };
        for samples in cell
            .policies
            .iter()
            .filter(|samples| !samples.latency.is_empty())
        {
            let spread = Spread::of(&samples.latency);
            let policy = samples.policy();
            rows.push(BlockSizeRow {
                world: config.world,
                machine: config.machine.clone(),
                core_groups: groups,
                threads: cell.cell.threads,
                unit_read: workload.read,
                unit_write: workload.write,
                unit_comp: workload.comp,
                task: workload.task.name(),
                partitioner: policy.name(),
                block_size: policy.block(),
                latency_median: cell.unit.round(spread.median),
                latency_p10: cell.unit.round(spread.p10),
                latency_p90: cell.unit.round(spread.p90),
                unit: cell.unit,
                runs: samples.latency.len(),
                n: workload.n,
            });
        }
    }
    rows
}

/// Core groups that the usable CPUs belong to. The threads are not pinned, so
/// a loop may touch as many of them as it has threads.
fn core_groups() -> usize {
    let machine = Topology::detect();
    let mut groups: Vec<usize> = machine.usable().iter().map(|cpu| cpu.group).collect();
    groups.sort_unstable();
    groups.dedup();
    groups.len()
}
