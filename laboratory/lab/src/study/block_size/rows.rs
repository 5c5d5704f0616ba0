//! The rows of `block-size.csv`.

use super::config::BlockSizeConfig;
use super::grid::LoopTask;
use super::measure::{LoopSamples, MeasuredLoops};
use crate::measure::statistics::Spread;
use crate::report::csv::columns;
use crate::study::unit::Unit;
use manycore::topology::Topology;

columns! {
    /// A policy in a cell.
    pub(super) BlockSizeRow(
        config: &BlockSizeConfig,
        groups: usize,
        of: &MeasuredLoops,
        samples: &LoopSamples,
    ) {
        world: &'static str = config.world,
        machine: String = config.machine.clone(),
        core_groups: usize = groups,
        threads: usize = of.cell.threads,
        unit_read: usize = of.cell.workload.read,
        unit_write: usize = of.cell.workload.write,
        unit_comp: u64 = of.cell.workload.comp,
        task: LoopTask = of.cell.workload.task,
        partitioner: &'static str = samples.policy().name(),
        /// The block size. Empty if the partitioner chooses it.
        block_size: Option<usize> = samples.policy().block(),
        latency_median: f64 = of.unit.round(samples.median()),
        latency_p10: f64 = of.unit.round(Spread::of(&samples.latency).p10),
        latency_p90: f64 = of.unit.round(Spread::of(&samples.latency).p90),
        unit: Unit = of.unit,
        runs: usize = samples.latency.len(),
        /// Iterations of the loop.
        n: usize = of.cell.workload.n,
    }
}

/// A row for each policy of each cell, if the policy has a sample.
pub(super) fn rows(config: &BlockSizeConfig, measured: &[MeasuredLoops]) -> Vec<BlockSizeRow> {
    let rows = measured.iter().flat_map(|cell| {
        let groups = match &config.chip {
            Some(chip) => chip.groups_of(cell.cell.threads),
            None => groups_here().min(cell.cell.threads),
        };
        let has_run = |samples: &&LoopSamples| !samples.latency.is_empty();
        let policies = cell.policies.iter().filter(has_run);
        policies.map(move |samples| BlockSizeRow::new(config, groups, cell, samples))
    });
    rows.collect()
}

/// The number of core groups of this host's usable CPUs.
pub(in crate::study) fn groups_here() -> usize {
    let machine = Topology::detect();
    let mut groups: Vec<usize> = machine.usable().iter().map(|cpu| cpu.group).collect();
    groups.sort_unstable();
    groups.dedup();
    groups.len()
}
