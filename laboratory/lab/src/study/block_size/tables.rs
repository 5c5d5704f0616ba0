//! The tables: latencies in the format of the document (Shuai's paper), and regrets (slowdowns relative to the best
//! fixed block).

use super::grid::{Class, Workload, threads};
use super::measure::{LoopSamples, MeasuredLoops};
use super::regret::{Overall, Regret};
use crate::report::table::{Cell, Table};
use crate::report::words::signed;
use crate::study::settings::power;
use crate::study::trial::CellRecord;

/// Columns of latencies that fit a terminal.
const COLUMNS: usize = 6;

/// Latencies: a row for each block size and partitioner, a column for each workload and thread count. Workloads of one
/// class and length share a table, up to [`COLUMNS`].
pub(super) fn latencies(measured: &[MeasuredLoops]) -> Vec<Table> {
    let mut groups: Vec<(String, Vec<&MeasuredLoops>)> = Vec::new();
    for cell in measured.iter().filter(|cell| cell.runs() > 0) {
        let heading = heading(cell.cell.workload);
        match groups.iter_mut().find(|(known, _)| *known == heading) {
            Some((_, cells)) => cells.push(cell),
            None => groups.push((heading, vec![cell])),
        }
    }
    let of_group = |(heading, cells): &(String, Vec<&MeasuredLoops>)| -> Vec<Table> {
        let per_workload = cells
            .iter()
            .filter(|cell| cell.cell.workload == cells[0].cell.workload)
            .count();
        // A table has all thread counts of a workload.
        let width = (COLUMNS / per_workload).max(1) * per_workload;
        let parts = cells.chunks(width);
        parts.map(|cells| latency_table(heading, cells)).collect()
    };
    groups.iter().flat_map(of_group).collect()
}

fn heading(workload: Workload) -> String {
    let n = workload.n;
    match workload.task.class() {
        Class::UnitTask => format!(
            "{} unit task, N = {n}, by unit_read/unit_write/unit_comp",
            workload.task.name()
        ),
        Class::Irregular => format!("Irregular loads, N = {n}"),
        Class::Tiny => format!("Tiny iterations, N = {n}"),
    }
}

fn latency_table(heading: &str, cells: &[&MeasuredLoops]) -> Table {
    let column_head = |cell: &&MeasuredLoops| {
        let workload = cell.cell.workload;
        let size = match workload.task.class() {
            Class::UnitTask => format!(
                "{}/{}/{}",
                power(workload.read as u64),
                power(workload.write as u64),
                power(workload.comp)
            ),
            Class::Irregular | Class::Tiny => workload.task.name().to_owned(),
        };
        format!("{size}\n{}", threads(cell.cell.threads))
    };
    let mut header = vec!["block size".to_owned()];
    header.extend(cells.iter().map(column_head));
    let best: Vec<Option<&str>> = cells.iter().map(|cell| best_block(cell)).collect();
    let row = |policy: &LoopSamples| {
        let name = match policy.fixed_block() {
            Some(block) => power(block as u64),
            None => partitioner(&policy.policy),
        };
        let latency = |(cell, best): (&&MeasuredLoops, &Option<&str>)| {
            let found = cell
                .policies
                .iter()
                .find(|other| other.policy == policy.policy);
            let text = found.map_or("-".into(), |found| cell.unit.show(found.median()));
            Cell {
                text,
                best: *best == Some(&policy.policy),
            }
        };
        let mut row = vec![Cell::new(name)];
        row.extend(cells.iter().zip(&best).map(latency));
        row
    };
    Table {
        caption: format!(
            "{heading}: latency in {}; the best block is marked",
            cells[0].unit.name()
        ),
        header,
        rows: cells[0]
            .policies
            .iter()
            .filter(|samples| samples.document_block().is_none())
            .map(row)
            .collect(),
    }
}

