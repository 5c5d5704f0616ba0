//! The comparison with Taskflow in the document (Shuai's paper).
//!
//! Taskflow's guided partitioner shrinks its blocks, so a table of fixed blocks does not contain its regret (the loss
//! of time against the best block). The comparison has Taskflow's latency for some cells of the grid. This module
//! divides that latency by the cell's best latency, although the two are from different runs.

use super::data::PublishedCell;
use super::error::ModelError;
use super::shipped;

/// A row of the comparison's nine tables. The document's clocks count as nanoseconds.
#[derive(Clone, Debug)]
pub(crate) struct PrintedComparison {
    pub(crate) machine: String,
    pub(crate) threads: usize,
    pub(crate) unit_read: u64,
    pub(crate) unit_write: u64,
    pub(crate) unit_comp: u64,
    pub(crate) taskflow_ns: f64,
    pub(crate) cost_model_ns: f64,
    /// The choice of the document's model.
    pub(crate) block_size: usize,
}

/// All rows, as printed.
pub(crate) fn printed_comparisons() -> Result<Vec<PrintedComparison>, ModelError> {
    let source = shipped::taskflow();
    let sheet = source.sheet(&[
        "machine",
        "threads",
        "unit_read",
        "unit_write",
        "unit_comp",
        "taskflow_clocks",
        "cost_model_clocks",
        "block_size",
    ])?;
    let rows = sheet.rows().map(|row| {
        let whole = |column| row.parse(column, "a whole number", |_: &u64| true);
        let latency = |column| row.parse(column, "a number above 0", |l: &f64| *l > 0.0);
        Ok(PrintedComparison {
            machine: row.text("machine").into(),
            threads: whole("threads")? as usize,
            unit_read: whole("unit_read")?,
            unit_write: whole("unit_write")?,
            unit_comp: whole("unit_comp")?,
            taskflow_ns: latency("taskflow_clocks")?,
            cost_model_ns: latency("cost_model_clocks")?,
            block_size: whole("block_size")? as usize,
        })
    });
    rows.collect()
}

/// Taskflow's regrets in the cells that the comparison also has.
pub(super) fn regrets(cells: &[PublishedCell]) -> Result<Vec<f64>, ModelError> {
    let rows = printed_comparisons()?;
    let mut regrets = Vec::new();
    for cell in cells {
        let at = &cell.at;
        let same = |row: &&PrintedComparison| {
            row.machine == at.machine
                && row.threads == at.threads
                && (row.unit_read, row.unit_write, row.unit_comp)
                    == (at.unit_read, at.unit_write, at.unit_comp)
        };
        let latencies: Vec<f64> = rows
            .iter()
            .filter(same)
            .map(|row| row.taskflow_ns)
            .collect();
        if !latencies.is_empty() {
            let mean = latencies.iter().sum::<f64>() / latencies.len() as f64;
            regrets.push(mean / cell.best() - 1.0);
        }
    }
    Ok(regrets)
}

#[cfg(test)]
mod tests {
    use super::*;
    use manycore_programs::cost::published::{Features, Weights};

    #[test]
    fn the_blocks_printed_for_the_3970x_are_those_of_32_threads_and_one_group() {
        let rows = printed_comparisons().unwrap();
        let amd = || rows.iter().filter(|row| row.machine == "AMD 3970X");
        assert_eq!(amd().count(), 18);
        let same = |groups: usize, threads: usize| {
            let same = amd().filter(|row| {
                let (read, write) = (row.unit_read, row.unit_write);
                let features = Features::new(groups, threads, read, write, row.unit_comp);
                Weights::PUBLISHED.block(&features, usize::MAX) == row.block_size
            });
            same.count()
        };
        assert_eq!(same(1, 32), 18);
        // Neither the tables' numbers nor the machine's give these blocks.
        assert_eq!((same(8, 64), same(1, 64), same(8, 32)), (0, 0, 0));
        assert!(amd().all(|row| row.threads == 64));
    }
}
