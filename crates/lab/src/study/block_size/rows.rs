//! The numbers, one observation a row.

use super::measure::Measured;
use crate::measure::statistics::Spread;
use manycore::topology::Topology;
use manycore::{Block, Partitioner};
use serde::Serialize;

/// A policy in a cell: a line of `block-size.csv`.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Row {
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
    unit: &'static str,
    runs: usize,
    /// Iterations of the loop.
    n: usize,
}

/// The rows of every cell that has a round.
pub(super) fn rows(machine: &str, measured: &[Measured]) -> Vec<Row> {
    let groups = core_groups();
    let mut rows = Vec::new();
    for cell in measured {
        let workload = cell.cell.workload;
        for samples in cell
            .policies
            .iter()
            .filter(|samples| !samples.us.is_empty())
        {
            let spread = Spread::of(&samples.us);
            let policy = samples.partitioner();
            rows.push(Row {
                world: "native",
                machine: machine.to_owned(),
                core_groups: groups.min(cell.cell.threads),
                threads: cell.cell.threads,
                unit_read: workload.read,
                unit_write: workload.write,
                unit_comp: workload.comp,
                task: workload.task.name(),
                partitioner: policy.name(),
                block_size: block_size(policy),
                latency_median: round(spread.median),
                latency_p10: round(spread.p10),
                latency_p90: round(spread.p90),
                unit: "us",
                runs: samples.us.len(),
                n: workload.n,
            });
        }
    }
    rows
}

/// The rows as CSV.
pub(super) fn csv(rows: &[Row]) -> anyhow::Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.serialize(row)?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

/// The block that a partitioner was told to take.
fn block_size(policy: Partitioner) -> Option<usize> {
    match policy {
        Partitioner::FixedBlock(Block::Size(size)) | Partitioner::Sharded(Block::Size(size)) => {
            Some(size.get())
        }
        _ => None,
    }
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

/// To a nanosecond: the clock knows no more.
fn round(us: f64) -> f64 {
    (us * 1e3).round() / 1e3
}
