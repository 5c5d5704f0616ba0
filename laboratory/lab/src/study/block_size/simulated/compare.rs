//! Compares the tables of the document (Shuai's paper) with a simulation of its pool.

use super::chip::DocumentChip;
use crate::measure::statistics::median;
use crate::model::PublishedCell;
use crate::report::table::{Cell, Table};
use crate::study::block_size::grid::{LoopTask, threads};
use crate::study::block_size::measure::MeasuredLoops;
use crate::study::settings::power;
use crate::study::trial::CellRecord;
use serde::Serialize;

/// The number of columns of latencies that fit a terminal.
const COLUMNS: usize = 4;

/// A column of the document's tables, and a simulation of the same cell.
#[derive(Clone, Debug, Serialize)]
pub(in super::super) struct Comparison {
    threads: usize,
    unit_read: u64,
    unit_write: u64,
    unit_comp: u64,
    /// Block size, the document's latency and the simulated latency, both in ns.
    latencies: Vec<(usize, f64, f64)>,
    /// Spearman's rank correlation of the two latencies over all block sizes.
    rank_correlation: f64,
}

/// Compares every column of the tables that was simulated. Additions of a folded task take no time, so columns that
/// differ only in `unit_comp` share a cell.
pub(in super::super) fn comparisons(
    chip: &DocumentChip,
    tables: &[PublishedCell],
    measured: &[MeasuredLoops],
) -> Vec<Comparison> {
    let machine = chip.name_in_tables();
    let mut comparisons = Vec::new();
    for published in tables {
        let at = &published.at;
        let same = |cell: &&MeasuredLoops| {
            let workload = cell.cell.workload;
            workload.task == LoopTask::Folded
                && workload.n == at.n
                && cell.cell.threads == at.threads
                && (workload.read as u64, workload.write as u64) == (at.unit_read, at.unit_write)
        };
        let Some(cell) = measured.iter().find(same).filter(|_| at.machine == machine) else {
            continue;
        };
        let ours = |block| Some(cell.of_document(block)? / chip.config.ghz);
        let both = |&(block, latency): &(usize, f64)| Some((block, latency, ours(block)?));
        let latencies: Vec<_> = published.measured.iter().filter_map(both).collect();
        if latencies.len() < 3 {
            continue; // Too few for a rank correlation.
        }
        let theirs: Vec<f64> = latencies.iter().map(|&(_, theirs, _)| theirs).collect();
        let ours: Vec<f64> = latencies.iter().map(|&(_, _, ours)| ours).collect();
        comparisons.push(Comparison {
            threads: at.threads,
            unit_read: at.unit_read,
            unit_write: at.unit_write,
            unit_comp: at.unit_comp,
            rank_correlation: spearman(&theirs, &ours),
            latencies,
        });
    }
    comparisons
}

impl Comparison {
    fn preferred(&self, latency: impl Fn(&(usize, f64, f64)) -> f64) -> usize {
        let best = self
            .latencies
            .iter()
            .min_by(|a, b| latency(a).total_cmp(&latency(b)));
        best.map_or(0, |&(block, ..)| block)
    }

    /// The fastest block in the document, and in the simulation.
    fn preferred_blocks(&self) -> (usize, usize) {
        (self.preferred(|at| at.1), self.preferred(|at| at.2))
    }

    /// The simulated latency divided by the document's latency, as the median of all blocks.
    fn ratio(&self) -> f64 {
        median(
            self.latencies
                .iter()
                .map(|&(_, theirs, ours)| ours / theirs),
        )
    }
}

pub(in super::super) fn ranks(comparisons: &[Comparison]) -> Table {
    let header = [
        "document's cell",
        "threads",
        "document's\nbest block",
        "simulated\nbest block",
        "latency, simulated\n/ document's",
        "rank\ncorrelation",
    ];
    let row = |of: &Comparison| {
        let (theirs, ours) = of.preferred_blocks();
        let size = [of.unit_read, of.unit_write, of.unit_comp].map(power);
        vec![
            Cell::new(size.join("/")),
            Cell::new(of.threads.to_string()),
            Cell::new(theirs.to_string()),
            Cell::new(ours.to_string()),
            Cell::new(format!("{:.2}", of.ratio())),
            Cell::new(format!("{:.2}", of.rank_correlation)),
        ]
    };
    Table {
        caption: "The document's tables compared with a simulation of its pool: Spearman's rank \
                  correlation of the latencies at all block sizes"
            .into(),
        header: header.map(String::from).to_vec(),
        rows: comparisons.iter().map(row).collect(),
    }
}

