//! Rows and columns of text within borders, for a terminal.

use std::fmt;
use std::ops::Range;

/// Rows of cells below a header. A cell may have several lines.
pub(crate) struct Grid {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    /// The right-aligned columns.
    numbers: Range<usize>,
}

impl Grid {
    /// Makes an empty grid. The first column names the rows, and all others are numbers.
    pub(crate) fn new<S: ToString>(header: &[S]) -> Self {
        Self::with_numbers(header, 1..header.len())
    }

    /// Makes an empty grid. The columns `numbers` are aligned right, and all others left.
    pub(crate) fn with_numbers<S: ToString>(header: &[S], numbers: Range<usize>) -> Self {
        Self {
            header: header.iter().map(S::to_string).collect(),
            rows: Vec::new(),
            numbers,
        }
    }

    /// Adds a row with a cell for each column.
    pub(crate) fn add_row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(S::into).collect());
    }

    /// The widest line of each column.
    fn widths(&self) -> Vec<usize> {
        let mut widths = vec![0; self.header.len()];
        for row in std::iter::once(&self.header).chain(&self.rows) {
            for (width, cell) in widths.iter_mut().zip(row) {
                let lines = cell.lines().map(|line| line.chars().count());
                *width = lines.chain([*width]).max().unwrap_or(0);
            }
        }
        widths
    }

    fn write_row(
        &self,
        f: &mut fmt::Formatter<'_>,
        row: &[String],
        widths: &[usize],
    ) -> fmt::Result {
        let lines = row.iter().map(|cell| cell.lines().count()).max();
        for line in 0..lines.unwrap_or(0).max(1) {
            f.write_str("│")?;
            for (column, (cell, &width)) in row.iter().zip(widths).enumerate() {
                let text = cell.lines().nth(line).unwrap_or("");
                let gap = if column > 0 { " " } else { "" };
                match self.numbers.contains(&column) {
                    true => write!(f, "{gap} {text:>width$} ")?,
                    false => write!(f, "{gap} {text:<width$} ")?,
                }
            }
            f.write_str("│\n")?;
        }
        Ok(())
    }
}

impl fmt::Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.widths();
        let inside = widths.iter().map(|width| width + 3).sum::<usize>();
        let inside = inside.saturating_sub(1);
        writeln!(f, "┌{}┐", "─".repeat(inside))?;
        self.write_row(f, &self.header, &widths)?;
        writeln!(f, "╞{}╡", "═".repeat(inside))?;
        for row in &self.rows {
            self.write_row(f, row, &widths)?;
        }
        write!(f, "└{}┘", "─".repeat(inside))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_aligned_left_and_numbers_right() {
        let mut grid = Grid::new(&["name", "time\nin µs"]);
        grid.add_row(["a", "1.5"]);
        grid.add_row(["bc", "10.25"]);
        let expected = "\
┌──────────────┐
│ name    time │
│        in µs │
╞══════════════╡
│ a        1.5 │
│ bc     10.25 │
└──────────────┘";
        assert_eq!(grid.to_string(), expected);
    }
}
