//! The rows of `cost-inputs.csv` and `cost-inputs.models.csv`.

use super::cell::InputsCell;
use super::fit::Further;
use super::results::{InputsResults, Judged};
use crate::report::csv::columns;

columns! {
    /// A loop with one block size.
    pub(super) InputsRow(cell: &InputsCell, measured: (usize, f64)) {
        machine: String = format!("virtual-{}", cell.machine.number),
        ghz: f64 = cell.machine.ghz,
        group_cores: u32 = cell.machine.group_cores,
        llc_ns: f64 = cell.machine.llc_ns,
        snoop_ns: f64 = cell.machine.snoop_ns,
        crossing_ns: f64 = cell.machine.crossing_ns,
        memory_ns: f64 = cell.machine.memory_ns,
        /// The groups that have a thread of the loop.
        core_groups: usize = cell.groups() as usize,
        threads: usize = cell.run.threads,
        unit_read: u64 = cell.run.read,
        unit_write: u64 = cell.run.write,
        n: usize = cell.run.n,
        block_size: usize = measured.0,
        latency_ns: f64 = measured.1.round(),
    }
}

columns! {
    /// A model's block for a loop of a machine that the model was not fitted to.
    pub(super) ModelOfLoop(judged: &Judged, cell: &InputsCell, block: f64, regret: f64) {
        model: String = judged.name.clone(),
        /// Empty for a model that is not fitted.
        further_inputs: Option<Further> = judged.fitted.map(|(_, further)| further),
        machine: String = format!("virtual-{}", cell.machine.number),
        core_groups: usize = cell.groups() as usize,
        threads: usize = cell.run.threads,
        unit_read: u64 = cell.run.read,
        unit_write: u64 = cell.run.write,
        predicted_block: f64 = (block * 100.0).round() / 100.0,
        /// The measured block that is nearest to the predicted.
        block_size: usize = cell.nearest(block).0,
        regret: f64 = (regret * 1e5).round() / 1e5,
    }
}

pub(super) fn rows(results: &InputsResults) -> Vec<InputsRow> {
    let of = |cell: &InputsCell| {
        let measured = cell.measured.iter();
        measured
            .map(|&measured| InputsRow::new(cell, measured))
            .collect::<Vec<_>>()
    };
    results.cells.iter().flat_map(of).collect()
}

pub(super) fn models(results: &InputsResults) -> Vec<ModelOfLoop> {
    let of = |judged: &Judged| {
        let loops = results
            .cells
            .iter()
            .zip(judged.blocks.iter().zip(&judged.regrets));
        let row = |(cell, (&block, &regret))| ModelOfLoop::new(judged, cell, block, regret);
        loops.map(row).collect::<Vec<_>>()
    };
    results.judged.iter().flat_map(of).collect()
}