/// Simulated latencies of the document's pool in microseconds, beside the latencies that the document prints.
pub(in super::super) fn latencies(
    chip: &DocumentChip,
    measured: &[MeasuredLoops],
    comparisons: &[Comparison],
) -> Vec<Table> {
    let cells: Vec<&MeasuredLoops> = measured.iter().filter(|cell| cell.runs() > 0).collect();
    let tables = cells.chunks(COLUMNS);
    tables
        .map(|cells| latency_table(chip, cells, comparisons))
        .collect()
}

fn latency_table(
    chip: &DocumentChip,
    cells: &[&MeasuredLoops],
    comparisons: &[Comparison],
) -> Table {
    let mut header = vec!["block size".to_owned()];
    for cell in cells {
        let workload = cell.cell.workload;
        header.push(format!("{workload}\n{}", threads(cell.cell.threads)));
        if !comparisons.is_empty() {
            header.push("printed".into());
        }
    }
    let blocks = cells[0]
        .policies
        .iter()
        .filter_map(|samples| samples.document_block());
    let row = |block: usize| {
        let mut row = vec![Cell::new(block.to_string())];
        for cell in cells {
            let us = cell
                .of_document(block)
                .map(|cycles| cycles / chip.config.ghz / 1e3);
            row.push(Cell::or_dash(us.map(|us| format!("{us:.0}"))));
            if !comparisons.is_empty() {
                row.push(Cell::new(printed(cell, block, comparisons)));
            }
        }
        row
    };
    let beside = match comparisons.is_empty() {
        true => "",
        false => ", and the latencies in the document, one for each unit_comp",
    };
    Table {
        caption: format!(
            "The document's pool on {}, simulated: latency in us{beside}",
            chip.name()
        ),
        header,
        rows: blocks.map(row).collect(),
    }
}

fn printed(cell: &MeasuredLoops, block: usize, comparisons: &[Comparison]) -> String {
    let workload = cell.cell.workload;
    let same = |of: &&Comparison| {
        workload.task == LoopTask::Folded
            && of.threads == cell.cell.threads
            && (of.unit_read, of.unit_write) == (workload.read as u64, workload.write as u64)
    };
    let columns = comparisons.iter().filter(same).filter_map(|of| {
        let found = of.latencies.iter().find(|at| at.0 == block)?;
        Some(format!("{:.0}", found.1 / 1e3))
    });
    let columns: Vec<String> = columns.collect();
    match columns.is_empty() {
        true => "-".into(),
        false => columns.join(" "),
    }
}

/// Spearman's rank correlation: Pearson's correlation of the ranks. Equal values have their mean rank.
fn spearman(a: &[f64], b: &[f64]) -> f64 {
    let (a, b) = (ranks_of(a), ranks_of(b));
    let middle = (a.len() as f64 - 1.0) / 2.0;
    let product = |a: &[f64], b: &[f64]| -> f64 {
        let both = a.iter().zip(b);
        both.map(|(a, b)| (a - middle) * (b - middle)).sum()
    };
    let spread = (product(&a, &a) * product(&b, &b)).sqrt();
    // Equal values have no ranks to compare.
    if spread > 0.0 {
        product(&a, &b) / spread
    } else {
        0.0
    }
}

fn ranks_of(values: &[f64]) -> Vec<f64> {
    let rank = |value: &f64| {
        let below = values.iter().filter(|other| *other < value).count();
        let equal = values.iter().filter(|other| *other == value).count();
        below as f64 + (equal as f64 - 1.0) / 2.0
    };
    values.iter().map(rank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_correlate_as_spearman_says() {
        assert!((spearman(&[1.0, 2.0, 9.0], &[10.0, 11.0, 12.0]) - 1.0).abs() < 1e-12);
        assert!((spearman(&[1.0, 2.0, 9.0], &[3.0, 2.0, 1.0]) + 1.0).abs() < 1e-12);
        // By the formula 1 - 6 (1 + 1) / (4 * 15).
        assert!((spearman(&[1., 2., 3., 4.], &[1., 3., 2., 4.]) - 0.8).abs() < 1e-12);
        assert_eq!(ranks_of(&[5.0, 1.0, 5.0]), [1.5, 0.0, 1.5]);
        assert_eq!(spearman(&[1.0, 1.0], &[1.0, 2.0]), 0.0);
    }
}
