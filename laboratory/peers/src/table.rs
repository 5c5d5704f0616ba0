//! Tables without lines, and the format of their figures.

use crate::stats::Summary;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

/// A table without lines. The first column is aligned left, the others right.
pub fn table(header: Vec<String>) -> Table {
    let columns = header.len();
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(header);
    for column in table.column_iter_mut().take(columns).skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// A ratio and its spread.
pub fn spread(Summary { median, p10, p90 }: Summary) -> String {
    format!("{} ({} to {})", ratio(median), ratio(p10), ratio(p90))
}

fn ratio(value: f64) -> String {
    let digits = match value {
        0.0..10.0 => 3,
        10.0..100.0 => 1,
        _ => 0,
    };
    format!("{value:.digits$}")
}

/// A number with about three significant digits.
pub fn figure(value: f64) -> String {
    let digits = match value {
        0.0..10.0 => 2,
        10.0..100.0 => 1,
        _ => 0,
    };
    format!("{value:.digits$}")
}