fn best_block(cell: &MeasuredLoops) -> Option<&str> {
    let fixed = cell
        .policies
        .iter()
        .filter(|samples| samples.fixed_block().is_some());
    let best = fixed.min_by(|a, b| a.median().total_cmp(&b.median()));
    best.map(|samples| samples.policy.as_str())
}

pub(super) fn regret_means(overall: &[Overall]) -> Table {
    let mut header = vec!["partitioner".to_owned()];
    let classes: Vec<Class> = Class::ALL
        .into_iter()
        .filter(|&class| overall.iter().any(|row| row.class == Some(class)))
        .collect();
    header.extend(classes.iter().map(|class| class.name().to_owned()));
    header.extend(["all cells".into(), "all cells,\nplain".into()]);
    let of_partitioner = |all: &Overall| {
        let mut row = vec![Cell::new(partitioner(&all.partitioner))];
        row.extend(classes.iter().map(|&class| {
            let found = overall
                .iter()
                .find(|row| row.class == Some(class) && row.partitioner == all.partitioner);
            Cell::or_dash(found.map(|row| percent(row.geometric_mean_regret)))
        }));
        row.push(Cell::new(percent(all.geometric_mean_regret)));
        row.push(Cell::new(percent(all.geometric_mean_plain_regret)));
        row
    };
    Table {
        caption: "Regret against the best fixed block of this run (geometric mean)".into(),
        header,
        rows: all_classes(overall).map(of_partitioner).collect(),
    }
}

pub(super) fn worst_cells(overall: &[Overall]) -> Table {
    let header = [
        "partitioner",
        "worst cell",
        "regret",
        "plain",
        "spread there",
    ];
    let row = |all: &Overall| {
        let worst = &all.worst;
        vec![
            Cell::new(partitioner(&all.partitioner)),
            Cell::new(worst.cell.to_string()),
            Cell::new(percent(worst.regret)),
            Cell::new(percent(worst.plain_regret)),
            Cell::new(spread(worst)),
        ]
    };
    Table {
        caption: "The worst cell of each partitioner. The spread is p10 and p90 of the runs with \
                  the best block"
            .into(),
        header: header.map(String::from).to_vec(),
        rows: all_classes(overall).map(row).collect(),
    }
}

pub(super) fn default_by_cell(regrets: &[Regret]) -> Table {
    let header = [
        "cell",
        "best block",
        "its latency",
        "spread",
        "adaptive",
        "regret",
        "plain",
    ];
    let row = |regret: &Regret| {
        vec![
            Cell::new(regret.cell.to_string()),
            Cell::new(power(regret.best.block_size as u64)),
            Cell::new(regret.unit.show(regret.best.latency.median)),
            Cell::new(spread(regret)),
            Cell::new(regret.unit.show(regret.latency.median)),
            Cell::new(percent(regret.regret)),
            Cell::new(percent(regret.plain_regret)),
        ]
    };
    Table {
        caption: format!(
            "The partitioner adaptive in every cell (the name of a unit task is \
             unit_read/unit_write/unit_comp), in {}",
            regrets.first().map_or("", |regret| regret.unit.name())
        ),
        header: header.map(String::from).to_vec(),
        rows: regrets
            .iter()
            .filter(|regret| regret.is_default())
            .map(row)
            .collect(),
    }
}

fn all_classes(overall: &[Overall]) -> impl Iterator<Item = &Overall> {
    overall.iter().filter(|row| row.class.is_none())
}

/// The name `fixed-block` alone would look like the document's fixed blocks.
fn partitioner(name: &str) -> String {
    match name {
        "fixed-block" => "fixed-block (auto)".into(),
        _ => name.into(),
    }
}

fn spread(regret: &Regret) -> String {
    let (below, above) = regret.best.spread();
    format!("{} .. {}", percent(below), percent(above))
}

/// Formats a part with a sign, since a negative regret is a gain.
pub(super) fn percent(part: f64) -> String {
    format!("{}%", signed(100.0 * part, 1))
}
