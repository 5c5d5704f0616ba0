//! How the reports look on a terminal.

use comfy_table::{CellAlignment, Table, presets};

/// A table whose first column names the rows.
pub(super) fn table<const N: usize>(header: [&str; N]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_BORDERS_ONLY);
    table.set_header(header);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// The table without the blanks that fill its lines up.
pub(super) fn lines(table: Table) -> String {
    let lines: Vec<String> = table
        .lines()
        .map(|line| line.trim_end().to_owned())
        .collect();
    lines.join("\n")
}

pub(super) fn percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}
