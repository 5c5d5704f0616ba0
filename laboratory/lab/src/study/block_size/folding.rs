//! The compiler's effect on the unit task (synthetic kernel) of the document (Shuai's paper).

use super::grid::{LoopTask, threads};
use super::measure::MeasuredLoops;
use crate::report::section::Block;
use crate::report::table::{Cell, Table};
use crate::study::settings::power;
use crate::study::trial::CellRecord;
use crate::study::unit::Unit;

/// The most dependent additions of a core in a nanosecond: one a clock cycle, at 6 GHz.
const MOST_ADDITIONS_PER_NS: f64 = 6.0;

/// Compares the folded and the opaque unit task, if both were measured.
pub(super) fn blocks(measured: &[MeasuredLoops]) -> Vec<Block> {
    let Some(table) = table(measured) else {
        return Vec::new();
    };
    vec![
        Block::Paragraph(
            "Folded and opaque. In the document's listing no code uses the sum between two \
             additions of the inner loop, so a compiler folds them into one. The document's axis \
             unit_comp goes up to 2^60 additions an iteration. They cannot have been executed: at \
             one addition a clock cycle, one such iteration would take ten years. The folded task \
             does what the compiler made of the listing: one addition, whatever unit_comp is. So \
             its latencies do not depend on unit_comp. The opaque task executes every addition, \
             up to 2^20. The last column is the number of additions that a core would have to do \
             in a nanosecond if the folded task executed all of them. A core does one a clock \
             cycle, so at most six."
                .into(),
        ),
        Block::Table(table),
    ]
}

fn table(measured: &[MeasuredLoops]) -> Option<Table> {
    let fewest = measured.iter().map(|cell| cell.cell.threads).min()?;
    let of = |task: LoopTask| {
        let wanted = move |cell: &&MeasuredLoops| {
            let (cell, rounds) = (cell.cell, cell.runs());
            cell.workload.task == task && cell.threads == fewest && rounds > 0
        };
        measured.iter().filter(wanted).collect::<Vec<_>>()
    };
    let (mut folded, mut opaque) = (of(LoopTask::Folded), of(LoopTask::Opaque));
    // Among the sizes of opaque cells, the sizes that most folded cells have.
    let sizes = |cell: &MeasuredLoops| (cell.cell.workload.read, cell.cell.workload.write);
    let shared = |cell: &&&MeasuredLoops| opaque.iter().any(|other| sizes(other) == sizes(cell));
    let (read, write) = folded
        .iter()
        .filter(shared)
        .map(|cell| sizes(cell))
        .max_by_key(|&size| folded.iter().filter(|cell| sizes(cell) == size).count())?;
    folded.retain(|cell| sizes(cell) == (read, write));
    opaque.retain(|cell| sizes(cell) == (read, write));

    let mut comps: Vec<u64> = folded
        .iter()
        .chain(&opaque)
        .map(|cell| cell.cell.workload.comp)
        .collect();
    comps.sort_unstable();
    comps.dedup();
    let best = |cells: &[&MeasuredLoops], comp: u64| {
        let cell = cells.iter().find(|cell| cell.cell.workload.comp == comp)?;
        let medians = cell.policies.iter().map(|samples| samples.median());
        let us = medians.min_by(f64::total_cmp)?;
        let additions = comp as f64 * cell.cell.workload.n as f64;
        Some((us, additions / (us * 1e3) / fewest as f64))
    };
    let row = |&comp: &u64| {
        let (folded, opaque) = (best(&folded, comp), best(&opaque, comp));
        let latency = |found: Option<(f64, f64)>| {
            Cell::or_dash(found.map(|(us, _)| Unit::Microseconds.show(us)))
        };
        let rate = |found: Option<(f64, f64)>| Cell::or_dash(found.map(|(_, rate)| per_ns(rate)));
        vec![
            Cell::new(power(comp)),
            latency(folded),
            latency(opaque),
            rate(opaque),
            rate(folded),
        ]
    };
    let header = [
        "unit_comp",
        "folded us",
        "opaque us",
        "additions/ns,\nopaque",
        "additions/ns,\nfolded",
    ];
    Some(Table {
        caption: format!(
            "Read {read}, write {write}, {}: the least latency of the loop",
            threads(fewest)
        ),
        header: header.map(String::from).to_vec(),
        rows: comps.iter().map(row).collect(),
    })
}

fn per_ns(rate: f64) -> String {
    match rate {
        ..MOST_ADDITIONS_PER_NS => format!("{rate:.2}"),
        MOST_ADDITIONS_PER_NS..1e6 => format!("{rate:.0} (impossible)"),
        _ => format!("{rate:.0e} (impossible)"),
    }
}
